// SPDX-License-Identifier: Apache-2.0
// Groups as control compiles them, with every link up and with one that is down.
#include "control/compile/compile.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// tor1's group towards tor2: four spines.
class Groups {
 public:
  explicit Groups(const std::string& groups)
      : testbed_(testbed_of(R"(
name: groups
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: {groups: {)" +
                            groups + "}}}\n")),
        compiler_(testbed_),
        up_(testbed_.fabric.links.size(), true) {
    const auto& nodes = testbed_.fabric.nodes;
    tor_ = static_cast<uint32_t>(std::ranges::find(nodes, "tor1", &control::FabricNode::name) - nodes.begin());
  }
  void cut(const std::string& spine) {
    const auto& fabric = testbed_.fabric;
    for (uint32_t i = 0; i < fabric.links.size(); ++i) {
      if (fabric.links[i].a.node != tor_ && fabric.links[i].b.node != tor_) continue;
      const uint32_t other = fabric.links[i].a.node == tor_ ? fabric.links[i].b.node : fabric.links[i].a.node;
      if (fabric.nodes[other].name == spine) up_[i] = false;
    }
  }
  std::shared_ptr<const dataplane::ForwardingState> compile() const {
    return compiler_.compile(tor_, control::compute_routes(testbed_.fabric, up_)[tor_]);
  }

 private:
  control::Testbed testbed_;
  control::Compiler compiler_;
  std::vector<bool> up_;
  uint32_t tor_ = 0;
};

// The next hops of the largest group, by their ports.
std::vector<uint16_t> ports_of(const dataplane::ForwardingState& state) {
  const auto& group = *std::ranges::max_element(state.groups, {}, &dataplane::EcmpGroup::count);
  std::vector<uint16_t> ports;
  for (uint32_t i = 0; i < group.count; ++i) {
    ports.push_back(state.adjacencies[state.members[group.first + i]].port);
  }
  return ports;
}
dataplane::EcmpGroupMode mode_of(const dataplane::ForwardingState& state) {
  return std::ranges::max_element(state.groups, {}, &dataplane::EcmpGroup::count)->mode;
}

// Each port that packets come in by has an uplink of its own: who has lost it is hashed over the live ones, and nobody
// else moves.
TEST(GroupCompile, InPortHashesOnlyWhoHasLostItsOwnPort) {
  using dataplane::EcmpGroup;
  using dataplane::EcmpGroupMode;
  Groups groups{"mode: in_port"};
  const auto before = ports_of(*groups.compile());
  EXPECT_EQ(mode_of(*groups.compile()), EcmpGroupMode::kInPort);
  ASSERT_EQ(before.size(), 4u);
  groups.cut("spine2");
  const auto state = groups.compile();
  const EcmpGroup& group = *std::ranges::max_element(state->groups, {}, &EcmpGroup::count);
  EXPECT_EQ(group.mode, EcmpGroupMode::kInPort);
  ASSERT_EQ(group.count, 4u);
  ASSERT_EQ(group.live, 3u);
  const auto port_of = [&](uint32_t bucket) {
    const uint32_t member = state->members[group.first + bucket];
    return member == dataplane::kDeadMember ? UINT32_MAX : state->adjacencies[member].port;
  };
  std::vector<uint32_t> live;
  for (uint32_t bucket = 0; bucket < 4; ++bucket) {
    if (port_of(bucket) == UINT32_MAX) continue;
    EXPECT_EQ(port_of(bucket), before[bucket]) << "nobody else moves";
    live.push_back(before[bucket]);
  }
  EXPECT_EQ(live.size(), 3u);
  for (uint32_t bucket = 0; bucket < 3; ++bucket) EXPECT_EQ(port_of(4 + bucket), live[bucket]);
}

// The ports by which packets for a host of tor2's (h3, h4) may leave.
std::vector<uint16_t> ports_towards(const dataplane::ForwardingState& state, uint8_t host) {
  dataplane::AddressBytes address{10, 0, 2, host};
  const dataplane::RouteValue route{state.ipv4.lookup(address.data())};
  if (route.kind() == dataplane::RouteKind::kAdjacency) return {state.adjacencies[route.index()].port};
  const dataplane::EcmpGroup& group = state.groups.at(route.index());
  std::vector<uint16_t> out;
  for (uint32_t i = 0; i < group.count; ++i) out.push_back(state.adjacencies[state.members[group.first + i]].port);
  std::ranges::sort(out);
  return out;
}

// Two hosts a rack, four uplinks, 2 to 5: each slice has two of them, and a flow is hashed to one.
TEST(GroupCompile, PinnedSlicesShareOutTheUplinks) {
  using Ports = std::vector<uint16_t>;
  Groups groups{"mode: pinned"};
  const auto expect = [&](const Ports& first, const Ports& second) {
    const auto state = groups.compile();
    EXPECT_EQ(ports_towards(*state, 2), first);
    EXPECT_EQ(ports_towards(*state, 3), second);
  };
  expect({2, 4}, {3, 5});
  groups.cut("spine1");
  expect({4}, {3, 5});
  groups.cut("spine3");
  expect({3, 5}, {3, 5});  // a slice without an uplink is hashed over what is left
}

TEST(GroupCompile, OtherModesStayWhatTheyAre) {
  for (const auto& [text, mode] : {std::pair{"mode: spray", dataplane::EcmpGroupMode::kSpray},
                                   {"mode: flowlet", dataplane::EcmpGroupMode::kFlowlet},
                                   {"mode: hash", dataplane::EcmpGroupMode::kHash},
                                   {"mode: pinned", dataplane::EcmpGroupMode::kHash}}) {
    Groups groups{text};
    EXPECT_EQ(mode_of(*groups.compile()), mode) << text;
    groups.cut("spine2");
    EXPECT_EQ(mode_of(*groups.compile()), mode) << text;
  }
}

// Of 12 buckets each of four owns every fourth. A dead one's three go to the others, one each; nobody else's move.
TEST(GroupCompile, ResilientFillsTheBucketsOfTheDeadAndLeavesTheOthers) {
  Groups groups{"kind: resilient, buckets: 12"};
  const auto before = ports_of(*groups.compile());
  ASSERT_EQ(before.size(), 12u);
  const uint16_t dead = before[1];
  groups.cut("spine2");
  const auto after = ports_of(*groups.compile());
  ASSERT_EQ(after.size(), 12u);
  std::map<uint16_t, int> heirs;
  for (size_t bucket = 0; bucket < 12; ++bucket) {
    if (before[bucket] != dead) {
      EXPECT_EQ(after[bucket], before[bucket]) << bucket;
    } else {
      ++heirs[after[bucket]];
    }
  }
  EXPECT_EQ(heirs.size(), 3u);
  EXPECT_EQ(heirs.count(dead), 0u);
}

TEST(GroupCompile, AMemberStandsAsOftenAsItWeighs) {
  Groups groups{"weights: {spine1: 3, spine4: 2}"};
  const auto ports = ports_of(*groups.compile());
  std::map<uint16_t, int> times;
  for (const uint16_t port : ports) ++times[port];
  EXPECT_EQ(ports.size(), 7u);
  EXPECT_EQ(times[ports.front()], 3);
  EXPECT_EQ(times[ports.back()], 2);
}

// Four buckets of Open vSwitch's have sixteen values, dealt out in turn. Without the second one's port a group that is
// written anew has three buckets, and one that watches its ports has the next bucket's in the dead one's places.
TEST(GroupCompile, OfOvsHasATableOfHashValues) {
  const auto of_ovs = [](const std::string& kind) {
    Groups groups{kind + "}, hash: {model: OVS"};
    const auto whole = ports_of(*groups.compile());
    EXPECT_EQ(whole.size(), 16u);
    for (size_t value = 0; value < whole.size(); ++value) EXPECT_EQ(whole[value], whole[value % 4]);
    groups.cut("spine2");
    const auto part = ports_of(*groups.compile());
    EXPECT_EQ(part.size(), 16u);
    std::string out;
    for (const uint16_t port : part) out += static_cast<char>('1' + (std::ranges::find(whole, port) - whole.begin()));
    return out;
  };
  EXPECT_EQ(of_ovs("kind: modulo"), "1341341341341341");
  EXPECT_EQ(of_ovs("kind: resilient"), "1334133413341334");
}

// As OVS 3.1 dealt them.
TEST(GroupCompile, OfOvsHasAsManyValuesAsItWeighs) {
  const auto ports = ports_of(*Groups{"weights: {spine2: 3, spine3: 2}}, hash: {model: OVS"}.compile());
  ASSERT_EQ(ports.size(), 16u);
  const std::vector<uint16_t> in_order{ports[2], ports[0], ports[1], ports[4]};
  std::string table;
  for (const uint16_t port : ports)
    table += static_cast<char>('1' + (std::ranges::find(in_order, port) - in_order.begin()));
  EXPECT_EQ(table, "2312432231243223");
}

// Of 140 buckets a member of weight 3 owns sixty. It dies: the others' stay, and its own go to all of them.
TEST(GroupCompile, AResilientMemberOwnsAsManyBucketsAsItWeighs) {
  Groups groups{"kind: resilient, buckets: 140, weights: {spine1: 3, spine4: 2}"};
  const auto before = ports_of(*groups.compile());
  ASSERT_EQ(before.size(), 140u);
  const uint16_t heavy = before[0];
  std::map<uint16_t, int> times;
  for (const uint16_t port : before) ++times[port];
  EXPECT_EQ(times.size(), 4u);
  EXPECT_EQ(times[heavy], 60);
  EXPECT_EQ(std::ranges::count_if(times, [](const auto& it) { return it.second == 40; }), 1);
  EXPECT_EQ(std::ranges::count_if(times, [](const auto& it) { return it.second == 20; }), 2);
  groups.cut("spine1");
  const auto after = ports_of(*groups.compile());
  ASSERT_EQ(after.size(), 140u);
  std::map<uint16_t, int> heirs;
  for (size_t bucket = 0; bucket < 140; ++bucket) {
    if (before[bucket] != heavy) {
      EXPECT_EQ(after[bucket], before[bucket]) << bucket;
    } else {
      ++heirs[after[bucket]];
    }
  }
  EXPECT_EQ(heirs.size(), 3u);
  EXPECT_EQ(heirs.count(heavy), 0u);
}

}  // namespace
}  // namespace softspine::testbeds
