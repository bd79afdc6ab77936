// SPDX-License-Identifier: Apache-2.0
// One switch with a station at every port, on the virtual clock: a frame goes in, what comes out is
// compared byte by byte.
//
//   port 0, 1   VLAN 10 untagged        10.0.10.0/24  fd00:10::/64   gateway .1
//   port 2      VLAN 10 and 20 tagged   10.0.20.0/24  fd00:20::/64   gateway .1
//   port 3      VLAN 20 untagged
//   port 4, 5   routed, to the fabric: static adjacencies to station 104 and 105
//   port 6, 7   routed subnets          10.0.30.0/24  fd00:30::/64   gateway .1   and 10.0.40.0/24 …
//
//   10.1.0.0/16  fd00:101::/32   adjacency 4         10.2.0.0/16  fd00:102::/32   group of 4 and 5
//   10.3.0.0/16  fd00:103::/32   group of nobody     10.4.0.0/16  fd00:104::/32   adjacency 5, MTU 1500
//   10.255.0.1   fd00:255::1     the switch itself (loopback)
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "dataplane/engine/engine.hpp"
#include "pipelines/aggregation.hpp"
#include "pipelines/core.hpp"
#include "pipelines/tor.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/scenario/fabric_environment.hpp"
#include "tests/scenario/switch/conservation.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::tests {

using dataplane::DropReason;
using dataplane::Duration;
using dataplane::ForwardingState;
using dataplane::Instant;
using dataplane::PortNo;
using dataplane::Rate;

inline constexpr uint16_t kBenchPorts = 8;
inline constexpr Mac kRouter{0x02, 0xaa, 0, 0, 0, 0x01};
inline constexpr Rate kBenchRate = Rate::gbps(100);
inline constexpr Duration kBenchPropagation = Duration::ns(500);
inline constexpr uint32_t kBenchQueueBytes = 64 * 1024;
inline const Mac kPeer = station(104);  // at port 4

// The tables of the picture above.
ForwardingState bench_state();
dataplane::Prefix prefix4(const std::string& address, uint8_t length);
dataplane::AddressBytes address_of(const Bytes& bytes);

// From a station at port 6 to port 4; `dscp` chooses the queue (46 → 5, 48 → 6, 3 → 3, 0 → 1, 8 → 0), `id` tells it
// from others.
inline Bytes data_frame(uint8_t dscp, uint16_t id, size_t payload = 966) {
  const Bytes packet =
      ipv4_packet({.from = ip4("10.0.30.2"), .to = ip4("10.1.0.1"), .tos = static_cast<uint8_t>(dscp << 2), .id = id},
                  counting(payload));
  return ethernet_frame(kRouter, station(6), 0x0800, packet);
}

// What arrived at the station of a port.
struct Frame {
  uint16_t port;
  Bytes bytes;
  friend bool operator==(const Frame&, const Frame&) = default;
  friend void PrintTo(const Frame& frame, std::ostream* out) {
    *out << "\n  " << frame.port << ": " << std::hex << std::setfill('0');
    for (size_t i = 0; i < frame.bytes.size(); ++i)
      *out << std::setw(2) << int{frame.bytes[i]} << (i % 2 == 1 ? " " : "");
    *out << std::dec;
  }
};
// In the order of the ports, at one port in the order of arrival.
using Frames = std::vector<Frame>;

template <typename Role>
class Bench {
 public:
  explicit Bench(ForwardingState state = bench_state(), dataplane::PacketPool& pool = packet_pool())
      : engine_(clock_, dataplane::Engine::Config{}) {
    using namespace dataplane;
    const NodeId id = engine_.add(std::make_unique<Role>("dut", kBenchPorts, pool), 0);
    switch_ = static_cast<Role*>(&engine_.node(id));
    publish(std::move(state));
    for (uint16_t p = 0; p < kBenchPorts; ++p) {
      const NodeId probe = engine_.add(std::make_unique<Probe>(packet_pool()), 0);
      probes_.push_back(static_cast<Probe*>(&engine_.node(probe)));
      engine_.connect({id, PortNo{p}}, {probe, PortNo{0}}, kBenchRate, kBenchPropagation);
    }
    seen_.resize(kBenchPorts);
    engine_.run(Instant{});
  }
  ~Bench() {
    run();
    expect_at_rest(*switch_);
    expect_links_conserved();
    engine_.drain();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void publish(ForwardingState state, Instant now = {}) {
    switch_->publish(std::make_shared<const ForwardingState>(std::move(state)), now);
  }

  // From the station at `port`, at `at` or when its wire is free.
  void send_at(Instant at, uint16_t port, Bytes frame, uint32_t frame_bytes = 0) {
    probes_[port]->send_at(at, std::move(frame), frame_bytes);
    engine_.wake(probes_[port]->id(), at);
  }
  void send(uint16_t port, Bytes frame, uint32_t frame_bytes = 0) {
    send_at(engine_.now(), port, std::move(frame), frame_bytes);
  }
  // Until nothing moves; what arrived at the stations since the last call.
  Frames run() {
    engine_.run(engine_.now() + Duration::ms(1));
    Frames out;
    for (uint16_t p = 0; p < kBenchPorts; ++p) {
      for (; seen_[p] < probes_[p]->arrivals().size(); ++seen_[p]) {
        out.push_back({p, probes_[p]->arrivals()[seen_[p]].bytes});
      }
    }
    return out;
  }
  Frames exchange(uint16_t port, Bytes frame, uint32_t frame_bytes = 0) {
    send(port, std::move(frame), frame_bytes);
    return run();
  }
  // What was dropped since the last call, by reason; reasons without a drop are left out.
  std::map<std::string_view, uint64_t> drops() {
    std::map<std::string_view, uint64_t> found;
    for (size_t reason = 0; reason < dataplane::kDropReasons; ++reason) {
      uint64_t sum = 0;
      for (const auto& port : switch_->counters()) sum += port.drops[reason];
      if (sum != drops_[reason]) found[name_of(static_cast<DropReason>(reason))] = sum - drops_[reason];
      drops_[reason] = sum;
    }
    return found;
  }
  // Between runs.
  void set_link(uint16_t port, bool up) { engine_.set_link({switch_->id(), PortNo{port}}, up, engine_.now()); }
  // The station says who it is by asking for the gateway, and is answered.
  void introduce4(uint16_t port, const Mac& mac, const std::string& address, const std::string& gateway) {
    const Bytes question = arp_packet(1, mac, ip4(address), Mac{}, ip4(gateway));
    const Bytes answer = arp_packet(2, kRouter, ip4(gateway), mac, ip4(address));
    EXPECT_EQ(exchange(port, ethernet_frame(kAll, mac, 0x0806, question)),
              (Frames{{port, ethernet_frame(mac, kRouter, 0x0806, answer)}}));
  }
  void introduce6(uint16_t port, const Mac& mac, const Bytes& address, const Bytes& gateway) {
    const Bytes question = solicitation(address, solicited_group(gateway), gateway, mac);
    EXPECT_EQ(exchange(port, ethernet_frame(solicited_mac(gateway), mac, 0x86dd, question)),
              (Frames{{port, ethernet_frame(mac, kRouter, 0x86dd,
                                            advertisement(gateway, address, gateway, kRouter, 0xe0))}}));
  }

  Role& node() { return *switch_; }
  dataplane::Probe& probe(uint16_t port) { return *probes_[port]; }
  const std::vector<dataplane::Probe::Arrival>& arrivals(uint16_t port) const { return probes_[port]->arrivals(); }
  // Not until nothing moves: for this long.
  void run_for(Duration time) { engine_.run(engine_.now() + time); }
  dataplane::Engine& engine() { return engine_; }
  const dataplane::PortCounters& counters(uint16_t port) const { return switch_->counters()[port]; }

 private:
  // Every frame put on a wire arrived, or was lost with its link and counted.
  void expect_links_conserved() {
    uint64_t sent = 0;
    uint64_t ended = engine_.lost_on_links();
    for (uint16_t p = 0; p < kBenchPorts; ++p) {
      for (const dataplane::Node* side :
           {static_cast<dataplane::Node*>(switch_), static_cast<dataplane::Node*>(probes_[p])}) {
        const auto& wire = side->transmitter(PortNo{side == switch_ ? p : uint16_t{0}}).counters();
        sent += wire.packets;
        ended += wire.lost_packets + wire.vanished_packets + wire.damaged_packets;
      }
      ended += switch_->counters()[p].rx_packets + probes_[p]->arrivals().size();
    }
    EXPECT_EQ(sent, ended) << "sent = received + lost on links";
  }

  dataplane::VirtualClock clock_;
  dataplane::Engine engine_;
  Role* switch_ = nullptr;
  std::vector<dataplane::Probe*> probes_;
  std::vector<size_t> seen_;
  dataplane::DropCounters drops_{};
};

using Drops = std::map<std::string_view, uint64_t>;

}  // namespace softspine::tests
