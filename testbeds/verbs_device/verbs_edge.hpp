// SPDX-License-Identifier: Apache-2.0
// The edge behind which programs of this machine have an RDMA device: its outside is an RNIC of ours (rnic.hpp), whose
// frames go through the NIC as anybody's, which paces them, obeys pauses and, if asked for, has DCQCN.
//
//   programs ── doorbells, calls ── poll ─► Rnic ── send ─► take_in ─► NIC ══► link
//      ▲ completions, payload ◄── Rnic ◄── receive ◄── give ◄── NIC ◄═════════ link
//
// Arrivals and timers are handled at their instants, doorbells and calls at the poll that finds them, and frames are
// made at polls. Calls are looked for every kCallsEvery, since that is a system call. A device that nobody has used for
// kLinger lets the worker sleep.
// Frames that are not RoCEv2 (ARP, neighbour solicitations, echo requests) are answered as a built-in host answers
// them.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>

#include "dataplane/edge/nic.hpp"
#include "testbeds/hosts/responder.hpp"
#include "testbeds/verbs_device/call_server.hpp"
#include "testbeds/verbs_device/rnic.hpp"

namespace softspine::testbeds {

class VerbsEdge final : public dataplane::Nic, private RnicPort {
 public:
  struct Config {
    HostConfig host;     // MAC, addresses, gateway and tag of the device
    std::string socket;  // to be made
    uint32_t mtu = 1500;
    uint32_t speed_mbps = 0;
    int64_t dilation = 1;
  };
  static std::expected<std::unique_ptr<VerbsEdge>, dataplane::EdgeError> open(std::string name, const Config& config,
                                                                              dataplane::PacketPool& pool,
                                                                              const dataplane::NicConfig& nic);

  dataplane::Instant run(dataplane::Instant until) noexcept override;
  bool wants_poll() const override { return true; }
  bool poll(dataplane::Instant now) noexcept override;
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept override;
  void drain() noexcept override;
  std::map<std::string, uint64_t> statistics() const override;
  // Its objects may be changed between windows.
  Rnic& rnic() { return rnic_; }

 private:
  static constexpr dataplane::Duration kCallsEvery = dataplane::Duration::us(20);  // wall time, as kLinger
  static constexpr dataplane::Duration kLinger = dataplane::Duration::ms(1);

  VerbsEdge(std::string name, const Config& config, dataplane::PacketPool& pool, const dataplane::NicConfig& nic);

  void send(dataplane::Packet packet, uint32_t sender, dataplane::Instant now) noexcept override;
  dataplane::Duration backlog(dataplane::Instant now) const noexcept override { return behind(now); }
  bool keeps_too_much() const noexcept override { return Nic::keeps_too_much(); }
  const dataplane::EdgeCounters& passed() const noexcept override { return counters_; }
  void take(dataplane::Packet packet, dataplane::Instant now) noexcept;
  dataplane::DropReason answer(dataplane::Packet packet) noexcept;

  Config config_;
  Responder responder_;
  Rnic rnic_;
  DeviceCallsHandler handler_;
  CallServer server_;
  dataplane::PacketList answers_;  // that leave at the next poll
  dataplane::Instant calls_at_;
  dataplane::Instant used_at_;
};

}  // namespace softspine::testbeds
