// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/nic.hpp"

#include "dataplane/edge/nic_congestion.hpp"
#include "dataplane/edge/roce_rewrite.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pfc.hpp"

namespace softspine::dataplane {

namespace {

constexpr PortNo kLink{0};
constexpr Duration kRetry = Duration::us(1);

// Bytes that may wait for the rates of queue pairs: enough for some of rdma_rxe's, which have 128 packets under way
// each.
constexpr uint64_t kKeptBytesLimit = 1U << 20;
constexpr uint64_t kKeptPacketsLimit = 1024;

bool is_plain_config(const NicConfig& config) {
  return config.pfc_enable == 0 && config.parameters.rate.is_zero() &&
         !controls_congestion(config.parameters.congestion_control) && !config.parameters.dscp &&
         config.parameters.source_port == 0;
}

bool is_mac_control(const Packet& packet) {
  return packet.stored_bytes() >= ethernet::kBytes &&
         load16(packet.data() + ethernet::kType) == ethernet::kTypeMacControl;
}

uint8_t priority_of(const NicConfig& config, const Packet& parsed) {
  const PacketMeta& meta = parsed.meta();
  const bool is_ip = (meta.flags & (kIsIpv4 | kIsIpv6)) != 0;
  return config.priority_of_dscp[is_ip ? meta.dscp_ecn >> 2 : 0];
}

// Of a pause, as a host's.
Remark remark_of_host(Remark made) {
  switch (made) {
    case Remark::kXoff: return Remark::kHostFull;
    case Remark::kXon: return Remark::kHostDrained;
    default: return Remark::kXoffAgain;
  }
}

}  // namespace

Nic::Nic(std::string name, const NicConfig& config, PacketPool& pool)
    : Node(std::move(name), 1), pool_(pool), config_(config), is_plain_(is_plain_config(config)) {
  flow_control_.plan({.link = config.link, .pfc_enabled = config.pfc_enable, .credit = {}}, Instant{});
  if (!controls_congestion(config.parameters.congestion_control)) return;
  congestion_ = std::make_unique<NicCongestion>(config, nic_counters_);
  cnp_bit_ = static_cast<uint8_t>(1U << config.priority_of_dscp[config.parameters.cnp_dscp]);
}

Nic::~Nic() = default;

uint64_t Nic::kept_packets() const {
  return congestion_ ? congestion_->packets() : 0;
}
uint64_t Nic::waiting_packets() const {
  return send_.packets() + released_.packets() + kept_packets();
}
bool Nic::keeps_too_much() const {
  return congestion_ && (congestion_->bytes() > kKeptBytesLimit || congestion_->packets() > kKeptPacketsLimit);
}

// ── to the fabric

void Nic::take_in(Packet packet, Instant now, uint32_t sender) noexcept {
  parse(packet);
  packet.meta().at = now;
  packet.meta().next_hop = sender;
  if ((packet.meta().flags & kIsRoce) != 0) {
    if (config_.parameters.dscp) set_dscp(packet, *config_.parameters.dscp);
    if (config_.parameters.source_port != 0) set_source_port(packet, config_.parameters.source_port);
  }
  const uint8_t priority = priority_of(config_, packet);
  send_.push(std::move(packet), priority);
  nic_counters_.waiting_bytes_max = std::max(nic_counters_.waiting_bytes_max, send_.bytes());
}

// One thing: a PFC frame, a CNP, or a frame of the host, of whose sender it tells.
uint32_t Nic::depart(Instant now) noexcept {
  uint32_t sender = 0;
  if (flow_control_.next_frame() <= now) {
    send_pause(now);
    find_next();
    return sender;
  }
  const auto free = static_cast<uint8_t>(~flow_control_.advance(now));
  if ((free & cnp_bit_) != 0 && !cnps_.empty() && cnps_.front().at <= now) {
    ++nic_counters_.made_packets;
    flow_control_.leaves(cnp_bit_, transmit(cnps_.pop(), now));
  } else if (Packet packet = next_of_host(free, now)) {
    ++counters_.in_packets;
    counters_.in_bytes += packet.frame_bytes();
    sender = packet.meta().next_hop;
    const auto priority = static_cast<uint8_t>(1U << priority_of(config_, packet));
    flow_control_.leaves(priority, transmit(std::move(packet), now));
  }
  find_next();
  return sender;
}

// Packets that the rates of their queue pairs have released go first, since they have waited longer. Empty if none may
// leave now.
Packet Nic::next_of_host(uint8_t free, Instant now) noexcept {
  if (congestion_ == nullptr) return send_.pop(free, now);
  while (congestion_->due() <= now) {
    Packet packet = congestion_->take(now);
    if (!packet) continue;
    packet.meta().at = now;
    const uint8_t priority = priority_of(config_, packet);
    released_.push(std::move(packet), priority);
  }
  if (Packet packet = released_.pop(free, now)) return packet;
  while (Packet packet = send_.pop(free, now)) {
    if (!congestion_->keeps(packet, now, transmitter(kLink).rate())) return packet;
  }
  return Packet{};
}

// Returns when its last bit has left; a host slower than its link is not free again then.
Instant Nic::transmit(Packet packet, Instant now) noexcept {
  packet.meta().born = now;
  const Duration own = rate().time_of_frame(packet.frame_bytes());
  const Instant left = transmitter(kLink).send(std::move(packet), now);
  free_at_ = std::max(left, now + own);
  return left;
}

void Nic::send_pause(Instant now) noexcept {
  Packet packet = pool_.make(mac_control::kFrameBytes);
  if (!packet) [[unlikely]] {
    return flow_control_.defer_frames(now + kRetry);
  }
  const Transmitter& wire = transmitter(kLink);
  const FlowControlFrame made =
      flow_control_.make_frame(packet.data(), config_.mac, wire.rate(), wire.propagation(), now);
  packet.meta().remark = remark_of_host(made.remark);
  ++nic_counters_.made_packets;
  (void)transmit(std::move(packet), now);
}

// Everything but the port's being busy, folded into one instant.
void Nic::find_next() noexcept {
  next_ = flow_control_.next_frame();
  const uint8_t paused = flow_control_.blocked();
  next_ = std::min(next_, send_.ready(static_cast<uint8_t>(~paused)));
  uint8_t waiting = send_.waiting();
  if (congestion_) {
    next_ = std::min({next_, congestion_->due(), released_.ready(static_cast<uint8_t>(~paused))});
    if (!cnps_.empty() && (paused & cnp_bit_) == 0) next_ = std::min(next_, cnps_.front().at);
    waiting = static_cast<uint8_t>(waiting | released_.waiting() | (cnps_.empty() ? 0 : cnp_bit_));
  }
  if ((waiting & paused) != 0) next_ = std::min(next_, flow_control_.next_change());
}

// ── to the host

// Empty if it was not for the host, or not yet.
Packet Nic::receive(Packet packet, Instant now) noexcept {
  count_arrival(packet);
  if (is_mac_control(packet)) [[unlikely]] {
    return receive_mac_control(std::move(packet), now);
  }
  if (congestion_) {
    parse(packet);
    if (inspect(packet, now)) {
      end_out(std::move(packet), DropReason::kConsumed);
      return Packet{};
    }
  }
  if (is_full_) [[unlikely]] {
    parse(packet);
    if (const bool is_lossless = (config_.pfc_enable >> priority_of(config_, packet) & 1) != 0; !is_lossless) {
      end_out(std::move(packet), DropReason::kEdgeFull);
      return Packet{};
    }
  }
  if (config_.parameters.rate.is_zero()) return packet;
  drain_later(std::move(packet), now);
  return Packet{};
}

// Whether it ends here. A CNP that answers it will leave.
bool Nic::inspect(const Packet& packet, Instant now) noexcept {
  NicCongestion::Inspection seen = congestion_->inspect(packet, now, pool_);
  if (seen.answer) {
    cnps_.push(std::move(seen.answer));
    find_next();
  }
  return seen.ends_here;
}

// Empty, unless it is for the host's own adapter.
Packet Nic::receive_mac_control(Packet packet, Instant now) noexcept {
  const auto frame = read_pfc(packet.data(), packet.stored_bytes());
  if (!frame) {
    end_out(std::move(packet), frame.error());
    return Packet{};
  }
  flow_control_.receive(*frame, transmitter(kLink).rate(), now);
  if (config_.parameters.relay_pfc) return packet;
  end_out(std::move(packet), DropReason::kPfcConsumed);
  find_next();
  return Packet{};
}

void Nic::drain_later(Packet packet, Instant now) noexcept {
  if (draining_bytes_ + held_bytes_ + packet.frame_bytes() > config_.hold_bytes) {
    return end_out(std::move(packet), DropReason::kEdgeFull);
  }
  if (draining_.empty()) drained_at_ = std::max(drained_at_, now) + rate().time_of_frame(packet.frame_bytes());
  draining_bytes_ += packet.frame_bytes();
  ++draining_packets_;
  draining_.push(std::move(packet));
  update_xoff(now);
}

Packet Nic::take_drained(Instant now) noexcept {
  Packet packet = draining_.pop();
  draining_bytes_ -= packet.frame_bytes();
  --draining_packets_;
  if (!draining_.empty()) drained_at_ = now + rate().time_of_frame(draining_.front().frame_bytes);
  update_xoff(now);
  return packet;
}

void Nic::report_held(uint64_t bytes, Instant now) noexcept {
  held_bytes_ = bytes;
  update_xoff(now);
}

void Nic::update_xoff(Instant now) noexcept {
  const uint64_t bytes = held_bytes_ + draining_bytes_;
  counters_.held_bytes_max = std::max(counters_.held_bytes_max, bytes);
  if (config_.pfc_enable == 0) return;
  if (bytes > config_.xoff_bytes && !is_full_) {
    is_full_ = true;
    flow_control_.raise_xoff(config_.pfc_enable, now);
  } else if (bytes <= config_.xon_bytes && is_full_) {
    is_full_ = false;
    flow_control_.clear_xoff(config_.pfc_enable, now);
  } else {
    return;
  }
  find_next();
}

void Nic::end_out(Packet packet, DropReason reason) noexcept {
  ++counters_.out_drops[static_cast<size_t>(reason)];
  PacketPool::release(std::move(packet));
}

// ── both

void Nic::link_changed(PortNo, bool up, Instant now) noexcept {
  flow_control_.link_changed(up, now);
  find_next();
  wake(std::max(now, departure()));
  link_is_up_ = up;
  update_carrier();
}

void Nic::set_outside_lost(bool lost) noexcept {
  outside_is_lost_ = lost;
  update_carrier();
}

void Nic::update_carrier() noexcept {
  const bool gives = link_is_up_ || outside_is_lost_;
  if (should_give_carrier_.exchange(gives, std::memory_order_acq_rel) == gives || carrier_bell_ == nullptr) return;
  carrier_bell_->fetch_add(1, std::memory_order_release);
  carrier_bell_->notify_one();
}

std::expected<void, EdgeError> Nic::give_carrier(bool carrier) {
  if (!carrier) gives_carrier_.store(false, std::memory_order_release);
  auto shown = show_carrier(carrier);
  if (carrier) gives_carrier_.store(true, std::memory_order_release);
  return shown;
}

void Nic::see_carrier(bool carrier) noexcept {
  if (!should_give_carrier() || !gives_carrier_.load(std::memory_order_acquire)) return;
  has_had_carrier_ = has_had_carrier_ || carrier;
  outside_has_carrier_ = carrier || !has_had_carrier_;
}

void Nic::end_waiting() noexcept {
  const auto end_in = [this](Packet packet) {
    ++counters_.in_drops[static_cast<size_t>(DropReason::kLinkDown)];
    PacketPool::release(std::move(packet));
  };
  while (Packet packet = send_.pop(0xff, Instant::never())) end_in(std::move(packet));
  while (Packet packet = released_.pop(0xff, Instant::never())) end_in(std::move(packet));
  while (Packet packet = congestion_ ? congestion_->take_any() : Packet{}) end_in(std::move(packet));
  while (!cnps_.empty()) PacketPool::release(cnps_.pop());
  while (!draining_.empty()) {
    Packet packet = draining_.pop();
    draining_bytes_ -= packet.frame_bytes();
    --draining_packets_;
    end_out(std::move(packet), DropReason::kEdgeFull);
  }
  next_ = Instant::never();
}

void Nic::lose_outside(EdgeError how, Instant now) noexcept {
  if (outside_is_gone_) return;
  outside_is_gone_ = true;
  faults_.push_back({std::move(how), now});
}

}  // namespace softspine::dataplane
