// SPDX-License-Identifier: Apache-2.0
// The shipped testbeds of marks, rates, headroom and victims: each is as it expects itself to be, and as a formula or
// a second account of it says.
#include <cmath>
#include <cstring>

#include "analysis/storm/capture_reader.hpp"
#include "control/expect/judge.hpp"
#include "dataplane/buffer/headroom.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using analysis::storm::CapturedFrame;
using analysis::storm::CaptureReader;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;

std::string text_of(const std::string& name) {
  return bytes_of(tests::source_root() / "testbeds" / (name + ".yaml"));
}
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}
Outcome run_as_expected(const std::string& name, bool capture = false) {
  const control::Testbed testbed = testbed_of(text_of(name));
  EXPECT_FALSE(testbed.expectations.empty());
  Outcome out = run_whole(testbed, capture);
  for (const control::Verdict& verdict : control::judge(testbed.expectations, out.report)) {
    EXPECT_TRUE(verdict.held) << verdict.text;
  }
  return out;
}
double rate_of(const Outcome& out, const char* flow) {
  return out.report["flows"][flow]["rate_bps"].get<double>();
}
uint64_t of_switch(const Outcome& out, const char* node, const char* key) {
  return out.report["switches"][node][key].get<uint64_t>();
}

TEST(VictimFlow, GetsAFourthOfItsLinkAndAllOfItInAPriorityOfItsOwn) {
  const Outcome out = run_as_expected("victim-flow");
  EXPECT_LT(rate_of(out, "victim"), rate_of(out, "bystander") * 0.26);
  const Outcome apart =
      run_text(with(text_of("victim-flow"), "to: [h2], message: 1MiB, messages: 1000, mtu: 4096, dscp: 3",
                    "to: [h2], message: 1MiB, messages: 1000, mtu: 4096, dscp: 4"));
  EXPECT_NEAR(rate_of(apart, "victim"), 98.04e9, 0.1e9);
  EXPECT_NEAR(rate_of(apart, "into-h1"), 98.04e9, 0.1e9) << "paused as before";
}

TEST(VictimFlow, ByTheNumberOfThoseWhoCongest) {
  const Outcome two = run_text(with(text_of("victim-flow"), "from: [h7, h8, h9, h10]", "from: [h7, h8]"));
  EXPECT_NEAR(rate_of(two, "victim"), 98.04e9 / 2, 1e9);
}

// Of what h7 may send, a quarter of its link each; of what its link has left beside priority 3, three quarters.
TEST(LinkPause, StopsBystandersOfOtherPrioritiesAsPfcDoesNot) {
  EXPECT_NEAR(rate_of(run_as_expected("link-pause"), "bystander"), 98.04e9 / 4, 0.5e9);
  std::string pfc = with(text_of("link-pause"), ", flow_control: pause", "");
  pfc = with(pfc, ", flow_control: pause", "");
  EXPECT_NEAR(rate_of(run_text(pfc), "bystander"), 98.04e9 * 3 / 4, 0.5e9);
}

// A slow receiver asks for PAUSE itself.
TEST(LinkPause, LosesNothingOfAnIncastNorAtASlowReceiver) {
  for (const char* name : {"incast", "slow-receiver"}) {
    SCOPED_TRACE(name);
    std::string text = with(text_of(name), "length: 3m}", "length: 3m, flow_control: pause}");
    text = with(text, "length: 40m}", "length: 40m, flow_control: pause}");
    const Outcome out = run_text(text);
    EXPECT_EQ(out.report["totals"]["dropped_packets"], 0);
    EXPECT_EQ(out.report["totals"]["balanced"], true);
    for (const auto& [flow, row] : out.report["flows"].items()) EXPECT_EQ(row["missing_packets"], 0) << flow;
    EXPECT_GT(of_switch(out, "tor1", "link_paused_ps") + of_switch(out, "tor2", "link_paused_ps"), 0U);
    EXPECT_EQ(of_switch(out, "tor1", "pfc_tx_packets"), 0U);
  }
}

// The switches have no tables, so they pause nobody; what a host asks of them they obey all the same.
TEST(LinkPause, IsObeyedByASwitchWithoutTables) {
  std::string text = with(text_of("slow-receiver"), "default: {base: sonic-tomahawk-100g-40m}", "default: {}");
  const Outcome pfc = run_text(text);
  EXPECT_EQ(of_switch(pfc, "tor1", "paused_ps"), 0U);
  const Outcome paused = run_text(with(text, "length: 3m}", "length: 3m, flow_control: pause}"));
  EXPECT_GT(of_switch(paused, "tor1", "link_paused_ps"), 0U);
}

// A queue's length when each of its frames begins to leave, from what a capture says came and went.
class QueueAccount {
 public:
  // Frames of `senders` come after `propagation`, those of `port` have left.
  QueueAccount(const std::string& capture, const std::vector<std::string>& senders, const std::string& port,
               Duration propagation, Rate rate) {
    size_t offset = 0;
    CaptureReader reader{[&](std::span<uint8_t> into) {
      const size_t n = std::min(into.size(), capture.size() - offset);
      std::memcpy(into.data(), capture.data() + offset, n);
      offset += n;
      return n;
    }};
    CapturedFrame frame;
    for (;;) {
      const auto got = reader.next(frame);
      EXPECT_TRUE(got) << got.error().message;
      if (!got || !*got) break;
      const std::string& name = reader.interfaces()[frame.interface].name;
      if (frame.bytes[12] != 0x08 || frame.bytes[13] != 0x00) continue;
      if (name == port) {
        const bool marked = (frame.bytes[15] & 3) == 3;
        events_.push_back({frame.at - rate.time_of_frame(frame.original_bytes), true, frame.original_bytes, marked});
      } else if (std::ranges::find(senders, name) != senders.end()) {
        events_.push_back({frame.at + propagation, false, frame.original_bytes, false});
      }
    }
    std::ranges::stable_sort(events_, {}, &Event::at);
  }

  // f(length, marked) for each frame that leaves.
  template <typename F>
  void each(F&& f) const {
    uint64_t held = 0;
    for (const Event& event : events_) {
      if (!event.leaves) {
        held += event.bytes;
        continue;
      }
      f(held, event.marked);
      held -= event.bytes;
    }
  }

 private:
  struct Event {
    Instant at;
    bool leaves = false;
    uint64_t bytes = 0;
    bool marked = false;
  };
  std::vector<Event> events_;
};

// Bounds: 4.5 standard deviations of a binomial count in each of eight stretches. Captures round instants down to
// 100 ps, so an arrival may change places with a departure: lengths are known to a frame.
TEST(EcnRamp, MarksTheShareThatTheLineSaysAtEachLength) {
  const Outcome out = run_as_expected("ecn-ramp", true);
  const QueueAccount account(out.capture, {"h2:eth0", "h3:eth0"}, "tor1:Ethernet0", Duration::ps(15'152),
                             Rate::gbps(100));
  constexpr uint64_t kMin = 100'000;
  constexpr uint64_t kMax = 500'000;
  constexpr uint64_t kFrame = 1098;
  constexpr uint64_t kStretch = 50'000;
  struct Count {
    double frames = 0;
    double marked = 0;
    double expected = 0;
  };
  std::array<Count, 8> stretches;
  Count below;
  Count above;
  account.each([&](uint64_t length, bool marked) {
    if (length + kFrame < kMin) {
      ++below.frames;
      below.marked += marked;
    } else if (length > kMax + kFrame) {
      ++above.frames;
      above.marked += marked;
    } else if (length >= kMin && length < kMax) {
      Count& count = stretches[(length - kMin) / kStretch];
      ++count.frames;
      count.marked += marked;
      count.expected += 0.2 * static_cast<double>(length - kMin) / (kMax - kMin);
    }
  });
  EXPECT_GT(below.frames, 8'000);
  EXPECT_EQ(below.marked, 0);
  EXPECT_GT(above.frames, 20'000);
  EXPECT_EQ(above.marked, above.frames);
  for (const Count& count : stretches) {
    const double share = count.expected / count.frames;
    EXPECT_GT(count.frames, 4'000);
    EXPECT_NEAR(count.marked, count.expected, 4.5 * std::sqrt(count.frames * share * (1 - share)));
  }
}

TEST(Headroom, ByTheFormulaIsEnoughAndTightAndACellLessIsNot) {
  const Outcome out = run_as_expected("headroom");
  const dataplane::HeadroomQuestion question{.rate = Rate::gbps(100),
                                             .propagation = Duration::ps(1'515'152),
                                             .largest_frame = 4176 + 14,
                                             .cell = dataplane::CellSize{32},
                                             .response = Rate::gbps(100).time_of_bytes(394 * 64)};
  const uint64_t formula = dataplane::headroom_cells(question) * 32;
  const uint64_t used = of_switch(out, "tor1", "headroom_watermark_bytes");
  EXPECT_LE(used, formula);
  EXPECT_GE(used + 3 * 4190 + 32, formula);
  // What was used is what is needed: with just that nothing is lost, with a cell less something is.
  const auto headroom_of = [&](uint64_t bytes) {
    return run_text(with(text_of("headroom"), "xoff: 70720B", "xoff: " + std::to_string(bytes) + "B"));
  };
  EXPECT_EQ(of_switch(headroom_of(used), "tor2", "dropped_packets"), 0u);
  EXPECT_GT(of_switch(headroom_of(used - 32), "tor2", "dropped_packets"), 0u);
}

TEST(DcqcnConvergence, TwoFlowsComeWithinFivePercentOfEachOther) {
  const Outcome out = run_as_expected("dcqcn-convergence");
  const double least = out.report["flows"]["pair"]["flow_rate_min_bps"].get<double>();
  const double most = out.report["flows"]["pair"]["flow_rate_max_bps"].get<double>();
  EXPECT_LT(most, least * 1.05);
}

// Section 4 of the paper, Trident II with 40G ports: B = 12 MB, n = 32 ports of 8 priorities, t_flight = 22.4 KB. With
// a dynamic threshold (β = 8: α = 1) ECN comes before PFC as long as t_ECN < β (B − 8 n t_flight) / (8 n (β + 1))
// = 21.7 KB. With the static one that keeps lossless what 8 n groups may fill, (B − 8 n t_flight) / (8 n) = 24.47 KB,
// and marks from five times that on, PFC comes first.
constexpr double kBuffer = 12e6;
constexpr double kHeadroom = 22'400;
constexpr double kShared = kBuffer - 8 * 32 * kHeadroom;

std::string sixteen_to_one(const std::string& tables, uint64_t mark_from) {
  return R"(
name: many
run: {duration: 20ms}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 17, host_link: {rate: 40Gbps, length: 40m},
  fabric_link: {rate: 40Gbps, length: 40m}}
profiles:
  default:
    base: lossless
    cell: 208B
)" + tables +
         "    WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: " +
         std::to_string(mark_from) + R"(B,
      ecn_green_max_threshold: 1000000B, ecn_green_mark_probability: 5%}}
workload:
  - {name: many, pattern: incast, from: 16, to: h1, message: 4MiB, messages: 100000, mtu: 1024, dscp: 3, transport: rc,
     congestion_control: dcqcn_paper, window: 4096}
)";
}
std::string whole(double bytes) {
  return std::to_string(static_cast<uint64_t>(bytes)) + "B";
}

TEST(DcqcnThresholds, WhereTheInequalityHoldsNobodyIsPaused) {
  const double most = 8 * kShared / (8 * 32 * 9);
  EXPECT_NEAR(most, 21'755, 1);
  // 36 groups (18 ports) of lossless headroom, and the shared rest that the paper has.
  const std::string tables =
      "    BUFFER_POOL: {ingress_lossless_pool: {size: " + whole(kShared + 36 * kHeadroom) + "}}\n" +
      "    BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: 0, xoff: " + whole(kHeadroom) + "}}\n";
  const Outcome out = run_text(sixteen_to_one(tables, static_cast<uint64_t>(most)));
  EXPECT_EQ(of_switch(out, "tor1", "pfc_tx_packets"), 0u);
  EXPECT_EQ(of_switch(out, "tor1", "dropped_packets"), 0u);
  EXPECT_GT(of_switch(out, "tor1", "ecn_marked_packets"), 1'000u);
  EXPECT_GT(rate_of(out, "many"), 0.85 * 40e9 * 1024 / 1106);
}

TEST(DcqcnThresholds, WhereMarksComeLaterThanPausesEverybodyIs) {
  const double most = kShared / (8 * 32);
  EXPECT_NEAR(most, 24'475, 1);
  const std::string tables =
      "    BUFFER_POOL: {static_pool: {type: ingress, mode: static, size: 9000000B}}\n"
      "    BUFFER_PROFILE: {static_pg: {pool: static_pool, static_th: " +
      whole(most) + ", xoff: " + whole(kHeadroom) +
      ", xon_offset: 2KiB}}\n"
      "    BUFFER_PG: {3-4: {profile: static_pg}}\n";
  const Outcome out = run_text(sixteen_to_one(tables, static_cast<uint64_t>(5 * most)));
  EXPECT_GT(of_switch(out, "tor1", "pfc_tx_packets"), 1'000u);
}

}  // namespace
}  // namespace softspine::testbeds
