// SPDX-License-Identifier: Apache-2.0
// Random failures of running fabrics: links, nodes, one way, unseen, flapping, drained, overlapping; noticed and
// followed in every way there is. Nothing is routed in a circle (no TTL runs out), nothing lossless is lost but by the
// faults, though some sequences are loaded up to line rate, every loss adds up, and after repair the routes are those
// before.
//
// Sequence i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_failures
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/report.hpp"
#include "dataplane/units/rng.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/routing/failing_fabrics.hpp"
#include "tests/scenario/failures/routes_that_follow.hpp"
#include "tests/scenario/failures/unexplained.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kInCi = 60;
constexpr uint64_t kFaults = 6;

class Drawn {
 public:
  explicit Drawn(uint64_t seed) : rng_(seed, 0xFA17) {
    const auto& fabric = tests::kFailingFabrics[seed % tests::kFailingFabrics.size()];
    text_ = fmt::format("name: failures\nrun: {{duration: 8ms, seed: {}, workers: {}}}\n{}", seed, 1 + below(2),
                        fabric.text);
    fabric_ = testbed_of(text_).fabric;
    text_ += fmt::format("profiles: {{default: {{base: lossless{}}}}}\n",
                         below(3) == 0 ? ", groups: {kind: resilient, buckets: 16}" : "");
    text_ += fmt::format("workload: [{{name: w, pattern: permutation, {}{}}}]\n", load(),
                         below(2) == 0 ? ", transport: rc" : "");
    text_ += tests::draw_following(rng_);
    text_ += "faults:\n";
    for (uint64_t i = 0, n = 1 + below(kFaults); i < n; ++i) text_ += "  - " + fault() + "\n";
    for (const control::FabricNode& node : fabric_.nodes) {
      if (node.kind == control::NodeKind::kSwitch) text_ += "  - {at: 6ms, node: " + node.name + ", set: up}\n";
    }
  }
  const std::string& text() const { return text_; }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }

  // Until about 6 ms; in one of four sequences so much that what others leave to a link is more than it carries, and
  // queues fill up to their pauses.
  std::string load() {
    if (below(4) != 0) return "message: 32KB, messages: 60, mtu: 1024, rate: 4Gbps";
    const uint64_t rate = 60 + below(41);
    return fmt::format("message: 256KB, messages: {}, mtu: 4096, rate: {}Gbps", 3 * rate, rate);
  }

  std::string node() {
    for (;;) {
      const control::FabricNode& node = fabric_.nodes[below(fabric_.nodes.size())];
      if (node.kind == control::NodeKind::kSwitch) return "node: " + node.name;
    }
  }
  std::string link() {
    const control::FabricLink& link = fabric_.links[below(fabric_.links.size())];
    return "link: \"" + fabric_.name_of(below(2) == 0 ? link.a : link.b) + "\"";
  }
  std::string place() { return below(3) == 0 ? node() : link(); }

  std::string fault() {
    const std::string at = fmt::format("{{at: {}us, ", 100 + below(4'000));
    const char* const carrier = below(2) == 0 ? "stays" : "goes";
    switch (below(7)) {
      case 0: return at + place() + ", set: up}";
      case 1: return at + link() + fmt::format(", set: one_way, direction: out, carrier: {}}}", carrier);
      case 2: return at + place() + fmt::format(", set: dead, carrier: {}, until: 5ms}}", carrier);
      case 3: return at + place() + ", set: drained, links_after: 500us}";
      case 4: return at + link() + ", set: down, flap: {period: 200us, jitter: 50us, count: 5}}";
      default: return at + place() + ", set: down}";
    }
  }

  dataplane::Rng rng_;
  std::string text_;
  control::Fabric fabric_;
};

// Whose routes differ, and to whom.
std::string differences(const control::Fabric& fabric, const std::vector<control::RouteTable>& before,
                        const std::vector<control::RouteTable>& after) {
  std::string out;
  const auto ports = [](const control::RouteTable& table, uint32_t group) {
    return group < table.groups.size() ? fmt::format("{}", fmt::join(table.groups[group], " ")) : "none, or connected";
  };
  for (uint32_t n = 0; n < before.size(); ++n) {
    const auto compare = [&](const char* to, uint32_t i, uint32_t was, uint32_t is) {
      const std::string old = ports(before[n], was);
      const std::string now = ports(after[n], is);
      if (old != now) out += fmt::format("{} to {} {}: {}, before {}\n", fabric.nodes[n].name, to, i, now, old);
    };
    for (uint32_t i = 0; i < before[n].by_subnet.size(); ++i)
      compare("subnet", i, before[n].by_subnet[i], after[n].by_subnet[i]);
    for (uint32_t i = 0; i < before[n].by_switch.size(); ++i)
      compare("switch", i, before[n].by_switch[i], after[n].by_switch[i]);
    for (const auto& [host, group] : after[n].by_host) compare("host", host, control::kNone, group);
    for (const auto& [host, group] : before[n].by_host) compare("host", host, group, control::kNone);
    if (before[n] != after[n] && out.empty()) out += fabric.nodes[n].name + " in its groups\n";
  }
  return out;
}

void try_one(uint64_t seed) {
  const control::Testbed testbed = testbed_of(Drawn(seed).text());
  if (testing::Test::HasFailure()) return;
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt});
  ASSERT_TRUE(fabric) << fabric.error();
  const std::vector<control::RouteTable> before = (*fabric)->part<LinkControl>().all_routes();
  ASSERT_TRUE((*fabric)->run());
  const control::Json report = control::report_json((*fabric)->snapshot(), {.testbed = "", .clock = "virtual"});
  tests::expect_faults_explain_losses(report);
  EXPECT_TRUE((*fabric)->part<LinkControl>().all_routes() == before)
      << "after repair: " << differences(testbed.fabric, before, (*fabric)->part<LinkControl>().all_routes());
  EXPECT_EQ((*fabric)->drain(), 0u);
}

TEST(RandomFailures, LoseOnlyWhatTheyExplainAndLeaveRoutesAsTheyWere) {
  for (uint64_t i = 0, n = tests::to_draw(kInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    try_one(seed);
    if (!HasFailure()) continue;
    FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << Drawn(seed).text();
  }
}

// 950: a stack shuts ports whose frames die unseen, and opens them while these still do: the carrier was not noticed.
// 265: pauses that died are said again 168 us after the repair, and the headroom overflows until then.
TEST(RandomFailures, ThatOnceFailedDoNot) {
  try_one(950);
  try_one(265);
}

}  // namespace
}  // namespace softspine::testbeds
