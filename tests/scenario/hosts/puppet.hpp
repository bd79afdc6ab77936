// SPDX-License-Identifier: Apache-2.0
// A host against a puppet: a node that sends what the test says when it says, and keeps what it hears, with instants.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/packet/materialise.hpp"
#include "dataplane/packet/pfc.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {

using Bytes = std::vector<uint8_t>;

inline constexpr uint8_t kLossless = 3;  // DSCP and priority

struct Heard {
  Instant started;  // first bit left the host
  Instant at;       // last bit arrived
  Bytes frame;      // whole

  uint16_t type() const { return load16(frame.data() + ethernet::kType); }
  uint8_t dscp() const { return type() == ethernet::kTypeIpv4 ? frame[ethernet::kBytes + ipv4::kTos] >> 2 : 0; }
  const uint8_t* bth() const { return frame.data() + ethernet::kBytes + ipv4::kMinBytes + udp::kBytes; }
  uint8_t opcode() const { return bth()[bth::kOpcode]; }
  uint32_t psn() const { return load24(bth() + bth::kPsn); }
  const uint8_t* extension() const { return bth() + bth::kBytes; }
};

class Puppet final : public Node {
 public:
  explicit Puppet(PacketPool& pool) : Node("puppet", 1), pool_(pool) {}

  // In the order of their instants; a frame waits for the one before it.
  void say(Instant at, Bytes frame) { script_.push_back({at, std::move(frame)}); }
  const std::vector<Heard>& heard() const { return heard_; }

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) {
      Packet packet = inbox().take_first();
      Packet whole = materialise(packet, pool_);
      heard_.push_back(
          {packet.meta().born, packet.meta().at, Bytes(whole.data(), whole.data() + whole.stored_bytes())});
      PacketPool::release(std::move(whole));
      PacketPool::release(std::move(packet));
    }
    for (; position_ < script_.size() && next() < until; ++position_) {
      const Bytes& frame = script_[position_].frame;
      Packet packet = pool_.make(static_cast<uint32_t>(frame.size()));
      std::copy(frame.begin(), frame.end(), packet.data());
      const Instant start = next();
      packet.meta().born = start;
      free_at_ = transmitter(PortNo{0}).send(std::move(packet), start);
    }
    return std::min(inbox().next(), next());
  }

 private:
  struct Line {
    Instant at;
    Bytes frame;
  };
  Instant next() const {
    return position_ < script_.size() ? std::max(script_[position_].at, free_at_) : Instant::never();
  }

  std::vector<Line> script_;
  std::vector<Heard> heard_;
  PacketPool& pool_;
  size_t position_ = 0;
  Instant free_at_;
};

class HostAndPuppet {
 public:
  explicit HostAndPuppet(const HostConfig& config = host_config(1), Rate rate = Rate::gbps(100))
      : pool_("puppet", 16383, kMaxFrameBytes), engine_(clock_, {.workers = 1, .seed = 1}) {
    const NodeId a = engine_.add(std::make_unique<RoceHost>(config, pool_), 0);
    const NodeId b = engine_.add(std::make_unique<Puppet>(pool_), 0);
    host_ = &static_cast<RoceHost&>(engine_.node(a));
    puppet_ = &static_cast<Puppet&>(engine_.node(b));
    engine_.connect({a, PortNo{0}}, {b, PortNo{0}}, rate, kPropagation);
  }
  ~HostAndPuppet() {
    engine_.drain();
    EXPECT_EQ(pool_.in_use(), 0u);
    expect_all_accounted(*host_);
  }
  HostAndPuppet(const HostAndPuppet&) = delete;
  HostAndPuppet& operator=(const HostAndPuppet&) = delete;

  RoceHost& host() { return *host_; }
  Puppet& puppet() { return *puppet_; }
  Engine& engine() { return engine_; }
  RunEnd run(Instant end = Instant::never()) { return engine_.run(end); }
  // When a frame of so many bytes that the puppet sends at `at` is all there.
  Instant arrival(Instant at, uint32_t bytes) const {
    return at + host_->transmitter(PortNo{0}).rate().time_of_frame(bytes) + kPropagation;
  }

  static constexpr Duration kPropagation = Duration::ns(500);

 private:
  PacketPool pool_;
  VirtualClock clock_;
  Engine engine_;
  RoceHost* host_ = nullptr;
  Puppet* puppet_ = nullptr;
};

inline Bytes pfc_frame(uint8_t mask, uint16_t quanta) {
  Bytes frame(mac_control::kFrameBytes);
  write_pfc(frame.data(), {2, 0, 0, 0, 0, 2}, PfcFrame::of(mask, quanta));
  return frame;
}

}  // namespace softspine::testbeds
