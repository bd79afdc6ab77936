// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/verbs_edge.hpp"

#include <algorithm>
#include <utility>

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

PortFacts facts_of(const VerbsEdge::Config& config) {
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

}  // namespace

VerbsEdge::VerbsEdge(std::string name, const Config& config, PacketPool& pool, const NicConfig& nic)
    : Nic(std::move(name), nic, pool),
      config_(config),
      responder_(config.host),
      rnic_(config.host, ecn_of(nic), pool, *this),
      handler_(rnic_, facts_of(config)),
      server_(handler_, rnic_) {}

std::expected<std::unique_ptr<VerbsEdge>, EdgeError> VerbsEdge::open(std::string name, const Config& config,
                                                                     PacketPool& pool, const NicConfig& nic) {
  constexpr uint32_t kLeastMtu = 256 + kHeaderBytes;
  if (config.mtu < kLeastMtu) {
    return std::unexpected(EdgeError{name, "RDMA needs an MTU of " + std::to_string(kLeastMtu) + ", and the link has " +
                                               std::to_string(config.mtu)});
  }
  std::unique_ptr<VerbsEdge> edge{new VerbsEdge{std::move(name), config, pool, nic}};
  if (auto done = edge->server_.listen(config.socket); !done) return std::unexpected(std::move(done.error()));
  return edge;
}

Instant VerbsEdge::run(Instant until) noexcept {
  struct Outside {
    VerbsEdge& edge;
    Instant next() const { return std::max(edge.rnic_.next(), edge.now()); }
    void enter(Instant now) noexcept { edge.rnic_.expire(now); }
    void give(Packet packet, Instant now) noexcept { edge.take(std::move(packet), now); }
    void left(uint32_t sender, Instant now) noexcept { edge.rnic_.left(sender, now); }
  };
  const Instant next = run_with(until, Outside{*this});
  rnic_.flush();
  return next;
}

bool VerbsEdge::poll(Instant now) noexcept {
  if (now.is_never()) return false;
  bool is_used = false;
  if (now >= calls_at_) {
    is_used = server_.poll();
    calls_at_ = now + kCallsEvery / config_.dilation;
  }
  is_used = rnic_.take_doorbells() || is_used;
  if (is_used) used_at_ = now;
  if (rnic_.has_queued() || !answers_.empty()) {
    while (!answers_.empty()) send(answers_.pop(), 0, now);
    rnic_.pump(now);
    find_next_and_wake(now);
    wake(std::max(now, rnic_.next()));
  }
  return is_busy(now) || rnic_.has_queued() || now - used_at_ < kLinger / config_.dilation;
}

void VerbsEdge::send(Packet packet, uint32_t sender, Instant now) noexcept {
  config_.host.tag.put_on(packet);
  take_in(std::move(packet), now, sender);
}

void VerbsEdge::take(Packet packet, Instant now) noexcept {
  const uint32_t bytes = packet.frame_bytes();
  used_at_ = now;
  DropReason end = DropReason::kConsumed;
  if (config_.host.tag.is_there() && !take_tag(packet, config_.host.tag.vlan)) {
    PacketPool::release(std::move(packet));
    end = DropReason::kVlanNotAllowed;
  } else if (claims_roce({packet.data(), packet.stored_bytes(), packet.frame_bytes()})) {
    end = rnic_.receive(std::move(packet), now);
  } else {
    end = answer(std::move(packet));
  }
  if (end != DropReason::kConsumed) {
    ++counters_.out_drops[static_cast<size_t>(end)];
    return;
  }
  ++counters_.out_packets;
  counters_.out_bytes += bytes;
}

DropReason VerbsEdge::answer(Packet packet) noexcept {
  const FrameBytes bytes{packet.data(), packet.stored_bytes(), packet.frame_bytes()};
  const Responder::Decision decision = responder_.consider(bytes, packet.data());
  if (decision.answer == Responder::Answer::kInPlace) {
    packet.set_flow(kNoFlow);
    answers_.push(std::move(packet));
    return DropReason::kConsumed;
  }
  DropReason end = decision.reason;
  if (decision.answer == Responder::Answer::kAdvertise) {
    end = DropReason::kNoBuffer;
    if (Packet advertisement = pool_.make(kAdvertisementBytes)) {
      responder_.write_advertisement(packet.data(), advertisement.data());
      answers_.push(std::move(advertisement));
      end = DropReason::kConsumed;
    }
  }
  PacketPool::release(std::move(packet));
  return end;
}

void VerbsEdge::link_changed(PortNo port, bool up, Instant now) noexcept {
  Nic::link_changed(port, up, now);
  handler_.set_link(up);
  rnic_.link_changed(up);
}

void VerbsEdge::drain() noexcept {
  rnic_.flush();
  while (!answers_.empty()) PacketPool::release(answers_.pop());
  end_waiting();
}

std::map<std::string, uint64_t> VerbsEdge::statistics() const {
  std::map<std::string, uint64_t> all;
  for (const NamedRnicCounter& each : kRnicCounters) all.emplace(each.name, rnic_.ground().counters.*each.value);
  return all;
}

}  // namespace softspine::testbeds
