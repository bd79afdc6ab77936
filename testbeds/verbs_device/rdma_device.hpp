// SPDX-License-Identifier: Apache-2.0
// The RDMA device of one host: its RNIC (rnic.hpp), its programs' calls, and the NICs by which its frames leave
// (verbs_edge.hpp): one, or the two ports of a bond, which programs see as one port, as ConnectX shows a bond.
//
//   programs ── doorbells, calls ── poll ─► Rnic ── send ─► a port's NIC ══► link
//      ▲ completions, payload ◄── Rnic ◄── receive ◄── the NIC that it arrived at ◄═ link
//
// All ports are polled and run by one worker. A queue pair's frames leave by one port: its number's remainder, as
// ConnectX's queue affinity deals them, or with a backup the first port; by another one while the link of that is down.
// What waits at a port whose link goes down is lost there, and sent again by the other.
// Calls are looked for every kCallsEvery, since that is a system call. A device that nobody has used for kLinger, and
// that has nothing to send, sleeps: it is polled again when its descriptor is readable. Calls, doorbells, arrivals and
// timers see to that.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/edge/nic_config.hpp"
#include "testbeds/hosts/responder.hpp"
#include "testbeds/verbs_device/call_server.hpp"
#include "testbeds/verbs_device/rnic.hpp"

namespace softspine::testbeds {

class VerbsEdge;

class RdmaDevice final : private RnicPort {
 public:
  struct Config {
    HostConfig host;     // MAC, addresses, gateway and tag of the device
    std::string socket;  // to be made
    uint32_t mtu = 1500;
    uint32_t speed_mbps = 0;  // of all ports together
    int64_t dilation = 1;
    bool has_backup = false;  // of two ports: the second is used while the first has no link
  };
  static std::expected<std::shared_ptr<RdmaDevice>, dataplane::EdgeError> open(const Config& config,
                                                                               dataplane::PacketPool& pool,
                                                                               const dataplane::NicConfig& nic);

  // Its objects may be changed between windows.
  Rnic& rnic() { return rnic_; }
  const Rnic& rnic() const { return rnic_; }
  const Config& config() const { return config_; }
  Responder& responder() { return responder_; }

  // The next of its ports: its number.
  uint32_t add(VerbsEdge& port);
  // For the first port's poll. False: it sleeps.
  bool poll(dataplane::Instant now) noexcept;
  int poll_descriptor() const { return server_.descriptor(); }
  void use(dataplane::Instant now) noexcept {
    used_at_ = now;
    wake();
  }
  // From a port's run: there may be something to do for a poll.
  void wake() noexcept {
    if (std::exchange(is_asleep_, false)) server_.nudge();
  }
  void link_changed(uint32_t port, bool up) noexcept;

 private:
  static constexpr dataplane::Duration kCallsEvery = dataplane::Duration::us(20);  // wall time, as kLinger
  static constexpr dataplane::Duration kLinger = dataplane::Duration::ms(1);

  RdmaDevice(const Config& config, dataplane::PacketPool& pool, const dataplane::NicConfig& nic);

  void send(dataplane::Packet packet, uint32_t sender, dataplane::Instant now) noexcept override;
  dataplane::Duration backlog(dataplane::Instant now) const noexcept override;
  bool keeps_too_much() const noexcept override;
  dataplane::EdgeCounters passed() const noexcept override;
  VerbsEdge& port_of(uint32_t sender) noexcept;
  bool has_use(dataplane::Instant now) noexcept;

  struct Port {
    VerbsEdge* edge;
    bool has_link = true;
  };
  Config config_;
  Responder responder_;
  Rnic rnic_;
  DeviceCallsHandler handler_;
  CallServer server_;
  std::vector<Port> ports_;
  dataplane::Instant calls_at_;
  dataplane::Instant used_at_;
  bool is_asleep_ = false;
};

}  // namespace softspine::testbeds
