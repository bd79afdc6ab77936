// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/verbs_edge.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {

using namespace dataplane;

std::expected<std::unique_ptr<VerbsEdge>, EdgeError> VerbsEdge::open(std::string name, const Config& config,
                                                                     PacketPool& pool, const NicConfig& nic) {
  auto device = RdmaDevice::open(config, pool, nic);
  if (!device) return std::unexpected(std::move(device.error()));
  return std::make_unique<VerbsEdge>(std::move(name), std::move(*device), pool, nic);
}

VerbsEdge::VerbsEdge(std::string name, std::shared_ptr<RdmaDevice> device, PacketPool& pool, const NicConfig& nic)
    : Nic(std::move(name), nic, pool), device_(std::move(device)), number_(device_->add(*this)) {}

Instant VerbsEdge::run(Instant until) noexcept {
  struct Outside {
    VerbsEdge& edge;
    Instant next() const { return edge.is_first() ? std::max(edge.rnic().next(), edge.now()) : Instant::never(); }
    void enter(Instant now) noexcept { edge.rnic().expire(now); }
    void give(Packet packet, Instant now) noexcept { edge.take(std::move(packet), now); }
    void left(uint32_t sender, Instant now) noexcept { edge.rnic().left(sender, now); }
  };
  const Instant next = run_with(until, Outside{*this});
  if (rnic().has_queued()) device_->wake();
  return next;
}

bool VerbsEdge::poll(Instant now) noexcept {
  return !now.is_never() && device_->poll(now);
}

bool VerbsEdge::send_answers(Instant now) noexcept {
  if (!answers_.empty()) {
    while (!answers_.empty()) leave(answers_.pop(), 0, now);
    rouse(now);
  }
  return is_busy(now);
}

void VerbsEdge::leave(Packet packet, uint32_t sender, Instant now) noexcept {
  host().tag.put_on(packet);
  take_in(std::move(packet), now, sender);
}

void VerbsEdge::rouse(Instant now) noexcept {
  find_next_and_wake(now);
  if (is_first()) wake(std::max(now, rnic().next()));
}

void VerbsEdge::take(Packet packet, Instant now) noexcept {
  const uint32_t bytes = packet.frame_bytes();
  device_->use(now);
  DropReason end = DropReason::kConsumed;
  if (host().tag.is_there() && !take_tag(packet, host().tag.vlan)) {
    PacketPool::release(std::move(packet));
    end = DropReason::kVlanNotAllowed;
  } else if (claims_roce({packet.data(), packet.stored_bytes(), packet.frame_bytes()})) {
    end = rnic().receive(std::move(packet), now);
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
  const Responder::Decision decision = device_->responder().consider(bytes, packet.data());
  if (decision.answer == Responder::Answer::kInPlace) {
    packet.set_flow(kNoFlow);
    answers_.push(std::move(packet));
    return DropReason::kConsumed;
  }
  DropReason end = decision.reason;
  if (decision.answer == Responder::Answer::kAdvertise) {
    end = DropReason::kNoBuffer;
    if (Packet advertisement = pool_.make(kAdvertisementBytes)) {
      device_->responder().write_advertisement(packet.data(), advertisement.data());
      answers_.push(std::move(advertisement));
      end = DropReason::kConsumed;
    }
  }
  PacketPool::release(std::move(packet));
  return end;
}

void VerbsEdge::link_changed(PortNo port, bool up, Instant now) noexcept {
  Nic::link_changed(port, up, now);
  device_->link_changed(number_, up);
}

void VerbsEdge::drain() noexcept {
  rnic().flush();
  while (!answers_.empty()) PacketPool::release(answers_.pop());
  end_waiting();
}

std::map<std::string, uint64_t> VerbsEdge::statistics() const {
  std::map<std::string, uint64_t> all;
  if (!is_first()) return all;
  for (const NamedRnicCounter& each : kRnicCounters)
    all.emplace(each.name, device_->rnic().ground().counters.*each.value);
  return all;
}

}  // namespace softspine::testbeds
