// SPDX-License-Identifier: Apache-2.0
// SimAI's recorded flows on a fabric: when each begins and ends stands in the capture, which is all that is looked at.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/random/captured_frames.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Rng;

constexpr uint32_t kHosts = 6;
constexpr uint32_t kLeastBytes = 2'000;  // a frame of fewer is a notice
constexpr uint32_t kNoticeFrameBytes = 200;

struct DrawnFlow {
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t bytes = kLeastBytes;
  std::vector<size_t> prev;
  uint32_t layer = 0;
  uint64_t delay_ns = 0;
};

struct Seen {
  int64_t first_ps = INT64_MAX;  // its first frame has left its sender
  int64_t last_ps = 0;           // its last one the switch before its receiver
};

std::string text_of(const std::vector<DrawnFlow>& flows) {
  std::string out = fmt::format("{}\n", flows.size());
  for (size_t i = 0; i < flows.size(); ++i) {
    const DrawnFlow& flow = flows[i];
    out += fmt::format("{} {} {} {} 0 0 1 RING 0 3 1 1 100 {}", i, flow.from, flow.to, flow.bytes, flow.prev.size());
    for (const size_t prev : flow.prev) out += fmt::format(" {}", prev);
    out += fmt::format(" 0 0 {} 1 1 2 {}\n", flow.layer, flow.delay_ns);
  }
  return out;
}

// By sender and receiver.
std::map<std::pair<uint32_t, uint32_t>, Seen> seen_of(const std::vector<DrawnFlow>& flows) {
  const std::string path = testing::TempDir() + "drawn_flows.txt";
  std::ofstream(path) << text_of(flows);
  const Outcome out =
      run_text(fmt::format("name: c\nrun: {{duration: 50ms, seed: 3}}\nfabric: {{kind: leaf-spine, tors: 1, spines: 1, "
                           "hosts_per_tor: {}, host_link: {{rate: 100Gbps, length: 3m}}, "
                           "fabric_link: {{rate: 100Gbps, length: 3m}}}}\nroles: {{tor: lossless}}\n"
                           "traces: [{{name: t, format: simai_flows, file: {}, open_operations: 1}}]\n",
                           kHosts, path),
               {}, true);
  std::filesystem::remove(path);
  EXPECT_EQ(out.report["traces"]["t"]["ranks_done"], out.report["traces"]["t"]["ranks"]);
  const tests::Captured captured = tests::read_capture(out.capture);
  std::map<uint32_t, uint32_t> numbers;  // by address: h1's is 0; a receiver sends acknowledgements
  for (const tests::CapturedFrame& frame : captured.frames) {
    const std::string& port = captured.interfaces[frame.interface];
    if (!port.starts_with("h")) continue;
    const auto number = static_cast<uint32_t>(std::stoul(port.substr(1))) - 1;
    if (frame.roce) numbers[frame.roce->source] = number;
    if (frame.ack) numbers[frame.ack->source] = number;
  }
  std::map<std::pair<uint32_t, uint32_t>, Seen> seen;
  for (const tests::CapturedFrame& frame : captured.frames) {
    if (!frame.roce || frame.bytes < kNoticeFrameBytes) continue;
    Seen& it = seen[{numbers.at(frame.roce->source), numbers.at(frame.roce->destination)}];
    const bool is_of_host = captured.interfaces[frame.interface].starts_with("h");
    if (is_of_host) it.first_ps = std::min(it.first_ps, frame.at_ps);
    if (!is_of_host) it.last_ps = std::max(it.last_ps, frame.at_ps);
  }
  return seen;
}

// A pair of hosts has one flow at most, so that its frames are the flow's.
std::vector<DrawnFlow> some_flows(Rng& rng) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t from = 0; from < kHosts; ++from) {
    for (uint32_t to = 0; to < kHosts; ++to) {
      if (from != to) pairs.emplace_back(from, to);
    }
  }
  std::vector<DrawnFlow> out;
  while (!pairs.empty()) {
    const auto at = pairs.begin() + static_cast<int64_t>(rng.below(pairs.size()));
    DrawnFlow flow{.from = at->first, .to = at->second, .bytes = kLeastBytes + rng.below(60'000)};
    pairs.erase(at);
    for (size_t prev = 0; prev < out.size(); ++prev) {
      if (rng.below(10) == 0) flow.prev.push_back(prev);
      if (rng.below(10) == 0 || std::ranges::count(flow.prev, prev) > 0)
        flow.layer = std::max(flow.layer, out[prev].layer);
    }
    if (rng.below(8) == 0) flow.layer += 1 + static_cast<uint32_t>(rng.below(3));
    if (rng.below(2) == 0) flow.delay_ns = rng.below(20'000);
    out.push_back(std::move(flow));
  }
  return out;
}

TEST(SimaiFlows, BeginNoSoonerThanAllThatTheyWaitForIsOver) {
  for (uint32_t round = 0; round < tests::to_draw(30); ++round) {
    Rng rng{tests::seed() * 1'000 + round, 9};
    const std::vector<DrawnFlow> flows = some_flows(rng);
    SCOPED_TRACE(text_of(flows));
    const auto seen = seen_of(flows);
    const auto of = [&](const DrawnFlow& flow) { return seen.at({flow.from, flow.to}); };
    for (const DrawnFlow& flow : flows) {
      int64_t starts_ps = 0;
      for (const size_t prev : flow.prev) starts_ps = std::max(starts_ps, of(flows[prev]).last_ps);
      for (const DrawnFlow& other : flows) {
        if (other.layer < flow.layer) starts_ps = std::max(starts_ps, of(other).last_ps);
      }
      ASSERT_GE(of(flow).first_ps, starts_ps + static_cast<int64_t>(flow.delay_ns) * 1'000);
    }
  }
}

// Alone on the fabric, a flow begins its delay after its predecessor has come; where the sender is another host, a
// notice goes there first, by two links of 3 m, which take 15 ns each.
TEST(SimaiFlows, BeginAfterTheirDelay) {
  constexpr int64_t kWayPs = 15'000;
  constexpr int64_t kAckPs = 7'000;  // its sender's acknowledgement may leave first
  const auto gap_of = [](const std::vector<DrawnFlow>& flows) {
    const auto seen = seen_of(flows);
    return seen.at({flows[1].from, flows[1].to}).first_ps - seen.at({flows[0].from, flows[0].to}).last_ps;
  };
  const auto chain = [&](uint32_t from, uint64_t delay_ns, uint32_t layer) {
    return std::vector<DrawnFlow>{{.from = 0, .to = 1},
                                  {.from = from,
                                   .to = 3,
                                   .prev = layer == 0 ? std::vector<size_t>{0} : std::vector<size_t>{},
                                   .layer = layer,
                                   .delay_ns = delay_ns}};
  };
  const int64_t at_once = gap_of(chain(1, 0, 0));
  EXPECT_GT(at_once, kWayPs);
  EXPECT_LT(at_once, 1'000'000);
  EXPECT_LE(std::abs(gap_of(chain(1, 7'000, 0)) - (at_once + 7'000'000)), kAckPs);
  EXPECT_LE(std::abs(gap_of(chain(1, 0, 4)) - at_once), kAckPs) << "a layer of one flow is over with it";
  const int64_t told = gap_of(chain(2, 0, 0));
  EXPECT_GT(told, at_once + 2 * kWayPs);
  EXPECT_LT(told, at_once + 1'000'000);
  EXPECT_LE(std::abs(gap_of(chain(2, 7'000, 0)) - (told + 7'000'000)), kAckPs);
  EXPECT_LE(std::abs(gap_of(chain(2, 0, 1)) - told), kAckPs);
}

}  // namespace
}  // namespace softspine::testbeds
