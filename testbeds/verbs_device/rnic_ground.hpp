// SPDX-License-Identifier: Apache-2.0
// What the parts of an RNIC share: its addresses, its link, its objects, what it counts.
#pragma once

#include <cstdint>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/verbs_device/rnic_counters.hpp"
#include "testbeds/verbs_device/verbs_objects.hpp"

namespace softspine::testbeds {

// Of a frame's sender, beside the number of its queue pair: it is a request, no answer.
inline constexpr uint32_t kRequestBit = 1U << 31;

// The link's side: the NIC that queues, paces and obeys pauses.
class RnicPort {
 public:
  virtual ~RnicPort() = default;
  // Rnic::left(sender) is called when it begins to leave.
  virtual void send(dataplane::Packet packet, uint32_t sender, dataplane::Instant now) noexcept = 0;
  // How long a frame that is sent now would wait, if its queue pair's rate allows it.
  virtual dataplane::Duration backlog(dataplane::Instant now) const noexcept = 0;
  // So much waits for the rates of queue pairs that nothing is to be added but acknowledgements.
  virtual bool keeps_too_much() const noexcept = 0;
  // The frames that have passed it.
  virtual dataplane::EdgeCounters passed() const noexcept = 0;
};

struct RnicGround {
  HostConfig host;  // its addresses and its gateway
  uint8_t ecn = 0;  // of packets whose queue pair says nothing
  dataplane::PacketPool& pool;
  RnicPort& port;
  VerbsObjects objects;
  RnicCounters counters;
};

}  // namespace softspine::testbeds
