// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dpdk/device_edge.hpp"

#include <rte_ethdev.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kPrefetchAhead = 4;
// A fabric that spreads a burst over its ports hands out as many small ones, each with its own cost: so a busy
// device is asked for several at once. Still less than a level-1 cache holds.
constexpr uint32_t kBurstsPerPoll = 4;

// One comparison for both ends: a shorter frame wraps around to a huge number.
bool is_whole(const rte_mbuf* m) {
  return m->nb_segs == 1 && m->data_len - ethernet::kBytes <= kMaxFrameBytes - ethernet::kBytes;
}

// A copy without elided bytes. Empty if the pool has no packet for it, or none that large; the first is ended either
// way.
Packet whole_copy(Packet elided, PacketPool& pool) {
  constexpr uint32_t kTail = 4;  // the ICRC, which is stored
  const uint32_t length = elided.frame_bytes();
  const uint32_t head = elided.stored_bytes() - kTail;
  Packet whole = length <= pool.room_bytes() ? pool.make(length) : Packet{};
  if (whole) {
    std::memcpy(whole.data(), elided.data(), head);
    std::memset(whole.data() + head, 0, length - head - kTail);
    std::memcpy(whole.data() + length - kTail, elided.data() + head, kTail);
  }
  PacketPool::release(std::move(elided));
  return whole;
}

void drop(rte_mbuf* m, DropCounters& drops, DropReason reason) {
  ++drops[static_cast<size_t>(reason)];
  PacketPool::release(Packet{m});
}

}  // namespace

DeviceEdge::DeviceEdge(std::string name, std::unique_ptr<Device> device, PacketPool& pool, const Config& config,
                       std::optional<KernelInterface> interface)
    : Nic(std::move(name), config, pool),
      device_(std::move(device)),
      interface_(std::move(interface)),
      port_(device_->port()),
      held_(std::bit_ceil(config.hold_bytes / kMinFrameBytes + 1)) {
  if (!interface_) expect_no_carrier_yet();
}

DeviceEdge::~DeviceEdge() {
  drain();
  if (interface_ && took_carrier_) static_cast<void>(interface_->set_up(true));
}

void DeviceEdge::look_outside(Instant now) noexcept {
  if (std::string trouble = device_->trouble(); !trouble.empty()) {
    faults_.push_back({{device_->name(), std::move(trouble)}, now});
  }
  if (!interface_) {
    device_->look_whether_gone();
    if (device_->is_gone()) {
      lose_device(now);
    } else if (device_->has_cable()) {
      see_carrier(device_->up());
    }
  } else if (interface_->is_gone()) {
    lose_outside({interface_->name(), kInterfaceDeleted}, now);
  } else if (const auto state = interface_->state()) {
    see_carrier(state->carrier);
  }
}

// Nobody runs meanwhile, and from now on poll() asks the device for nothing.
void DeviceEdge::lose_device(Instant now) noexcept {
  if (outside_is_gone_) return;
  lose_outside({device_->name(), "the device was taken out of this machine"}, now);
  end_held(DropReason::kLinkDown);
  report_held(0, now);
  device_->let_go();
}

std::expected<void, EdgeError> DeviceEdge::show_carrier(bool carrier) {
  if (!interface_) {
    device_->set_link(carrier);
    return {};
  }
  took_carrier_ = !carrier;
  return interface_->set_up(carrier);
}

bool DeviceEdge::poll(Instant now) noexcept {
  if (now.is_never() || outside_is_gone_) return false;
  if (held_head_ != held_tail_) {
    offer_held(now);
    report_held(held_bytes_, now);
  }
  const bool is_at_work = ask(now);
  if (!is_plain()) find_next_and_wake(now);
  return is_at_work;
}

// Asks for packets of the outside; true if there is, or will be, something to do.
bool DeviceEdge::ask(Instant now) noexcept {
  if (is_behind(now)) {
    ++counters_.pauses;
    return true;
  }
  rte_mbuf* frames[kBurstSize];
  for (uint32_t burst = 0; burst < kBurstsPerPoll; ++burst) {
    const uint32_t count = rte_eth_rx_burst(port_, 0, frames, kBurstSize);
    if (count == 0 && burst == 0) return held_head_ != held_tail_ || is_busy(now);
    is_plain() ? send_all(frames, count, now) : take_in_all(frames, count, now);
    if (count < kBurstSize || is_behind(now)) break;
  }
  return true;
}

void DeviceEdge::take_in_all(rte_mbuf** frames, uint32_t count, Instant now) noexcept {
  for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(rte_pktmbuf_mtod(frames[i], const void*));
  for (uint32_t i = 0; i < count; ++i) {
    rte_mbuf* frame = is_whole(frames[i]) ? frames[i] : repair(frames[i]);
    if (frame == nullptr) continue;
    PacketPool::adopt(frame);
    take_in(Packet{frame}, now);
  }
}

// A plain NIC's: nothing can hold them back, so their times are known at once.
void DeviceEdge::send_all(rte_mbuf** frames, uint32_t count, Instant now) noexcept {
  for (uint32_t i = 0; i < std::min(count, kPrefetchAhead); ++i) __builtin_prefetch(Packet::meta_of(frames[i]), 1);
  Transmitter& out = transmitter(PortNo{0});
  Instant start = std::max(now, free_at());
  uint64_t taken = 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i + kPrefetchAhead < count) __builtin_prefetch(Packet::meta_of(frames[i + kPrefetchAhead]), 1);
    rte_mbuf* frame = frames[i];
    if (!is_whole(frame)) [[unlikely]] {
      frame = repair(frame);
      if (frame == nullptr) continue;
    }
    PacketPool::adopt(frame);
    Packet::meta_of(frame)->born = start;
    bytes += frame->data_len;
    start = taken++ == 0 ? out.send(Packet{frame}, start) : out.send_behind(Packet{frame}, start);
  }
  set_free_at(start);
  counters_.in_packets += taken;
  counters_.in_bytes += bytes;
}

// A frame in pieces is put together if its first buffer has the room. Null: ended and counted.
rte_mbuf* DeviceEdge::repair(rte_mbuf* frame) noexcept {
  DropReason reason = DropReason::kOversize;
  if (frame->pkt_len < ethernet::kBytes) {
    reason = DropReason::kTruncated;
  } else if (frame->pkt_len <= kMaxFrameBytes && rte_pktmbuf_linearize(frame) == 0) {
    return frame;
  }
  ++counters_.in_drops[static_cast<size_t>(reason)];
  rte_pktmbuf_free(frame);  // all its pieces
  return nullptr;
}

// Gathers what is for the host, so that the device is handed bursts.
struct DeviceEdge::Outside {
  DeviceEdge& edge;
  rte_mbuf* frames[kBurstSize];
  uint32_t count;
  Instant last;

  static constexpr Instant next() { return Instant::never(); }
  static void enter(Instant) {}
  void give(Packet packet, Instant now) noexcept {
    rte_mbuf* frame = packet.take();
    if (!edge.is_ready(frame)) [[unlikely]] {
      frame = edge.make_ready(frame);
      if (frame == nullptr) return;
    }
    frames[count++] = frame;
    last = now;
    if (count == kBurstSize) flush();
  }
  void flush() noexcept {
    if (count != 0) edge.hand_out(frames, count);
    count = 0;
    edge.report_held(edge.held_bytes_, last);
  }
};

Instant DeviceEdge::run(Instant until) noexcept {
  if (is_plain()) return run_plain(until);
  Outside outside{.edge = *this, .frames = {}, .count = 0, .last = {}};
  for (;;) {
    const Instant next = run_with(until, outside);
    if (outside.count == 0) return next;
    outside.flush();  // which may raise XOFF, at once
  }
}

Instant DeviceEdge::run_plain(Instant until) noexcept {
  rte_mbuf* frames[kBurstSize];
  while (const uint32_t count = take_from_inbox(until, frames)) hand_out(frames, count);
  report_held(held_bytes_, until);
  return inbox().next();
}

// Up to a burst that the device can take as it is; 0 when nothing is left before `until`.
uint32_t DeviceEdge::take_from_inbox(Instant until, rte_mbuf** frames) noexcept {
  uint32_t count = 0;
  bool more = true;
  while (count == 0 && more) {
    inbox().take(until, arrivals_);
    more = !arrivals_.empty();
    for (Packet& packet : arrivals_) {
      count_arrival(packet);
      rte_mbuf* frame = packet.take();
      if (!is_ready(frame)) [[unlikely]] {
        frame = make_ready(frame);
        if (frame == nullptr) continue;
      }
      frames[count++] = frame;
    }
    arrivals_.clear();
  }
  return count;
}

// Whether the device can read it.
bool DeviceEdge::is_reached(const rte_mbuf* frame) const noexcept {
  return !device_->needs_io_addresses() || PacketPool::has_io_address(frame);
}

bool DeviceEdge::is_ready(rte_mbuf* frame) const noexcept {
  return frame->data_len == Packet::meta_of(frame)->frame_bytes && is_reached(frame) &&
         frame->data_len - kMinFrameBytes <= device_->largest_frame() - kMinFrameBytes;  // both ends, as in is_whole()
}

// Elided payload put back, where the device reaches it, padded to Ethernet's minimum. Null: ended and counted.
rte_mbuf* DeviceEdge::make_ready(rte_mbuf* frame) noexcept {
  if (Packet::meta_of(frame)->frame_bytes > device_->largest_frame()) {
    end_out(frame, DropReason::kOversize);
    return nullptr;
  }
  if (!is_reached(frame) || frame->data_len != Packet::meta_of(frame)->frame_bytes) {
    Packet whole = whole_copy(Packet{frame}, pool_);
    if (!whole) {
      ++counters_.out_drops[static_cast<size_t>(DropReason::kNoBuffer)];
      return nullptr;
    }
    frame = whole.take();
  }
  if (frame->data_len >= kMinFrameBytes) return frame;
  const auto missing = static_cast<uint16_t>(kMinFrameBytes - frame->data_len);
  char* padding = rte_pktmbuf_append(frame, missing);
  if (padding == nullptr) {
    end_out(frame, DropReason::kNoBuffer);
    return nullptr;
  }
  std::memset(padding, 0, missing);
  return frame;
}

void DeviceEdge::hand_out(rte_mbuf** frames, uint32_t count) noexcept {
  if (!device_->up()) [[unlikely]] {
    end_held(DropReason::kLinkDown);
    for (uint32_t i = 0; i < count; ++i) end_out(frames[i], DropReason::kLinkDown);
    return;
  }
  const uint32_t sent = held_head_ == held_tail_ ? offer(frames, count) : 0;
  for (uint32_t i = sent; i < count; ++i) hold(frames[i]);
}

// How many the device took. They may be gone when it returns, so they are measured before.
uint32_t DeviceEdge::offer(rte_mbuf** frames, uint32_t count) noexcept {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) bytes += frames[i]->data_len;
  const uint32_t sent = device_->send(frames, count);
  for (uint32_t i = sent; i < count; ++i) bytes -= frames[i]->data_len;
  counters_.out_packets += sent;
  counters_.out_bytes += bytes;
  return sent;
}

void DeviceEdge::hold(rte_mbuf* frame) noexcept {
  if (held_bytes_ + draining_bytes() + frame->data_len > nic_config().hold_bytes)
    return end_out(frame, DropReason::kEdgeFull);
  if (held_head_ == held_tail_) seen_arrivals_ = device_->arrivals();
  held_[held_tail_++ & (held_.size() - 1)] = frame;
  held_bytes_ += frame->data_len;
}

void DeviceEdge::offer_held(Instant now) noexcept {
  const uint64_t arrivals = device_->arrivals();
  if (!device_->up() || arrivals != seen_arrivals_) {
    seen_arrivals_ = arrivals;
    return end_held(DropReason::kLinkDown);
  }
  offer_from_head();
  if (held_head_ == held_tail_) return;
  if (first_held_ != held_head_ || first_since_.is_never()) {
    first_held_ = held_head_;
    first_since_ = now;
  } else if (now - first_since_ > nic_config().hold_time) {
    rte_mbuf* stuck = held_[held_head_++ & (held_.size() - 1)];
    held_bytes_ -= stuck->data_len;
    end_out(stuck, DropReason::kEdgeFull);
  }
}

void DeviceEdge::offer_from_head() noexcept {
  while (held_head_ != held_tail_) {
    const uint64_t at = held_head_ & (held_.size() - 1);
    const uint64_t in_a_row = std::min(held_tail_ - held_head_, held_.size() - at);
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(in_a_row, kBurstSize));
    const uint64_t before = counters_.out_bytes;
    const uint32_t sent = offer(&held_[at], count);
    held_head_ += sent;
    held_bytes_ -= counters_.out_bytes - before;
    if (sent < count) return;
  }
}

void DeviceEdge::end_held(DropReason reason) noexcept {
  while (held_head_ != held_tail_) end_out(held_[held_head_++ & (held_.size() - 1)], reason);
  held_bytes_ = 0;
}

void DeviceEdge::end_out(rte_mbuf* frame, DropReason reason) noexcept {
  drop(frame, counters_.out_drops, reason);
}

void DeviceEdge::drain() noexcept {
  end_held(DropReason::kEdgeFull);
  end_waiting();
  device_->close();
}

}  // namespace softspine::dataplane
