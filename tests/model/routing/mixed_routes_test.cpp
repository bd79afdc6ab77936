// SPDX-License-Identifier: Apache-2.0
// While switches learn of failures one after the other, in any order, their tables never lead in a circle; and after
// repair they are those before. Sequences of failures are drawn from SOFTSPINE_SEED on; SOFTSPINE_TESTBEDS says how
// many.
#include "control/routing/mixed_routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/routing/failing_fabrics.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kSequences = 1'000;

Fabric fabric_of(const tests::FailingFabric& drawn) {
  const auto testbed = parse_testbed("name: failing\n" + std::string(drawn.text), "test.yaml");
  if (!testbed) {
    for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  return testbed->fabric;
}

const std::vector<Fabric>& fabrics() {
  static const std::vector<Fabric> all = [] {
    std::vector<Fabric> out;
    for (const auto& each : tests::kFailingFabrics) out.push_back(fabric_of(each));
    return out;
  }();
  return all;
}

// The switches, in an order of their own.
std::vector<uint32_t> shuffled_switches(const Fabric& fabric, dataplane::Rng& rng) {
  std::vector<uint32_t> out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == NodeKind::kSwitch) out.push_back(n);
  }
  for (size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

// By which ports a switch sends to a host; none where it drops. What has no route of its own goes by its subnet's,
// unless that says the host is at this switch.
std::vector<uint16_t> sends_by(const Fabric& fabric, const RouteTable& table, uint32_t host) {
  const auto own = table.by_host.find(host);
  const uint32_t of_subnet = table.by_subnet[fabric.nodes[host].subnet];
  const bool has_own = own != table.by_host.end() && (own->second != kNone || of_subnet == RouteTable::kConnected);
  const uint32_t route = has_own ? own->second : of_subnet;
  const bool has_ports = route != kNone && route != RouteTable::kConnected;
  return has_ports ? table.groups[route] : std::vector<uint16_t>{};
}

class Sequence {
 public:
  Sequence(const Fabric& fabric, uint64_t seed)
      : fabric_(fabric),
        rng_(seed, 0xFA11),
        up_(fabric.links.size(), true),
        whole_(compute_routes(fabric, up_)),
        tables_(whole_),
        wanted_(whole_) {}

  void run() {
    const auto steps = 3 + rng_.below(6);
    for (uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      fail_or_repair();
      learn(rng_.below(3) == 0 ? fabric_.nodes.size() : rng_.below(fabric_.nodes.size()));
    }
    up_.assign(up_.size(), true);
    change();
    learn(fabric_.nodes.size());
    EXPECT_TRUE(tables_ == whole_) << "after repair the routes are those before";
  }

 private:
  void fail_or_repair() {
    const auto link = static_cast<uint32_t>(rng_.below(up_.size()));
    if (rng_.below(4) == 0) {
      const bool up = !up_[link];
      for (const FabricPort& port : fabric_.nodes[fabric_.links[link].a.node].ports) up_[port.link] = up;
    } else {
      up_[link] = !up_[link];
    }
    change();
  }
  void change() { next_ = compute_routes(fabric_, up_); }

  // So many switches learn of the change, one after the other. Those that had to wait try again each time, until what
  // one takes frees nobody any more.
  void learn(uint64_t count) {
    const std::vector<uint32_t> order = shuffled_switches(fabric_, rng_);
    for (size_t i = 0; i < std::min<size_t>(count, order.size()); ++i) {
      wanted_[order[i]] = next_[order[i]];
      while (std::ranges::any_of(order, [this](uint32_t n) { return takes_what_is_safe(n); })) {
      }
    }
  }

  bool takes_what_is_safe(uint32_t n) {
    RouteTable table = without_loops(fabric_, tables_, n, wanted_[n]);
    if (table == tables_[n] || testing::Test::HasFailure()) return false;
    keeps_what_is_common(n, table);
    tables_[n] = std::move(table);
    const std::vector<uint32_t> loop = loop_in(fabric_, tables_);
    EXPECT_TRUE(loop.empty()) << "a loop that begins at " << fabric_.nodes[loop.front()].name;
    return true;
  }

  // A next hop that both have stays, and none comes that the new routes do not have.
  void keeps_what_is_common(uint32_t n, const RouteTable& table) const {
    for (uint32_t host = 0; host < fabric_.nodes.size(); ++host) {
      if (fabric_.nodes[host].kind != NodeKind::kHost) continue;
      const auto before = sends_by(fabric_, tables_[n], host);
      const auto wanted = sends_by(fabric_, wanted_[n], host);
      const auto found = sends_by(fabric_, table, host);
      std::vector<uint16_t> common;
      std::ranges::set_intersection(before, wanted, std::back_inserter(common));
      EXPECT_TRUE(std::ranges::includes(found, common) && std::ranges::includes(wanted, found))
          << fabric_.nodes[n].name << " to " << fabric_.nodes[host].name;
    }
  }

  const Fabric& fabric_;
  dataplane::Rng rng_;
  std::vector<bool> up_;
  const std::vector<RouteTable> whole_;
  std::vector<RouteTable> tables_;
  std::vector<RouteTable> wanted_;
  std::vector<RouteTable> next_;
};

TEST(MixedRoutes, NeverLeadInACircleAndEndAsTheyBegan) {
  for (uint64_t i = 0, n = tests::to_draw(kSequences); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const size_t kind = seed % fabrics().size();
    Sequence(fabrics()[kind], seed).run();
    if (!HasFailure()) continue;
    FAIL() << tests::kFailingFabrics[kind].kind << ", again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1";
  }
}

uint32_t node_named(const Fabric& fabric, const std::string& name) {
  const auto found = std::ranges::find(fabric.nodes, name, &FabricNode::name);
  EXPECT_NE(found, fabric.nodes.end()) << name;
  return static_cast<uint32_t>(found - fabric.nodes.begin());
}

// h1 behind a and b; its link to a goes. a would send up (or to b), and those above know nothing yet.
struct LostHostLink {
  Fabric fabric = fabrics()[5];
  uint32_t a = node_named(fabric, "a");
  std::vector<RouteTable> before = compute_routes(fabric, std::vector<bool>(fabric.links.size(), true));
  std::vector<RouteTable> after;

  LostHostLink() {
    std::vector<bool> up(fabric.links.size(), true);
    up[fabric.nodes[a].ports[0].link] = false;
    after = compute_routes(fabric, up);
  }
};

TEST(MixedRoutes, WouldLeadInACircleIfSwitchesTookTheirNewRoutesAtOnce) {
  size_t loops = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Fabric& fabric = fabrics()[seed % fabrics().size()];
    dataplane::Rng rng{seed, 0xFA11};
    std::vector<bool> up(fabric.links.size(), true);
    std::vector<RouteTable> tables = compute_routes(fabric, up);
    up[rng.below(up.size())] = false;
    const std::vector<RouteTable> next = compute_routes(fabric, up);
    for (const uint32_t n : shuffled_switches(fabric, rng)) {
      tables[n] = next[n];
      loops += loop_in(fabric, tables).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(loops, 0u) << "else nothing here could fail";
}

bool has_route(const RouteTable& table, uint32_t subnet) {
  return table.by_subnet[subnet] != kNone;
}

TEST(LastResorts, FillGapsAloneAndHaveNoLoop) {
  size_t filled = 0;
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    const Fabric& fabric = fabrics()[seed % fabrics().size()];
    dataplane::Rng rng{seed, 0xFA12};
    std::vector<bool> more(fabric.links.size(), true);
    for (uint64_t i = rng.below(4); i > 0; --i) more[rng.below(more.size())] = false;
    std::vector<bool> fewer = more;
    for (uint64_t i = 1 + rng.below(6); i > 0; --i) fewer[rng.below(fewer.size())] = false;
    const std::vector<RouteTable> first = compute_routes(fabric, fewer);
    const std::vector<RouteTable> others = compute_routes(fabric, more);
    std::vector<RouteTable> tables;
    for (uint32_t n = 0; n < first.size(); ++n) tables.push_back(with_last_resort(fabric, first[n], others[n]));
    ASSERT_TRUE(loop_in(fabric, tables).empty()) << "seed " << seed;
    for (uint32_t n = 0; n < tables.size(); ++n) {
      for (uint32_t s = 0; s < tables[n].by_subnet.size(); ++s) {
        EXPECT_EQ(has_route(tables[n], s), has_route(others[n], s)) << "seed " << seed;
        if (has_route(first[n], s)) continue;
        filled += has_route(tables[n], s) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(filled, 0u) << "else nothing here could fail";
}

TEST(MixedRoutes, AreTheNewOnesWhereNothingForbidsIt) {
  const LostHostLink lost;
  std::vector<RouteTable> tables = lost.before;
  for (const uint32_t n : {node_named(lost.fabric, "c"), node_named(lost.fabric, "d"), node_named(lost.fabric, "b")}) {
    tables[n] = without_loops(lost.fabric, tables, n, lost.after[n]);
  }
  EXPECT_TRUE(without_loops(lost.fabric, tables, lost.a, lost.after[lost.a]) == lost.after[lost.a]);
}

TEST(MixedRoutes, FindACircleOfTwo) {
  const Fabric& fabric = fabrics()[0];
  std::vector<RouteTable> tables = compute_routes(fabric, std::vector<bool>(fabric.links.size(), true));
  EXPECT_TRUE(loop_in(fabric, tables).empty());
  const uint32_t tor = node_named(fabric, "tor1");
  const uint32_t spine = node_named(fabric, "spine1");
  const uint32_t subnet = fabric.nodes[node_named(fabric, "h2")].subnet;
  for (uint16_t p = 0; p < fabric.nodes[spine].ports.size(); ++p) {
    if (fabric.peer_of({spine, p}).node != tor) continue;
    tables[spine].groups.push_back({p});
    tables[spine].by_subnet[subnet] = static_cast<uint32_t>(tables[spine].groups.size() - 1);
  }
  EXPECT_EQ(loop_in(fabric, tables).size(), 2u);
}

}  // namespace
}  // namespace softspine::control
