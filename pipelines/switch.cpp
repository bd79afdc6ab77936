// SPDX-License-Identifier: Apache-2.0
#include "pipelines/switch.hpp"

#include <algorithm>
#include <span>

#include "dataplane/packet/wire.hpp"

namespace softspine::pipelines {

using namespace dataplane;

Switch::Switch(std::string name, uint32_t ports, PacketPool& pool)
    : Node(std::move(name), ports),
      counters_(ports),
      egress_(*this, counters_, pool, rng()),
      pool_(pool),
      agent_(pool) {
  const auto [mmu, timers, departures] = egress_.places();
  Places places;
  places.fill(&counters_);
  std::ranges::copy(std::array<const void*, 4>{&receive_taps_, mmu, timers, departures}, places.begin());
  set_read_by_run(places, places);
}

void Switch::publish(std::shared_ptr<const ForwardingState> state, Instant now) {
  const std::shared_ptr<const ForwardingState> before = std::exchange(tables_.state, std::move(state));
  const ForwardingState& next = *tables_.state;
  is_usual_ = is_usual_switch(next);
  tables_.fdb.set_age(next.ages ? next.ages->fdb_aging_time : Fdb::kAge);
  const bool same = before && before->plan == next.plan &&
                    (next.plan != nullptr || before->qos.queue_limit_bytes == next.qos.queue_limit_bytes);
  if (same) return;
  const auto plain = [&] { return std::make_shared<QosPlan>(QosPlan::plain(ports(), next.qos.queue_limit_bytes)); };
  egress_.apply(next.plan != nullptr ? next.plan : plain(), next.router_mac, now);
  wake(egress_.next());
}

void Switch::set_receive_tap(PortNo port, Tap* tap) {
  if (receive_taps_.empty()) receive_taps_.resize(ports(), nullptr);
  receive_taps_[port.value()] = tap;
}

// The meta and the headers of a packet come from far away: asked for first, all at once.
void Switch::receive(Burst& burst) noexcept {
  for (Packet& packet : burst) {
    packet.prefetch_data();
    if (!is_cached()) [[unlikely]]
      prefetch(&counters_[packet.meta().in_port]);
  }
  for (Packet& packet : burst) {
    const PacketMeta& meta = packet.meta();
    PortCounters& counters = counters_[meta.in_port];
    counters.arrived(meta.frame_bytes);
    const uint8_t* destination = packet.data();
    if ((destination[0] & ethernet::kMulticastBit) != 0) [[unlikely]] {
      counters.arrived_for_several(load48(destination) == 0xffffffffffff);
    }
    if (!receive_taps_.empty() && receive_taps_[meta.in_port] != nullptr) [[unlikely]] {
      receive_taps_[meta.in_port]->frame(Direction::kReceived, packet, meta.at, nullptr);
    }
  }
  parse(burst);
}

// Where ports have maps of their own, that of the port out decides on the queue.
[[gnu::always_inline]] inline void Switch::choose_queue(Packet& packet) noexcept {
  const ForwardingState& state = *tables_.state;
  if (state.port_qos.empty()) [[likely]]
    return;
  PacketMeta& meta = packet.meta();
  meta.queue = state.port_qos[meta.out_port].tc_to_queue[meta.traffic_class];
}

[[gnu::always_inline]] inline void Switch::dispatch_one(Packet& packet) noexcept {
  const PacketMeta& meta = packet.meta();
  const Instant now = meta.at;
  egress_.act_through(now);
  reach(now);
  if (meta.verdict != Verdict::kForward) [[unlikely]]
    return end_here(std::move(packet), now);
  choose_queue(packet);
  const DropReason refused = egress_.enqueue(packet, now);
  if (refused != DropReason::kCount) [[unlikely]]
    end(std::move(packet), refused, now);
}

// All that dispatch_one() needs of the ports, and then of their peers, at once.
void Switch::prefetch_ways_out(Burst& burst) const noexcept {
  for (const Packet& packet : burst) {
    const PacketMeta& meta = packet.meta();
    if (meta.verdict != Verdict::kForward) continue;
    egress_.prefetch_for(meta);
    const PortCounters& counters = counters_[meta.out_port];
    prefetch(&counters.queues[meta.traffic_class]);
    prefetch(&counters.tx_packets);
    prefetch(&transmitter(PortNo{meta.out_port}), sizeof(Transmitter));
  }
  for (const Packet& packet : burst) {
    const PacketMeta& meta = packet.meta();
    if (meta.verdict == Verdict::kForward) transmitter(PortNo{meta.out_port}).prefetch_peer();
  }
}

void Switch::dispatch(Burst& burst) noexcept {
  if (egress_.flow_control().uses_credit()) [[unlikely]]
    return dispatch_counted(burst);
  if (!is_cached()) [[unlikely]]
    prefetch_ways_out(burst);
  for (Packet& packet : burst) dispatch_one(packet);
}

// Work that was put off: the LACPDU that ended the part before may have made LACP due earlier.
void Switch::begin_next_part() noexcept {
  burst_.next_part();
  while (lacp_.next_due() <= burst_[0].meta().at) act_on_lacp(lacp_.next_due());
  const auto is_early = [due = lacp_.next_due()](const Packet& packet) { return packet.meta().at < due; };
  const auto early = static_cast<uint32_t>(std::find_if_not(burst_.begin(), burst_.end(), is_early) - burst_.begin());
  burst_.put_off_from(tables_.state->ages ? 1 : early);
}

// Where links go by credit: whatever became of a frame, its sender has used credit for it.
void Switch::dispatch_counted(Burst& burst) noexcept {
  for (Packet& packet : burst) {
    const PacketMeta& meta = packet.meta();
    // A frame that is not even parsed has no group; the sender's next credit frame sets that right.
    const bool is_unread = meta.verdict == Verdict::kDrop && meta.reason <= DropReason::kUnknownMacControl;
    const bool counts = meta.verdict != Verdict::kMacControl && !is_unread;
    const PortNo port{meta.in_port};
    const uint8_t group = meta.priority_group;
    const uint32_t bytes = meta.frame_bytes;
    const Instant now = meta.at;
    dispatch_one(packet);
    if (counts) egress_.count_received(port, group, bytes, now);
  }
}

// Everything that does not simply go on. Apart, so that what does needs no room for it.
void Switch::end_here(Packet packet, Instant now) noexcept {
  egress_.complete_through(now);
  PacketMeta& meta = packet.meta();
  meta.is_sound = false;  // answers are written over it
  LocalAgent::Outcomes outcomes;
  switch (meta.verdict) {
    case Verdict::kForward: return forward_one(std::move(packet), now);
    case Verdict::kFlood: return flood(std::move(packet), now);
    case Verdict::kLocal:  // at a routed port; a bridged one drops what a bridge must not forward
      if (takes_lacp(packet, now)) return end_lacp(std::move(packet), now);
      agent_.receive(tables_, std::move(packet), now, outcomes);
      break;
    case Verdict::kMacControl: {
      if (!egress_.flow_control(PortNo{meta.in_port}).goes_by_credit()) return receive_pause(std::move(packet), now);
      const auto credit = read_credit(packet.data(), packet.stored_bytes());
      if (!credit) return receive_pause(std::move(packet), now);
      egress_.receive(PortNo{meta.in_port}, *credit, now);
      return end(std::move(packet), DropReason::kCreditConsumed, now);
    }
    case Verdict::kContinue: meta.reason = DropReason::kUnsupported; [[fallthrough]];
    case Verdict::kDrop:
      if (meta.reason == DropReason::kUnsupported && takes_lacp(packet, now)) return end_lacp(std::move(packet), now);
      if ((meta.flags & kMustAnswer) != 0) agent_.notify_sender(tables_, packet, now, outcomes);
      end(std::move(packet), meta.reason, now);
      break;
  }
  answer(outcomes, now);
}

bool Switch::takes_lacp(const Packet& packet, Instant now) noexcept {
  const PacketMeta& meta = packet.meta();
  if (lacp_.empty() || meta.ether_type != kTypeSlowProtocols || (meta.flags & kIsTagged) != 0) return false;
  return lacp_.receive(PortNo{meta.in_port}, {packet.data(), packet.stored_bytes()}, now);
}

void Switch::end_lacp(Packet packet, Instant now) noexcept {
  end(std::move(packet), DropReason::kConsumed, now);
  act_on_lacp(now);
}

void Switch::act_on_lacp(Instant now) noexcept {
  egress_.act_through(now);
  egress_.complete_through(now);
  reach(now);
  lacp_.act(now, [this, now](PortNo port, const Lacpdu& pdu) { send_lacp(port, pdu, now); });
}

// In the class of a switch's own protocols: data that waits must not cost a port its partner.
void Switch::send_lacp(PortNo port, const Lacpdu& pdu, Instant now) noexcept {
  constexpr uint8_t kControlClass = 7;
  Packet packet = pool_.make(kLacpFrameBytes);
  if (!packet) return;
  write_lacpdu(pdu, tables_.state->router_mac, std::span<uint8_t, kLacpFrameBytes>{packet.data(), kLacpFrameBytes});
  parse(packet);
  PacketMeta& meta = packet.meta();
  meta.at = now;
  meta.in_port = kLocalPort;
  meta.out_port = port.value();
  meta.verdict = Verdict::kForward;
  meta.traffic_class = kControlClass;
  meta.queue = tables_.state->qos.tc_to_queue[kControlClass];
  meta.priority_group = tables_.state->qos.tc_to_pg[kControlClass];
  ++counters_[port.value()].made_packets;
  forward_one(std::move(packet), now);
}

void Switch::receive_pause(Packet packet, Instant now) noexcept {
  const auto frame = read_pfc(packet.data(), packet.stored_bytes());
  if (frame) egress_.receive(PortNo{packet.meta().in_port}, *frame, now);
  end(std::move(packet), frame ? DropReason::kPfcConsumed : frame.error(), now);
}

void Switch::forward_one(Packet packet, Instant now) noexcept {
  choose_queue(packet);
  const DropReason refused = egress_.enqueue(packet, now);
  if (refused != DropReason::kCount) [[unlikely]]
    end(std::move(packet), refused, now);
}

// A copy to every other member of the VLAN, and where a MAC's port is not known, to whomever NeighbourAges names. The
// original ends here; one that we made was never counted.
void Switch::flood(Packet packet, Instant now) noexcept {
  const uint16_t in_port = packet.meta().in_port;
  const ForwardingState& state = *tables_.state;
  const Vlan* vlan = state.vlan(packet.meta().vlan);
  bool has_port = false;
  if (vlan != nullptr) {
    for (const VlanMember& member : vlan->members) has_port |= flood_to(member.port, packet, now);
  }
  const bool is_unicast = (packet.data()[0] & ethernet::kMulticastBit) == 0;
  const bool to_all = state.ages && state.ages->fdb_unicast_miss == UnicastMiss::kFloodAll && in_port != kLocalPort;
  for (uint16_t port = 0; to_all && is_unicast && port < state.ports.size(); ++port) {
    if (!state.ports[port].bridged()) has_port |= flood_to(port, packet, now);
  }
  if (in_port == kLocalPort) return PacketPool::release(std::move(packet));
  const bool is_lost = is_unicast && !has_port;
  end(std::move(packet), is_lost ? DropReason::kNeighbourIncomplete : DropReason::kConsumed, now);
}

// Whether there is such a port.
bool Switch::flood_to(uint16_t port, const Packet& packet, Instant now) noexcept {
  if (port == packet.meta().in_port || !transmitter(PortNo{port}).up()) return false;
  Packet copy = pool_.copy(packet);
  if (!copy) {
    ++home_of(packet.meta()).drops[static_cast<size_t>(DropReason::kNoBuffer)];
    ++home_of(packet.meta()).made_packets;  // the copy that was to be
    return true;
  }
  copy.mark_as_copy();
  counters_[port].copied_flow_packets += copy.is_of_flow() ? 1 : 0;
  copy.meta().out_port = port;
  retag(*tables_.state, copy, port);
  ++counters_[port].made_packets;
  forward_one(std::move(copy), now);
  return true;
}

void Switch::answer(LocalAgent::Outcomes& outcomes, Instant now) noexcept {
  for (uint32_t i = 0; i < outcomes.count; ++i) {
    Packet packet = std::move(outcomes.packets[i]);
    PacketMeta& meta = packet.meta();
    const bool made_here = meta.in_port == kLocalPort;
    meta.at = now;
    meta.traffic_class = 0;
    meta.queue = tables_.state->qos.tc_to_queue[0];
    meta.priority_group = tables_.state->qos.tc_to_pg[0];
    if (meta.verdict == Verdict::kContinue) {
      route_one(tables_, packet);
      if (meta.verdict == Verdict::kForward) rewrite_one(tables_, packet);
      if (meta.verdict == Verdict::kDrop && meta.reason == DropReason::kNeighbourIncomplete) {
        LocalAgent::Outcomes question;
        agent_.notify_sender(tables_, packet, now, question);
        answer(question, now);  // once: a question is not routed
      }
    } else if (meta.verdict == Verdict::kForward && meta.vlan != 0) {
      retag(*tables_.state, packet, meta.out_port);
    }
    if (made_here) {
      if (meta.verdict == Verdict::kLocal || meta.verdict == Verdict::kDrop) {
        PacketPool::release(std::move(packet));  // to ourselves, or to nowhere: nobody waits for it
        continue;
      }
      if (meta.verdict == Verdict::kForward) ++home_of(meta).made_packets;
    }
    switch (meta.verdict) {
      case Verdict::kForward: forward_one(std::move(packet), now); break;
      case Verdict::kFlood: flood(std::move(packet), now); break;
      default: end(std::move(packet), meta.verdict == Verdict::kDrop ? meta.reason : DropReason::kConsumed, now); break;
    }
  }
}

PortCounters& Switch::home_of(const PacketMeta& meta) noexcept {
  return counters_[meta.in_port != kLocalPort ? meta.in_port : meta.out_port];
}

void Switch::end(Packet packet, DropReason reason, Instant now) noexcept {
  egress_.discard(std::move(packet), reason, now);
}

void Switch::link_changed(PortNo port, bool up, Instant now) noexcept {
  tables_.down.set(port.value(), !up);
  egress_.link_changed(port, up, now);
  lacp_.set_link(port, up, now);
  wake(lacp_.next_due());
  if (up) return;
  remember_hosts(port, now);
  tables_.fdb.forget(port.value());
  tables_.neighbours.forget(port.value());
  egress_.flush(port, now, [this, now](Packet packet) { end(std::move(packet), DropReason::kLinkDown, now); });
}

// Hosts of the port that have said nothing yet, so that they can be forgotten.
void Switch::remember_hosts(PortNo port, Instant now) noexcept {
  if (!tables_.state->ages) return;
  for (const Adjacency& host : tables_.state->adjacencies) {
    if (host.port == port.value() && host.vlan != 0)
      tables_.fdb.learn(host.vlan, load48(host.destination.data()), host.port, now);
  }
}

void Switch::drain() noexcept {
  egress_.drain();
}

}  // namespace softspine::pipelines
