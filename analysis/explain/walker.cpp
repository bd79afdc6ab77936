// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/walker.hpp"

#include <algorithm>

#include "analysis/explain/group_ports.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

// The trie's entry for a packet.
uint32_t found_for(const dp::ForwardingState& state, const dp::Packet& packet) {
  const dp::PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const bool is_ipv4 = (meta.flags & dp::kIsIpv4) != 0;
  return is_ipv4 ? state.ipv4.lookup(l3 + dp::ipv4::kDestination) : state.ipv6.lookup(l3 + dp::ipv6::kDestination);
}

// The group that a packet's route leads to, if it does.
const dp::EcmpGroup* group_of(const dp::ForwardingState& state, const dp::Packet& packet) {
  const dp::RouteValue value{state.below_overrides(found_for(state, packet))};
  return value.kind() == dp::RouteKind::kEcmpGroup ? &state.groups[value.index()] : nullptr;
}

// Fills in the key and what the hash makes of it.
void put_hash(const dp::EcmpHash& hash, const dp::HeaderView& view, Choice& out) {
  hash.build(view, out.key);
  out.taken = hash.taken(out.key);
  out.layout = &hash.layout(out.taken, view);
  for (const dp::KeyPart& part : out.layout->parts()) out.present.push_back(out.layout->has(part, view));
  out.raw = out.taken.raw;
  out.hash = hash.of(out.key);
}

// A probe, and a packet of a capture, have no tag: that of the host, whose packets get these maps, puts it on.
void tag_as_host(const control::HostVlan& vlan, const control::PortMaps& maps, dp::Packet& packet) {
  if (!vlan.is_tagged) return;
  dp::parse(packet);
  const dp::PacketMeta& meta = packet.meta();
  if (meta.verdict != dp::Verdict::kContinue || (meta.flags & dp::kIsTagged) != 0) return;
  const uint8_t pcp = pcp_of(vlan, maps, meta.dscp_ecn >> 2);
  uint8_t* tag = packet.insert_bytes(dp::ethernet::kType, dp::ethernet::kTagBytes);
  dp::store16(tag, dp::ethernet::kTypeVlan);
  dp::store16(tag + 2, static_cast<uint16_t>(pcp << 13 | vlan.id));
}

Choice begun(const dp::HeaderView& view, dp::EcmpGroupMode mode, uint32_t buckets) {
  Choice out{.mode = mode, .is_ipv6 = (view.flags & dp::kIsIpv6) != 0, .buckets = buckets};
  out.has_layer4 = (view.flags & (dp::kIsUdp | dp::kIsTcp)) != 0;
  return out;
}

}  // namespace

std::string end_in_words(PathEnd end, dp::DropReason reason) {
  switch (end) {
    case PathEnd::kHost: return "arrives";
    case PathEnd::kSwitch: return "taken by a switch";
    case PathEnd::kBridged: return "bridged by what was learned";
    case PathEnd::kLinkDown: return "link down";
    case PathEnd::kDropped: return std::string(dp::name_of(reason));
    case PathEnd::kTooLong: return "in a circle";
  }
  return "?";
}

Walker::Walker(const control::Testbed& testbed, const std::vector<bool>& routed, std::vector<bool> up)
    : testbed_(testbed),
      compiler_(std::make_shared<control::Compiler>(testbed)),
      routes_(compiler_->routes(routed)),
      up_(std::move(up)),
      states_(testbed.fabric.nodes.size()) {}

Walker::Walker(const control::Testbed& testbed, States states, std::vector<bool> up)
    : testbed_(testbed), up_(std::move(up)), states_(std::move(states)) {}

Walker::Walker(Walker& base, Change change)
    : testbed_(base.testbed_),
      base_(&base),
      change_(std::move(change)),
      compiler_(base.compiler_),
      routes_(base.routes_),
      up_(base.up_),
      states_(base.states_.size()) {}

const dp::ForwardingState& Walker::state(uint32_t node) {
  auto& state = states_[node];
  if (state == nullptr && base_ != nullptr) {
    auto copy = std::make_shared<dp::ForwardingState>(base_->state(node));
    change_(node, *copy);
    state = std::move(copy);
  } else if (state == nullptr) {
    SOFTSPINE_CHECK(compiler_ != nullptr, node, states_.size());
    state = compiler_->compile(node, (*routes_)[node], up_);
  }
  return *state;
}

// Whether the frame goes on to routing; else `out` has what becomes of it.
bool Walker::accept(uint16_t in_port, dp::Packet& packet, Step& out) {
  const dp::ForwardingState& state = *tables_.state;
  const dp::PortForwarding& port = state.ports[in_port];
  dp::PacketMeta& meta = packet.meta();
  const uint64_t router = dp::load48(state.router_mac.data());
  if (meta.verdict == dp::Verdict::kContinue && !port.bridged()) dp::accept_routed_one(router, packet);
  if (meta.verdict == dp::Verdict::kContinue && port.bridged()) {
    const auto id = static_cast<uint16_t>((meta.flags & dp::kIsTagged) != 0 ? meta.vlan & dp::ethernet::kVlanMask : 0);
    const bool is_member = id == 0 ? port.untagged_vlan != 0 : std::ranges::binary_search(port.tagged_vlans, id);
    meta.vlan = id == 0 ? port.untagged_vlan : id;
    const bool is_for_router = dp::ethernet::destination_of(packet.data()) == router;
    if (!is_member) dp::drop(meta, dp::DropReason::kVlanNotAllowed);
    if (is_member && !is_for_router && port.isolated && meta.ether_type != dp::ethernet::kTypeArp)
      dp::drop(meta, dp::DropReason::kNoLayer2);
    if (is_member && !is_for_router && !port.isolated) {
      out.end = PathEnd::kBridged;
      return false;
    }
  }
  if (meta.verdict == dp::Verdict::kContinue && meta.ether_type == dp::ethernet::kTypeArp)
    meta.verdict = dp::Verdict::kLocal;
  if (meta.verdict == dp::Verdict::kContinue) return true;
  out.end = meta.verdict == dp::Verdict::kDrop ? PathEnd::kDropped : PathEnd::kSwitch;
  out.reason = meta.reason;
  return false;
}

Choice Walker::choose(const dp::EcmpGroup& whole, const dp::HeaderView& view) const {
  const dp::EcmpHash& hash = tables_.state->hash;
  const bool falls_back = whole.mode == dp::EcmpGroupMode::kInPort && whole.live > 0 &&
                          tables_.state->members[whole.first + view.in_port % whole.count] == dp::kDeadMember;
  const dp::EcmpGroup group = falls_back ? whole.of_live() : whole;
  Choice out = begun(view, group.mode, group.count);
  out.group = static_cast<uint32_t>(&whole - tables_.state->groups.data());
  out.falls_back = falls_back;
  const bool hashes = group.mode == dp::EcmpGroupMode::kHash || group.mode == dp::EcmpGroupMode::kFlowlet;
  out.is_drawn = group.mode == dp::EcmpGroupMode::kFlowlet || group.mode == dp::EcmpGroupMode::kSpray ||
                 (hashes && hash.is_drawn());
  if (hashes) {
    put_hash(hash, view, out);
  } else if (group.mode == dp::EcmpGroupMode::kInPort) {
    out.raw = out.hash = view.in_port;
  }
  if (!out.is_drawn) out.bucket = hashes ? hash.bucket_of(out.hash, group.count) : out.hash % group.count;
  return out;
}

LagChoice Walker::choose_link(uint32_t node, uint16_t lag, const dp::PacketMeta& meta,
                              const dp::HeaderView& view) const {
  const dp::LagTable& lags = *tables_.state->lags;
  const auto members = lags.members_of(lag);
  LagChoice out{.lag = testbed_.fabric.links[testbed_.fabric.port({node, meta.out_port}).link].lag,
                .choice = begun(view, dp::EcmpGroupMode::kHash, static_cast<uint32_t>(members.size()))};
  put_hash(lags.hash, view, out.choice);
  out.choice.is_drawn = lags.hash.is_drawn();
  if (out.choice.is_drawn) return out;
  out.choice.bucket = lags.hash.bucket_of(out.choice.hash, out.choice.buckets);
  SOFTSPINE_CHECK(members[out.choice.bucket] == meta.out_port, out.choice.bucket, meta.out_port);
  return out;
}

// A host whose MAC the switch has to learn.
std::optional<uint16_t> Walker::port_of_neighbour(uint32_t node, const dp::Packet& packet) const {
  const control::Fabric& fabric = testbed_.fabric;
  const dp::PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p) {
    const control::FabricNode& peer = fabric.nodes[fabric.peer_of({node, p}).node];
    if (peer.kind != control::NodeKind::kHost) continue;
    const bool is_it = (meta.flags & dp::kIsIpv4) != 0
                           ? dp::load32(l3 + dp::ipv4::kDestination) == peer.ipv4.value
                           : std::equal(peer.ipv6.bytes.begin(), peer.ipv6.bytes.end(), l3 + dp::ipv6::kDestination);
    if (is_it) return p;
  }
  return std::nullopt;
}

// Which of its links the switch sees down.
void Walker::see_ports(uint32_t node) {
  const auto& ports = testbed_.fabric.nodes[node].ports;
  for (uint16_t p = 0; p < ports.size(); ++p) tables_.down.set(p, !up_[ports[p].link]);
}

void Walker::see_override(const dp::Packet& packet, Hop& hop) const {
  const dp::ForwardingState& state = *tables_.state;
  const dp::RouteValue value{found_for(state, packet)};
  if (value.kind() != dp::RouteKind::kOverride) return;
  const dp::OverrideEntry* const entry = state.overrides.find(value.index(), hop.in_port);
  if (entry == nullptr) return;
  hop.override_number = entry->number;
  if (entry->is_withdrawn()) {
    hop.override_use = OverrideUse::kWithdrawn;
  } else {
    hop.override_use = state.is_open(*entry, tables_.down) ? OverrideUse::kSent : OverrideUse::kLinkDown;
  }
}

// The drawn member is a LAG that is down and that routes have not left: takes the first of the group's others.
void Walker::draw_another(dp::Packet& packet, const dp::HeaderView& view) const {
  const dp::ForwardingState& state = *tables_.state;
  const dp::EcmpGroup* group = group_of(state, packet);
  if (group == nullptr) return;
  const Choice choice = choose(*group, view);
  if (!choice.is_drawn) return;
  const dp::EcmpGroup taken = choice.group_in(state);
  dp::PacketMeta& meta = packet.meta();
  for (uint32_t b = 0; b < taken.count; ++b) {
    const uint32_t next_hop = state.members[taken.first + b];
    const std::vector<uint16_t> ports = ports_of(state, next_hop);
    if (ports.empty()) continue;
    meta.verdict = dp::Verdict::kForward;
    meta.reason = dp::DropReason::kCount;
    meta.next_hop = next_hop;
    meta.out_port = state.adjacencies[next_hop].port;
    if (!dp::is_lag(meta.out_port)) return;
    dp::HashKey key;
    state.lags->hash.build(view, key);
    meta.out_port = ports[state.lags->hash.bucket_of(state.lags->hash.of(key), static_cast<uint32_t>(ports.size()))];
    return;
  }
}

// A group of a slice's uplinks: the routes have no such group.
bool Walker::is_slice(uint32_t node, const dp::EcmpGroup& group) const {
  if (routes_ == nullptr) return false;
  if (testbed_.profiles[testbed_.fabric.nodes[node].profile].groups.mode != control::EcmpGroupMode::kPinned)
    return false;
  return std::ranges::find((*routes_)[node].groups, ways_of(*tables_.state, group)) == (*routes_)[node].groups.end();
}

Walker::Step Walker::step(uint32_t node, uint16_t in_port, dp::Packet& packet) {
  Step out;
  state(node);
  tables_.state = states_[node];
  see_ports(node);
  const control::FabricNode& here = testbed_.fabric.nodes[node];
  tag_as_host(testbed_.fabric.nodes[testbed_.fabric.peer_of({node, in_port}).node].vlan,
              testbed_.profiles[here.profile].maps_at(here.ports[in_port].name), packet);
  dp::parse(packet);
  packet.meta().in_port = in_port;
  if (!accept(in_port, packet, out)) return out;
  const dp::HeaderView view = dp::header_view(packet);  // before routing, which sets the VLAN that it leaves by
  dp::route_one(tables_, packet);
  const dp::PacketMeta& meta = packet.meta();
  if (meta.reason == dp::DropReason::kNoMember) draw_another(packet, view);
  if (meta.reason == dp::DropReason::kNeighbourIncomplete) {
    if (const auto port = port_of_neighbour(node, packet)) {
      out.hop = Hop{.node = node, .in_port = in_port, .out_port = *port, .candidates = {*port}};
      return out;
    }
  }
  if (meta.verdict != dp::Verdict::kForward) {
    out.end = meta.verdict == dp::Verdict::kLocal ? PathEnd::kSwitch : PathEnd::kDropped;
    out.reason = meta.reason;
    return out;
  }
  Hop hop{.node = node, .in_port = in_port, .out_port = meta.out_port, .candidates = {meta.out_port}};
  see_override(packet, hop);
  const uint16_t port = dp::adjacency_of(tables_, meta.next_hop).port;
  if (dp::is_lag(port)) hop.lag = choose_link(node, port, meta, view);
  if (hop.lag && hop.lag->choice.is_drawn) hop.candidates = ports_of(*tables_.state, meta.next_hop);
  if (hop.override_use == OverrideUse::kSent) {
    hop.is_pinned = true;
  } else if (const dp::EcmpGroup* group = group_of(*tables_.state, packet)) {
    hop.choice = choose(*group, view);
    hop.is_pinned = is_slice(node, *group);
    const auto& members = tables_.state->members;
    const dp::EcmpGroup taken = hop.choice->group_in(*tables_.state);
    if (hop.choice->is_drawn) {
      hop.candidates = ports_of(*tables_.state, taken);
    } else {
      const uint32_t next_hop = members[taken.first + hop.choice->bucket];
      SOFTSPINE_CHECK(next_hop == meta.next_hop, next_hop, meta.next_hop);
    }
  } else {
    const control::FabricNode& peer = testbed_.fabric.nodes[testbed_.fabric.peer_of({node, meta.out_port}).node];
    const bool goes_up = peer.kind == control::NodeKind::kSwitch && tier_of(peer.role) > tier_of(here.role);
    hop.is_pinned = goes_up && testbed_.profiles[here.profile].groups.mode == control::EcmpGroupMode::kPinned;
  }
  dp::rewrite_one(tables_, packet);
  out.hop = std::move(hop);
  return out;
}

Path Walker::walk(std::span<const uint8_t> stored, uint32_t frame_bytes, control::LinkEnd sender) {
  const control::Fabric& fabric = testbed_.fabric;
  Path path;
  const auto end = [&path](PathEnd how, uint32_t node) {
    path.end = how;
    path.node = node;
    return std::move(path);
  };
  dp::Packet& packet = scratch_.load(stored, frame_bytes);
  control::LinkEnd from = sender;
  while (path.hops.size() < kMaxHops) {
    if (!up_[fabric.port(from).link]) return end(PathEnd::kLinkDown, from.node);
    const control::LinkEnd at = fabric.peer_of(from);
    if (fabric.nodes[at.node].kind == control::NodeKind::kHost) return end(PathEnd::kHost, at.node);
    Step made = step(at.node, at.port, packet);
    path.reason = made.reason;
    if (!made.hop) return end(made.end, at.node);
    from = {at.node, made.hop->out_port};
    path.hops.push_back(std::move(*made.hop));
  }
  return end(PathEnd::kTooLong, from.node);
}

}  // namespace softspine::analysis
