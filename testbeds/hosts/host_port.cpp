// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/host_port.hpp"

#include <bit>
#include <utility>

#include "dataplane/link/node.hpp"
#include "dataplane/packet/credit.hpp"
#include "dataplane/packet/pfc.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// Returns how many packets ended, since there was no room.
uint32_t push_or_end(HostPort& port, Packet packet, uint8_t priority, Instant now) noexcept {
  packet.meta().at = now;
  if (!port.control.has_room(priority)) {
    PacketPool::release(std::move(packet));
    return 1;
  }
  port.control.push(std::move(packet), priority);
  return 0;
}

}  // namespace

void HostPort::link_changed(bool up, Instant now) noexcept {
  if (lacpdu) PacketPool::release(std::move(lacpdu));  // what it says is of the link as it was
  flow_control.link_changed(up, now);
  reconsider(now);
}

DropReason HostPort::take_own_frame(const Packet& frame) noexcept {
  const Instant now = frame.meta().at;
  if (flow_control.goes_by_credit()) [[unlikely]] {
    if (const auto credit = read_credit(frame.data(), frame.stored_bytes())) {
      flow_control.receive(*credit, now);
      reconsider(now);
      return DropReason::kCreditConsumed;
    }
  }
  const auto pause = read_pfc(frame.data(), frame.stored_bytes());
  if (!pause) return pause.error();
  flow_control.receive(*pause, wire->rate(), now);
  reconsider(now);
  return DropReason::kPfcConsumed;
}

void HostPort::set_closed(bool is_closed, Instant now) noexcept {
  const uint8_t before = std::exchange(closed, is_closed ? uint8_t{0xff} : uint8_t{0});
  if (closed == before) return;
  is_closed ? find_next() : reconsider(now);
}

void HostPort::put_lacpdu(const Lacpdu& pdu, const MacAddress& source, PacketPool& pool, Instant now) noexcept {
  if (lacpdu) PacketPool::release(std::move(lacpdu));
  if (wire->up()) lacpdu = pool.make(kLacpFrameBytes);
  if (lacpdu) {
    write_lacpdu(pdu, source, std::span<uint8_t, kLacpFrameBytes>{lacpdu.data(), kLacpFrameBytes});
    lacpdu.meta().at = now;
  }
  find_next();
}

uint32_t HostPort::queue_ready_cnps(HostPort& out, Instant now) noexcept {
  if (delayed.next() > now) return 0;
  uint32_t refused = 0;
  while (delayed.next() <= now) {
    auto [packet, priority] = delayed.pop();
    refused += push_or_end(out, std::move(packet), priority, now);
  }
  out.find_next();
  return refused;
}

uint32_t HostPort::move_control_to(HostPort& other, Instant now) noexcept {
  uint32_t refused = 0;
  while (const uint8_t waiting = control.waiting()) {
    const auto priority = static_cast<uint8_t>(std::countr_zero(waiting));
    refused += push_or_end(other, control.pop_any(), priority, now);
  }
  find_next();
  other.find_next();
  return refused;
}

void HostPort::plan_flow_control(const HostConfig& host, uint32_t number, Instant now) noexcept {
  const HostLink& link = host.links[number];
  CreditPlan plan{
      .priorities = link.credit_priorities, .largest_frame = link.largest_frame, .cell = CellSize{kHostCellBytes}};
  for (uint8_t p = 0; p < kPriorities; ++p) {
    const bool waits = (buffer.priorities() >> p & 1) != 0;
    const uint32_t room =
        waits ? buffer.size_bytes() / static_cast<uint32_t>(std::popcount(buffer.priorities())) : kHostRoomBytes;
    plan.room[p] = static_cast<uint16_t>(std::min(room / kHostCellBytes, CreditLink::kRoomLimit));
  }
  flow_control.plan(
      {.link = link.parameters, .pfc_enabled = host.obeys_pause ? uint8_t{0xff} : uint8_t{0}, .credit = plan}, now);
  find_next();
}

void HostPort::adjust_pause(Instant now) noexcept {
  const auto paused = static_cast<uint8_t>(buffer.wants_paused() & ~flow_control.credit_priorities());
  const auto wanted = static_cast<uint8_t>(storm | paused);
  watchdog.look(wanted != 0, now);
  flow_control.set_xoff(watchdog.fired() ? uint8_t{0} : wanted, now);
  find_next();
}

void HostPort::set_storm(uint8_t priorities, Instant now) noexcept {
  storm = priorities;
  if (priorities == 0) watchdog.reset();
  if (priorities == 0 && buffer.wants_paused() == 0) {
    flow_control.forget_xoff();
    return find_next();
  }
  adjust_pause(now);
}

bool HostPort::watch(Instant now) noexcept {
  if (!watchdog.fire(now)) return false;
  flow_control.forget_xoff();
  adjust_pause(now);
  return true;
}

void HostPort::receive_slowly(const std::optional<SlowReceiver>& slow, Instant now) {
  if (!slow) watchdog.reset();
  buffer.configure(slow.value_or(SlowReceiver{.priorities = 0}), now);
}

Packet HostPort::take_buffered(Instant now) noexcept {
  Packet packet = buffer.pop(now);
  watchdog.moved(now);
  packet.meta().at = now;
  if (flow_control.goes_by_credit()) [[unlikely]] {
    const uint8_t priority = packet.meta().priority_group;
    uint32_t& cells = credited_cells[priority];
    cells -= CellSize{kHostCellBytes}.cells_of(packet.frame_bytes());
    flow_control.holds(priority, cells, now);
  }
  return packet;
}

void HostPort::connect(Transmitter& to, Instant& due_of_host, const HostConfig& host, Rng& rng) {
  wire = &to;
  due = &due_of_host;
  watchdog = NicWatchdog{host.parameters.pfc_watchdog};
  jitter = StartJitter{host.start_jitter_millionths, rng};
}

void HostPort::send_control(const HostConfig& host, Instant now) noexcept {
  Packet packet =
      lacpdu && lacpdu.meta().at <= now ? std::move(lacpdu) : control.take(flow_control.blocked() | closed, now);
  const uint8_t priority = host.priority_of_dscp[dscp_of(packet)];
  if (flow_control.goes_by_credit()) flow_control.sent(priority, packet.frame_bytes() + host.tag.bytes(), now);
  host.tag.put_on(packet);
  packet.meta().born = now;
  free_at = wire->send(std::move(packet), now);
  flow_control.leaves(static_cast<uint8_t>(1U << priority), free_at);
}

void HostPort::drain() noexcept {
  if (lacpdu) PacketPool::release(std::move(lacpdu));
  while (control.waiting() != 0) PacketPool::release(control.pop_any());
  while (!delayed.empty()) PacketPool::release(delayed.pop().packet);
  while (!buffer.is_empty()) PacketPool::release(buffer.pop(Instant{}));
  find_next();
}

bool HostPort::send_own_frame(const MacAddress& source, PacketPool& pool, Instant now) noexcept {
  Packet packet = pool.make(mac_control::kFrameBytes);
  if (!packet) [[unlikely]] {
    retry_later(now);
    return false;
  }
  packet.meta().born = now;
  const FlowControlFrame made = flow_control.make_frame(packet.data(), source, wire->rate(), wire->propagation(), now);
  free_at = wire->send(std::move(packet), now);
  return made.kind == FlowControlFrame::Kind::kPfc;
}

}  // namespace softspine::testbeds
