// SPDX-License-Identifier: Apache-2.0
// All that Prometheus reads: the fabric (control/telemetry/prometheus.hpp), and its collectives under the names and
// labels of NCCL's inspector (its plugin of NCCL 2.30, textfile mode), so that a dashboard made for it reads both:
//
//   nccl_bus_bandwidth_gbs{comm_name="c",n_nodes="4",nranks="8",collective="AllReduce",message_size="1-2MB",
//                          message_size_bytes="1048576",algo_proto="Ring_simple"} 45.2
//   nccl_collective_exec_time_microseconds{…} 40.6
//
// The value is the mean over ranks and iterations so far, in emulated time. So there is no label of one rank (node,
// gpu).
#pragma once

#include "control/telemetry/exposition.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

void add_nccl_metrics(Exposition& out, const FabricSnapshot& snapshot);
// In pages, one in memory at a time: the text of a large fabric has hundreds of megabytes.
void put_metrics_pages(const FabricSnapshot& snapshot, const Exposition::PutPage& put);

}  // namespace softspine::control
