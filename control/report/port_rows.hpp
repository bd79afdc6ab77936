// SPDX-License-Identifier: Apache-2.0
// The rows of a report: what each port of a switch has counted by priority, priority group, queue and drop reason, and
// each buffer pool.
//
//   ports_json   {"tor1:Ethernet16": {"credit_tx_frames": …,
//                                     "priorities": {"3": {"pfc_tx_packets": …, "pfc_tx_pause_ps": …}},
//                                     "groups": {"3": {"headroom_watermark_bytes": …}},
//                                     "queues": {"3": {"packets": …, "ecn_marked_packets": …}},
//                                     "drops": {"queue_full": …}}, …}
//   pools_json   {"ingress_lossless_pool": {"watermark_bytes": …}, …} of one switch
//
// Zeros are left out, and so are rows and ports that have nothing else: a fabric of thousands of ports would else give
// megabytes of zeros. Gauges are left out: they do not describe the run. So are a port's own packets and bytes, which
// `links` has. Names are those of CounterFacts::row_name(). In an outline the content is unknown: {"*": null}.
#pragma once

#include "control/telemetry/counter.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// Whether rows of the report have this counter.
inline bool is_in_rows(const CounterFacts& facts) {
  return !facts.row_name().empty() && facts.nature != Nature::kNow;
}

Json ports_json(const FabricSnapshot& snapshot);
Json pools_json(const SwitchSnapshot& node);

}  // namespace softspine::control
