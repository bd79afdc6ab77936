// SPDX-License-Identifier: Apache-2.0
// Where a frame goes, hop by hop, and why, without running the fabric: the routes and tables that control would
// publish, asked with the same stages that a switch uses.
//
//   Walker walker(testbed, link_up);
//   Path path = walker.walk(frame, size, {host, 0});
//
// Groups that draw (flowlet, spray, RANDOM) decide when a packet comes: the hop then lists what is drawn among, and the
// walk goes on by the first of these. For the time between a link's failure and the new routes, give both link states.
// Not shown: what is learned (bridging inside a VLAN), queues, losses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"
#include "dataplane/forwarding/stages.hpp"
#include "dataplane/packet/scratch_packet.hpp"

namespace softspine::analysis {

// How a group's next hop was chosen.
struct Choice {
  dataplane::EcmpGroupMode mode = dataplane::EcmpGroupMode::kHash;
  bool is_ipv6 = false;
  bool has_layer4 = false;  // else the key ends at layer 3: a fragment, or neither UDP nor TCP
  bool is_drawn = false;    // not known before a packet comes
  bool falls_back = false;  // in_port, and its next hop is gone: by the hash among the group's live buckets
  dataplane::HashKey key{};
  const dataplane::KeyLayout* layout = nullptr;  // of the key that was hashed; as long as the walker's tables
  std::vector<bool> present;                     // by part of the key
  dataplane::HashTaken taken;
  uint32_t raw = 0;  // before the rotation
  uint32_t hash = 0;
  uint32_t bucket = 0;
  uint32_t buckets = 0;
  uint32_t group = 0;  // of the switch's ForwardingState

  // The group that `bucket` is one of.
  dataplane::EcmpGroup group_in(const dataplane::ForwardingState& state) const {
    return falls_back ? state.groups[group].of_live() : state.groups[group];
  }
};

// The effect of the switch's override on a packet.
enum class OverrideUse : uint8_t { kUnused, kSent, kWithdrawn, kLinkDown };
// The LAG of a next hop, and how its member was chosen by the LAGs' own hash; `choice.group` is not set.
struct LagChoice {
  uint32_t lag = 0;  // of Fabric::lags
  Choice choice;
};

struct Hop {
  uint32_t node = 0;
  uint16_t in_port = 0;
  uint16_t out_port = 0;
  bool is_pinned = false;  // by an override, or by its destination slice's uplinks (which may be several)
  OverrideUse override_use = OverrideUse::kUnused;
  uint32_t override_number = 0;      // of Compiler::overrides_of()
  std::optional<Choice> choice;      // where there was one
  std::optional<LagChoice> lag;      // if it leaves by one
  std::vector<uint16_t> candidates;  // ports; the one that it takes, or all that are drawn among
};

enum class PathEnd : uint8_t { kHost, kSwitch, kBridged, kLinkDown, kDropped, kTooLong };

struct Path {
  std::vector<Hop> hops;  // those that it leaves by a port
  PathEnd end = PathEnd::kDropped;
  uint32_t node = 0;  // where it ends
  dataplane::DropReason reason = dataplane::DropReason::kCount;
};
// "arrives", "link down", a drop reason's name
std::string end_in_words(PathEnd end, dataplane::DropReason reason);

class Walker {
 public:
  static constexpr size_t kMaxHops = 32;
  using Change = std::function<void(uint32_t node, dataplane::ForwardingState&)>;

  // The testbed must outlive the Walker. Routes are computed with the links in `routed`; frames cross the links in
  // `up`, which are also the members that LAGs have.
  Walker(const control::Testbed& testbed, const std::vector<bool>& routed, std::vector<bool> up);
  Walker(const control::Testbed& testbed, const std::vector<bool>& up) : Walker(testbed, up, up) {}
  // With the tables that the switches of a running fabric have, by node. Hops do not say then whether a slice pins
  // them.
  using States = std::vector<std::shared_ptr<const dataplane::ForwardingState>>;
  Walker(const control::Testbed& testbed, States states, std::vector<bool> up);
  // The same fabric with other tables, to try a change; `base` must outlive the new Walker.
  Walker(Walker& base, Change change);

  // The path of a frame that a host's port sends, or that enters a switch's port from outside.
  Path walk(std::span<const uint8_t> stored, uint32_t frame_bytes, control::LinkEnd sender);

  // One switch and a frame that arrives at its port. The packet is rewritten as it leaves.
  struct Step {
    std::optional<Hop> hop;  // if it leaves
    PathEnd end = PathEnd::kDropped;
    dataplane::DropReason reason = dataplane::DropReason::kCount;
  };
  Step step(uint32_t node, uint16_t in_port, dataplane::Packet& packet);

  const dataplane::ForwardingState& state(uint32_t node);
  const control::Testbed& testbed() const { return testbed_; }
  // The override that a hop was sent by, or fell back from.
  const control::Override& override_of(const Hop& hop) const {
    return compiler_->overrides_of(hop.node)[hop.override_number];
  }
  dataplane::MacAddress router_mac(uint32_t node) const { return compiler_->router_mac(node); }

 private:
  bool accept(uint16_t in_port, dataplane::Packet& packet, Step& out);
  std::optional<uint16_t> port_of_neighbour(uint32_t node, const dataplane::Packet& packet) const;
  Choice choose(const dataplane::EcmpGroup& whole, const dataplane::HeaderView& view) const;
  bool is_slice(uint32_t node, const dataplane::EcmpGroup& group) const;
  void see_ports(uint32_t node);
  void see_override(const dataplane::Packet& packet, Hop& hop) const;
  void draw_another(dataplane::Packet& packet, const dataplane::HeaderView& view) const;
  LagChoice choose_link(uint32_t node, uint16_t lag, const dataplane::PacketMeta& meta,
                        const dataplane::HeaderView& view) const;

  const control::Testbed& testbed_;
  Walker* base_ = nullptr;
  Change change_;
  std::shared_ptr<const control::Compiler> compiler_;
  std::shared_ptr<const std::vector<control::RouteTable>> routes_;  // null: `states_` has all tables
  std::vector<bool> up_;
  States states_;  // as they are needed
  dataplane::SwitchTables tables_;
  dataplane::ScratchPacket scratch_;
};

}  // namespace softspine::analysis
