// SPDX-License-Identifier: Apache-2.0
// The fabric for Prometheus: text exposition format, prefix softspine_, base units (bytes, seconds).
//
//   softspine_port_tx_bytes_total{switch="tor1",port="Ethernet0"} 123
//
// Ports and queues by switch, port, queue, priority; drops by reason (only those that occurred); flows by workload,
// since there can be more of them than Prometheus wants to keep. Latencies are in emulated seconds.
#pragma once

#include <string>

#include "control/telemetry/exposition.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string prometheus_text(const FabricSnapshot& snapshot);
void add_prometheus(Exposition& out, const FabricSnapshot& snapshot);

}  // namespace softspine::control
