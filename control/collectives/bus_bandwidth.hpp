// SPDX-License-Identifier: Apache-2.0
// How fast a collective was, as nccl-tests tells it.
//
//   algbw = S / t; busbw = algbw · 2(n − 1)/n for AllReduce, · (n − 1)/n for AllGather, ReduceScatter and AllToAll,
//   else as it is. S is what is moved: of those cut into blocks, whole blocks. GB/s of 10^9 bytes
//
// The table has nccl-tests' lines. Messages are the same in place and out of place, so both groups show one time.
// #wrong is N/A, as it prints without checks: no data was moved. Elements are floats.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "control/model/collective.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Bytes a second.
double algorithm_bandwidth(const CollectiveShape& shape, dataplane::Duration time);
double bus_bandwidth(const CollectiveShape& shape, dataplane::Duration time);

struct CollectiveTime {
  uint64_t bytes = 0;
  dataplane::Duration time;
};

// Of one collective at several sizes; `shape.bytes` does not matter.
std::string nccl_table(const CollectiveShape& shape, std::span<const CollectiveTime> times);

}  // namespace softspine::control
