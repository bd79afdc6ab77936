// SPDX-License-Identifier: Apache-2.0
// The fabric for Prometheus: text exposition format, prefix softspine_, base units (bytes, seconds).
//
//   softspine_port_tx_bytes_total{switch="tor1",port="Ethernet0"} 123
//
// Ports and queues by switch, port, queue, priority; drops by reason (only those that occurred); flows by workload,
// since there can be more of them than Prometheus wants to keep. Latencies are in emulated seconds.
//
// In a fabric whose switches have more than kPortsWithZeros ports, a part that has counted nothing has no zeros: of
// HPN's pod of 15,360 GPUs they would be 1.1 GB a scrape. A part that has counted anything has all its samples. What a
// whole port is now (up, its speed) is there in any case.
#pragma once

#include <cstddef>
#include <string>

#include "control/telemetry/exposition.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

inline constexpr size_t kPortsWithZeros = 1'024;

std::string prometheus_text(const FabricSnapshot& snapshot);
void add_prometheus(Exposition& out, const FabricSnapshot& snapshot);

}  // namespace softspine::control
