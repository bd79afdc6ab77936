// SPDX-License-Identifier: Apache-2.0
// Ports and queues under the names that SAI gives them and SONiC's COUNTERS_DB keeps them by:
//
//   {"tor1": {"Ethernet0":     {"SAI_PORT_STAT_IF_IN_OCTETS": 1234, …},
//             "Ethernet0:3":   {"SAI_QUEUE_STAT_PACKETS": 12, …},
//             "Ethernet0|PG3": {"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES": 4096, …}, …
//             "ingress_lossless_pool": {"SAI_BUFFER_POOL_STAT_WATERMARK_BYTES": 8192, …}, …}, …}
//
// Priority groups, pools and what a queue holds in cells exist only for switches with BUFFER_* tables.
//
// Where SAI's names leave room for interpretation:
//   *_OCTETS         frames without FCS, as everywhere here
//   IF_IN_ERRORS     malformed frames: truncated, bad version, checksum or length, oversize
//   IF_IN_DISCARDS   every other frame that came in here and was dropped, except those that a queue refused
//   IF_OUT_DISCARDS  frames that a queue refused, at the port that they were bound for
//   PFC_n_*_PKTS     PFC frames that name priority n; ON2OFF: pauses of it that ended
//   *_BYTES of groups, pools and shared use: whole cells
// Frames that were consumed (PFC, addressed to the switch) count in none of these.
#pragma once

#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

Json counters_json(const FabricSnapshot& snapshot);

struct PortDiscards {
  uint64_t in_errors = 0;
  uint64_t in_discards = 0;
  uint64_t out_discards = 0;
};
PortDiscards discards_of(const dataplane::PortCounters& port);

// The entries of `counters`, made by counters_json(), whose names begin with `prefix`.
Json counters_with(const Json& counters, std::string_view prefix);

}  // namespace softspine::control
