// SPDX-License-Identifier: Apache-2.0
// How long each port was paused, and how long packets stayed before it, look by look: who made a port stand still.
//
//   pausers   the node at the port's other end asked it to pause. A host is the first cause. A switch is not: of its
//             own ports the one that was paused, or before which a packet stayed, for the longest time is why its
//             buffer filled. If that one was rather paused, its peer is asked for in turn; else it is congested
//
// Times are those between the last look before an interval and the first one after it. kKept looks are kept: for what
// was earlier, the first of them stands. Memory: kKept times the ports of switches and built-in hosts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/model/port_numbers.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct PortLook {
  std::array<dataplane::Duration, 8> stopped{};  // by priority: stood still for pauses, since the start
  dataplane::Duration longest_stay;              // of a packet that left since the look before
};

struct Pausers {
  std::vector<uint32_t> nodes;  // who paused the port, who paused the one that made it do so, …
  std::optional<LinkEnd> congested;
  dataplane::Duration stay;  // there
};

class PortLooks {
 public:
  static constexpr size_t kKept = 64;

  // `fabric` outlives it.
  explicit PortLooks(const Fabric& fabric);

  const PortNumbers& ports() const { return ports_; }
  // By their numbers.
  void add(dataplane::Instant at, std::vector<PortLook> ports);
  // `priorities`: bit n.
  Pausers pausers_of(LinkEnd port, uint8_t priorities, dataplane::Instant from) const;

 private:
  struct Look {
    dataplane::Instant at;
    std::vector<PortLook> ports;
  };
  dataplane::Duration stopped(size_t port, uint8_t priorities, dataplane::Instant from) const;
  dataplane::Duration longest_stay(size_t port, dataplane::Instant from) const;

  const Fabric& fabric_;
  PortNumbers ports_;
  std::deque<Look> looks_;
};

}  // namespace softspine::control
