// SPDX-License-Identifier: Apache-2.0
// Two built-in hosts in virtual time, back to back or with a node of the test between them.
// When it goes, every packet must be back in its pool and every one received must be accounted for.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "testbeds/hosts/roce_host.hpp"

namespace softspine::testbeds {

using namespace dataplane;

constexpr Instant us(int64_t count) {
  return Instant::at(Duration::us(count));
}
inline uint64_t dropped(const RoceHost& host, DropReason reason) {
  return host.counters().dropped[static_cast<size_t>(reason)];
}

// Passes frames between its two ports at once, unless the test wants otherwise: the function takes each
// packet that arrives and sends what it likes.
class Meddler final : public Node {
 public:
  using Meddle = std::function<void(Meddler&, Packet)>;
  explicit Meddler(Meddle meddle) : Node("meddler", 2), meddle_(std::move(meddle)) {}

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) meddle_(*this, inbox().take_first());
    return inbox().next();
  }
  // Out of the port it did not come in by, after everything sent before.
  // It may have been changed here, so it counts as one from outside.
  void pass(Packet packet) {
    packet.meta().has_right_sums = packet.meta().is_sound = false;
    const uint16_t port = packet.meta().in_port ^ 1;
    const Instant start = std::max(packet.meta().at, free_at_[port]);
    free_at_[port] = transmitter(PortNo{port}).send(std::move(packet), start);
  }

 private:
  Meddle meddle_;
  Instant free_at_[2];
};

// Sends frames as they are, one behind the other, from port 0; keeps a copy of what comes back.
class Stranger final : public Node {
 public:
  Stranger(std::vector<std::vector<uint8_t>> frames, PacketPool& pool)
      : Node("stranger", 1), frames_(std::move(frames)), pool_(pool) {}

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) {
      Packet packet = inbox().take_first();
      heard_.emplace_back(packet.data(), packet.data() + packet.stored_bytes());
      PacketPool::release(std::move(packet));
    }
    for (; position_ < frames_.size() && free_at_ < until; ++position_) {
      const auto& frame = frames_[position_];
      Packet packet = pool_.make(static_cast<uint32_t>(frame.size()));
      std::copy(frame.begin(), frame.end(), packet.data());
      packet.meta().born = free_at_;
      free_at_ = transmitter(PortNo{0}).send(std::move(packet), free_at_);
    }
    return std::min(inbox().next(), position_ < frames_.size() ? free_at_ : Instant::never());
  }
  const std::vector<std::vector<uint8_t>>& heard() const { return heard_; }

 private:
  std::vector<std::vector<uint8_t>> frames_;
  std::vector<std::vector<uint8_t>> heard_;
  PacketPool& pool_;
  size_t position_ = 0;
  Instant free_at_;
};

inline HostConfig host_config(uint8_t n) {
  HostConfig host;
  host.name = "h" + std::to_string(n);
  host.mac = {2, 0, 0, 0, 0, n};
  host.gateway = {2, 0, 0, 0, 0, static_cast<uint8_t>(3 - n)};  // 1 and 2 are each other's
  host.ipv4 = 0x0a000000u + n;
  host.ipv6 = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n};
  return host;
}

inline FlowConfig flow_config(uint32_t id = 0) {
  FlowConfig flow;
  flow.id = id;
  flow.destination = host_config(2).ipv4;
  flow.source_qp = 100 + id;
  flow.destination_qp = 200 + id;
  flow.source_port = rxe_source_port(flow.source_qp, flow.destination_qp);
  return flow;
}

inline void expect_all_accounted(const RoceHost& host) {
  const HostCounters& seen = host.counters();
  EXPECT_EQ(seen.received_packets,
            seen.delivered_packets + seen.responses + seen.answered + seen.dropped_packets() + seen.buffered);
  uint64_t delivered = 0;
  for (uint32_t sink = 0; sink < host.sink_count(); ++sink) delivered += host.received(sink).packets;
  EXPECT_EQ(seen.delivered_packets, delivered);
  uint64_t sent = seen.answers_sent + seen.pauses_sent;
  for (uint32_t flow = 0; flow < host.flow_count(); ++flow) sent += host.sent(flow).packets;
  uint64_t on_links = 0;
  for (uint16_t port = 0; port < host.ports(); ++port) {
    on_links += host.transmitter(PortNo{port}).counters().packets;
    sent += host.flow_control(PortNo{port}).credits().tx_frames();
  }
  EXPECT_EQ(sent, on_links);
}

class TwoHosts {
 public:
  struct Setup {
    Rate rate = Rate::gbps(100);
    Duration propagation = Duration::ns(500);
    uint32_t workers = 1;
    uint32_t packets = 8191;
    Duration pfc_watchdog;   // of b's NIC
    HostTag tag = {};        // of both hosts
    Meddler::Meddle meddle;  // back to back without one
  };

  explicit TwoHosts(Setup setup)
      : pool_("two_hosts", setup.packets, kHostPacketBytes), engine_(clock_, threads(setup)) {
    HostConfig first = host_config(1);
    HostConfig second = host_config(2);
    first.tag = second.tag = setup.tag;
    const NodeId a = engine_.add(std::make_unique<RoceHost>(first, pool_), 0);
    second.parameters.pfc_watchdog = setup.pfc_watchdog;
    const NodeId b = engine_.add(std::make_unique<RoceHost>(second, pool_), 1);
    a_ = &static_cast<RoceHost&>(engine_.node(a));
    b_ = &static_cast<RoceHost&>(engine_.node(b));
    if (!setup.meddle) {
      engine_.connect({a, PortNo{0}}, {b, PortNo{0}}, setup.rate, setup.propagation);
      return;
    }
    const NodeId middle = engine_.add(std::make_unique<Meddler>(std::move(setup.meddle)), 0);
    engine_.connect({a, PortNo{0}}, {middle, PortNo{0}}, setup.rate, setup.propagation);
    engine_.connect({middle, PortNo{1}}, {b, PortNo{0}}, setup.rate, setup.propagation);
  }
  TwoHosts() : TwoHosts(Setup{}) {}
  ~TwoHosts() {
    engine_.drain();
    EXPECT_EQ(pool_.in_use(), 0u);
    for (const RoceHost* host : {a_, b_}) expect_all_accounted(*host);
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  // From a to b; indices there are in the order of the calls.
  void flow(const FlowConfig& config) {
    a_->add_flow(config);
    SinkConfig sink{.id = config.id, .qp = config.destination_qp, .first_psn = config.first_psn};
    sink.transport = config.transport;
    sink.source = host_config(1).ipv4;
    if (config.transport == TransportKind::kReliable) sink.source_qp = config.source_qp;
    sink.ack_dscp = config.dscp;
    b_->add_sink(sink);
  }
  RunEnd run(Instant end = Instant::never()) { return engine_.run(end); }

  RoceHost& a() { return *a_; }
  RoceHost& b() { return *b_; }
  Engine& engine() { return engine_; }
  PacketPool& pool() { return pool_; }

 private:
  static Engine::Config threads(const Setup& setup) {
    return {.workers = setup.workers,
            .seed = 1,
            .on_worker_start = [](uint32_t) { register_worker_thread(); },
            .on_worker_stop = [](uint32_t) { unregister_worker_thread(); }};
  }
  PacketPool pool_;
  VirtualClock clock_;
  Engine engine_;
  RoceHost* a_ = nullptr;
  RoceHost* b_ = nullptr;
};

}  // namespace softspine::testbeds
