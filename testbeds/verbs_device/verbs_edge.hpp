// SPDX-License-Identifier: Apache-2.0
// A port of a host whose programs have an RDMA device of ours (rdma_device.hpp), which is its outside: the device's
// frames go through the NIC as anybody's, which paces them, obeys pauses and, if asked for, has DCQCN.
//
// Arrivals and timers are handled at their instants, doorbells and calls at the poll that finds them, and frames are
// made at polls. The first port polls the device, for all ports, and keeps its timers.
// Frames that are not RoCEv2 (ARP, neighbour solicitations, echo requests) are answered as a built-in host answers
// them, by the port at which they came.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string>

#include "dataplane/edge/nic.hpp"
#include "testbeds/verbs_device/rdma_device.hpp"

namespace softspine::testbeds {

class VerbsEdge final : public dataplane::Nic {
 public:
  using Config = RdmaDevice::Config;
  // With a device of its own.
  static std::expected<std::unique_ptr<VerbsEdge>, dataplane::EdgeError> open(std::string name, const Config& config,
                                                                              dataplane::PacketPool& pool,
                                                                              const dataplane::NicConfig& nic);
  // The next port of the device.
  VerbsEdge(std::string name, std::shared_ptr<RdmaDevice> device, dataplane::PacketPool& pool,
            const dataplane::NicConfig& nic);

  dataplane::Instant run(dataplane::Instant until) noexcept override;
  bool wants_poll() const override { return is_first(); }
  int poll_descriptor() const override { return is_first() ? device_->poll_descriptor() : -1; }
  bool poll(dataplane::Instant now) noexcept override;
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept override;
  void drain() noexcept override;
  // The device's, at its first port.
  std::map<std::string, uint64_t> statistics() const override;
  const std::shared_ptr<RdmaDevice>& device() const { return device_; }
  Rnic& rnic() { return device_->rnic(); }

  // For the device, at a poll: a frame, and after all of them.
  void leave(dataplane::Packet packet, uint32_t sender, dataplane::Instant now) noexcept;
  void rouse(dataplane::Instant now) noexcept;
  dataplane::Duration backlog(dataplane::Instant now) const noexcept { return behind(now); }
  bool is_full() const noexcept { return keeps_too_much(); }
  // True if its NIC has something to do.
  bool send_answers(dataplane::Instant now) noexcept;

 private:
  void take(dataplane::Packet packet, dataplane::Instant now) noexcept;
  dataplane::DropReason answer(dataplane::Packet packet) noexcept;
  bool is_first() const { return number_ == 0; }
  const HostConfig& host() const { return device_->config().host; }

  std::shared_ptr<RdmaDevice> device_;
  uint32_t number_;
  dataplane::PacketList answers_;  // that leave at the next poll
};

}  // namespace softspine::testbeds
