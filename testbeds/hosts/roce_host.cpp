// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/roce_host.hpp"

#include <algorithm>
#include <bit>

#include "dataplane/units/check.hpp"
#include "testbeds/hosts/host_places.hpp"

namespace softspine::testbeds {

using namespace dataplane;

RoceHost::RoceHost(const HostConfig& config, PacketPool& pool)
    : Node(config.name, uint32_t{config.ports} + config.scale_up_ports),
      ports_(config.ports),
      vlan_(config.tag.vlan),
      responder_(config),
      config_(config),
      flows_(config_, pool),
      sinks_(pool),
      pool_(pool),
      bond_(config.bond, config.ports) {
  SOFTSPINE_CHECK(validate(config).empty(), config.ports, config.mtu);
  SOFTSPINE_CHECK(pool.room_bytes() >= kHostPacketBytes, pool.room_bytes(), kHostPacketBytes);
  static_assert(kHostPacketBytes >= kAdvertisementBytes);
  for (uint16_t p = 0; p < config.ports; ++p) {
    ports_[p].connect(transmitter(PortNo{p}), due_, config, rng());
    plan_flow_control(PortNo{p}, Instant{});
  }
  if (config.scale_up_ports > 0)
    work_.join(std::make_unique<ScaleUpPort>(*this, pool, config.parameters.scale_up_rate));
}

uint32_t RoceHost::add_flow(const FlowConfig& config) {
  QpTable::Entry& entry = queue_pairs_.insert(config.source_qp);
  SOFTSPINE_CHECK(entry.flow == QpTable::kNone, config.source_qp, config.id);
  entry.flow = flows_.add(config, transmitter(config.port).rate());
  if (config.transport == TransportKind::kReliable) counters_.completion_ps.reserve();
  for (HostPort& port : ports_) port.make_room();  // in any of them, should the others' links fail
  update_read_by_run();
  if (config.queue_depth != 0) return entry.flow;  // it stands in line when something is posted
  HostPort& out = ports_[flows_.port(entry.flow).value()];
  const Duration first_packet =
      out.wire->rate().is_zero() ? Duration{} : out.wire->rate().time_of_frame(flows_.first_frame_bytes(entry.flow));
  out.order.add(entry.flow, config.start + out.jitter.of_paced(first_packet), Instant::at_ps(-1));
  return entry.flow;
}

uint32_t RoceHost::add_sink(const SinkConfig& config) {
  QpTable::Entry& entry = queue_pairs_.insert(config.qp);
  SOFTSPINE_CHECK(entry.sink == QpTable::kNone, config.qp, config.id);
  sinks_.add(config_, config, entry);
  for (HostPort& port : ports_) port.delayed.reserve_for(config.nic_delay);
  counters_.message_latency_ps.reserve();
  update_read_by_run();
  return entry.sink;
}

void RoceHost::update_read_by_run() {
  const HostPlaces places{&ports_, ports_[0]};
  set_read_by_run(places.of_arrival(sinks_, queue_pairs_), places.of_departure(flows_));
}

Instant RoceHost::departure(PortNo port) const {
  const HostPort& out = ports_[port.value()];
  return out.wire->up() ? std::max(out.departure(), now()) : Instant::never();
}

PortNo RoceHost::first_port() const {
  if (ports_.size() == 1) return PortNo{0};
  return departure(PortNo{1}) < departure(PortNo{0}) ? PortNo{1} : PortNo{0};
}

Instant RoceHost::run(Instant until) noexcept {
  for (;;) {
    const PortNo port = first_port();
    const Instant leaves = departure(port);
    const Instant arrives = inbox().next();
    const Instant due = std::min(flows_.next_timer(), due_);
    const Instant first = std::min(std::min(leaves, arrives), due);
    if (first >= until) return first;
    reach(first);
    if (due == first) [[unlikely]] {
      flows_.next_timer() <= due ? flows_.expire(due, ports_) : act(due);
    } else if (leaves <= arrives) {
      depart(port, leaves);
    } else {
      receive(inbox().take_first());
    }
  }
}

void RoceHost::depart(PortNo port, Instant now) noexcept {
  HostPort& out = ports_[port.value()];
  if (!is_cached()) [[unlikely]]
    flows_.prefetch(out);
  if (out.beside <= now) [[unlikely]]
    return depart_beside(out, now);
  flows_.send(out, now);
}

// One thing, the first of: a PFC frame, a credit frame, a pause that has changed, a LACPDU, a control packet.
void RoceHost::depart_beside(HostPort& out, Instant now) noexcept {
  if (out.flow_control.next_frame() <= now) {
    if (out.send_own_frame(config_.mac, pool_, now)) ++counters_.pauses_sent;
  } else if (out.flow_control.next_change() <= now) {
    out.reconsider(now);
    return;
  } else {
    ++counters_.answers_sent;
    out.send_control(config_, now);
  }
  out.find_next();
}

void RoceHost::link_changed(PortNo port, bool up, Instant now) noexcept {
  ports_[port.value()].link_changed(up, now);
  bond_.link_changed(port, up, now);
  find_due();
}

// What is due at `now` beside departures, arrivals and the timers of flows.
void RoceHost::act(Instant now) noexcept {
  if (bond_.next() <= now) act_on_bond(now);
  if (is_slow_) drain_buffers(now);
  for (HostPort& port : ports_) counters_.watchdog_storms += port.watch(now) ? 1 : 0;
  for (uint16_t p = 0; p < ports_.size(); ++p)
    counters_.unanswered += ports_[p].queue_ready_cnps(answers_to(PortNo{p}), now);
  work_.act(now);
  find_due();
}

// The bond has seen that links went down or came back, or LACPDUs.
void RoceHost::act_on_bond(Instant now) noexcept {
  const uint8_t before = bond_.usable();
  bond_.advance(now, [this, now](PortNo port, const Lacpdu& pdu) {
    ports_[port.value()].put_lacpdu(pdu, config_.mac, pool_, now);
  });
  if (bond_.usable() == before) return;
  counters_.failovers += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(before & ~bond_.usable())));
  counters_.flows_moved += flows_.use_ports(bond_.usable(), ports_, now);
  for (uint16_t p = 0; p < ports_.size(); ++p) {
    if (bond_.answers_by(p) != p) counters_.unanswered += ports_[p].move_control_to(answers_to(PortNo{p}), now);
  }
  if (!bond_.runs_lacp()) return;
  for (uint16_t p = 0; p < ports_.size(); ++p) ports_[p].set_closed((bond_.usable() >> p & 1) == 0, now);
}

void RoceHost::find_due() noexcept {
  due_ = std::min(bond_.next(), work_.due());
  for (const HostPort& port : ports_) due_ = std::min(due_, port.due_itself());
}

void RoceHost::drain() noexcept {
  for (HostPort& port : ports_) port.drain();
}

}  // namespace softspine::testbeds
