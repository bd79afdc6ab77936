// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/rdma_device.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "testbeds/verbs_device/verbs_edge.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// The longest headers of a packet, as rxe counts them.
constexpr uint32_t kHeaderBytes = 80;

uint32_t rdma_mtu_of(uint32_t link_mtu) {
  uint32_t code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && (128U << (code + 1)) + kHeaderBytes <= link_mtu) ++code;
  return code;
}

PortFacts facts_of(const RdmaDevice::Config& config) {
  PortFacts facts{.state = IBV_PORT_ACTIVE,
                  .largest_mtu = IBV_MTU_4096,
                  .active_mtu = rdma_mtu_of(config.mtu),
                  .speed_mbps = config.speed_mbps};
  std::ranges::copy(config.host.mac, facts.mac);
  facts.gids[0][10] = facts.gids[0][11] = 0xff;
  store32(facts.gids[0] + 12, config.host.ipv4);
  store_ipv6(facts.gids[1], config.host.ipv6);
  return facts;
}

uint8_t ecn_of(const NicConfig& nic) {
  return controls_congestion(nic.parameters.congestion_control) ? ip::kEct0 : uint8_t{0};
}

void add_to(EdgeCounters& sum, const EdgeCounters& port) {
  sum.in_packets += port.in_packets;
  sum.in_bytes += port.in_bytes;
  sum.out_packets += port.out_packets;
  sum.out_bytes += port.out_bytes;
  for (size_t i = 0; i < sum.in_drops.size(); ++i) {
    sum.in_drops[i] += port.in_drops[i];
    sum.out_drops[i] += port.out_drops[i];
  }
}

}  // namespace

RdmaDevice::RdmaDevice(const Config& config, PacketPool& pool, const NicConfig& nic)
    : config_(config),
      responder_(config.host),
      rnic_(config.host, ecn_of(nic), pool, *this),
      handler_(rnic_, facts_of(config)),
      server_(handler_, rnic_) {}

std::expected<std::shared_ptr<RdmaDevice>, EdgeError> RdmaDevice::open(const Config& config, PacketPool& pool,
                                                                       const NicConfig& nic) {
  constexpr uint32_t kLeastMtu = 256 + kHeaderBytes;
  if (config.mtu < kLeastMtu) {
    return std::unexpected(EdgeError{config.host.name, "RDMA needs an MTU of " + std::to_string(kLeastMtu) +
                                                           ", and the link has " + std::to_string(config.mtu)});
  }
  std::shared_ptr<RdmaDevice> device{new RdmaDevice{config, pool, nic}};
  if (auto done = device->server_.listen(config.socket); !done) return std::unexpected(std::move(done.error()));
  return device;
}

uint32_t RdmaDevice::add(VerbsEdge& port) {
  ports_.push_back({.edge = &port});
  return static_cast<uint32_t>(ports_.size() - 1);
}

bool RdmaDevice::poll(Instant now) noexcept {
  bool is_used = false;
  is_asleep_ = false;
  rnic_.flush();
  rnic_.rise();
  if (now >= calls_at_) {
    is_used = server_.poll();
    calls_at_ = now + kCallsEvery / config_.dilation;
  }
  is_used = rnic_.take_doorbells() || is_used;
  if (is_used) used_at_ = now;
  if (rnic_.has_queued()) {
    rnic_.pump(now);
    for (const Port& port : ports_) port.edge->rouse(now);
  }
  if (has_use(now)) return true;
  // Once more, since what comes from now on is news.
  is_asleep_ = !server_.poll() && rnic_.rest();
  return !is_asleep_;
}

bool RdmaDevice::has_use(Instant now) noexcept {
  bool any = rnic_.has_queued() || now - used_at_ < kLinger / config_.dilation;
  for (const Port& port : ports_) any = port.edge->send_answers(now) || any;
  return any;
}

void RdmaDevice::link_changed(uint32_t port, bool up) noexcept {
  const auto has_any = [&] { return std::ranges::any_of(ports_, &Port::has_link); };
  const bool had_any = has_any();
  ports_[port].has_link = up;
  if (has_any() == had_any) return;
  handler_.set_link(up);
  rnic_.link_changed(up);
}

VerbsEdge& RdmaDevice::port_of(uint32_t sender) noexcept {
  const uint32_t wanted = config_.has_backup ? 0 : (sender & ~kRequestBit) % static_cast<uint32_t>(ports_.size());
  if (ports_[wanted].has_link) return *ports_[wanted].edge;
  const auto other = std::ranges::find_if(ports_, &Port::has_link);
  return *(other == ports_.end() ? ports_[wanted] : *other).edge;
}

void RdmaDevice::send(Packet packet, uint32_t sender, Instant now) noexcept {
  port_of(sender).leave(std::move(packet), sender, now);
}

// Of the port that is least behind: a queue pair has no more than its share in either.
Duration RdmaDevice::backlog(Instant now) const noexcept {
  Duration least = Duration::max();
  for (const Port& port : ports_) {
    if (port.has_link || ports_.size() == 1) least = std::min(least, port.edge->backlog(now));
  }
  return least == Duration::max() ? ports_.front().edge->backlog(now) : least;
}

bool RdmaDevice::keeps_too_much() const noexcept {
  return std::ranges::any_of(ports_, [](const Port& port) { return port.edge->is_full(); });
}

EdgeCounters RdmaDevice::passed() const noexcept {
  EdgeCounters sum;
  for (const Port& port : ports_) add_to(sum, port.edge->counters());
  return sum;
}

}  // namespace softspine::testbeds
