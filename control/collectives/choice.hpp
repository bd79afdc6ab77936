// SPDX-License-Identifier: Apache-2.0
// NCCL's choice of algorithm and protocol: the least expected time. Its tuning model of 2.30, for Hopper's table of
// bandwidths, without NVLS, CollNet and PAT.
//
//   time = latency + bytes / bandwidth; µs and GB/s; n ranks on N servers, p = n / N; o: what posting takes
//
//   ring latency   base + (steps − net steps) · max(NVLink, o) + net steps · network; steps 2(n − 1) and 2(N − 1) for
//                  AllReduce, half of each else. Simple on several servers: · 1.4. AllReduce alone has that factor
//   tree latency   base + 2 · ((p − 1) · NVLink + ⌊log2 N⌋ · network)
//   ring bandwidth B = channels · rate. LL min(B / 2, m), LL128 min(0.92 B, channels · 36.7), Simple B. Divided by
//                  2(n − 1)/n for AllReduce, (n − 1)/n for AllGather and ReduceScatter, 1 for the others
//   tree bandwidth T = min(0.92 B, channels · t). LL min(T / 3.8, m), LL128 min(T · 15/16, or · 7/9 in one server,
//                  channels · l), Simple T. Halved; of 64 B to 512 MiB times a correction for each power of two
//   on 1, 2, more servers: m = 141, 39, 20.4 (22.5 and 19 with AMD's processors), t = 38.7, 41.4, 36,
//                  l = 36.7, 36.7, 29
//
// AllToAll and SendRecv have one algorithm, direct, and LL up to 16 KiB a pair and channel. NCCL has no halving and
// doubling, and no hierarchy: a protocol for these is Simple.
#pragma once

#include <cstdint>

#include "control/model/collective.hpp"

namespace softspine::control {

struct NcclCluster {
  uint32_t servers = 1;
  uint32_t channels = 1;       // that the search of its graphs found, before it doubles them
  double channel_gbytes = 45;  // GB/s of one
  bool amd_hosts = false;      // posting takes 2 µs there instead of 1
};

// µs. Of the ring, or of the tree for AllReduce.
double expected_us(const CollectiveShape& shape, const NcclCluster& cluster);

// The shape without kAuto; what is named stays.
CollectiveShape choose(const CollectiveShape& shape, const NcclCluster& cluster);

}  // namespace softspine::control
