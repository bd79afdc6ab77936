// SPDX-License-Identifier: Apache-2.0
// What an acknowledgement tells a congestion control. Packets of a queue pair are counted from 0 on; those sent again
// keep their number.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/packet/telemetry_field.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct Acknowledgement {
  uint64_t bytes = 0;           // payload that was acknowledged for the first time
  uint64_t packets = 0;         // likewise
  uint64_t acked = 0;           // all packets before this one are acknowledged
  uint64_t next = 0;            // the packet that is sent next
  std::optional<Duration> rtt;  // if it is that of a packet that asked and was sent once
  bool ecn = false;             // it was marked with CE itself
  bool echo = false;            // the packet that it names came marked with CE
  uint8_t hops = 0;             // that it took itself: 64, its TTL at the receiver, less the TTL that is left
  const telemetry::Record* telemetry = nullptr;  // of the packet that it names; null: it brings none
};

}  // namespace softspine::dataplane
