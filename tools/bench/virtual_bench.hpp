// SPDX-License-Identifier: Apache-2.0
// How fast the virtual clock runs: built-in hosts on a leaf–spine, headers and ICRCs for real, payload
// left out. A packet through one switch is one packet-hop.
//
//   8 hosts ─ leaf ═ 8 ═ spine      8 leaves × 8 spines, 64 hosts; with 1,024 hosts 32 of each, with 4,096 hosts 64
//
// permutation: each host writes at line rate to one in another rack: three switches a packet.
// incast: all hosts but one write to it, together at its line rate.
// The result depends neither on the number of workers nor on how windows nest: the checksum shows it.
#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"

namespace softspine::tools {

struct VirtualBench {
  enum class Pattern : uint8_t { kPermutation, kIncast };
  Pattern pattern = Pattern::kPermutation;
  uint32_t workers = 1;
  dataplane::Duration simulated = dataplane::Duration::ms(1);
  dataplane::Rate rate = dataplane::Rate::gbps(400);
  uint32_t radix = 8;  // leaves, spines, and hosts of a leaf
  bool flat = false;   // one window for all, as short as the shortest cable needs it
  dataplane::Duration host_propagation = dataplane::Duration::ns(15);  // 3 m
  dataplane::Duration fabric_propagation = dataplane::Duration::ns(500);
  uint32_t path_mtu = 1024;
  uint32_t qps = 4;  // of each flow
  uint64_t seed = 1;
};

struct VirtualResult {
  double packet_hops_per_second = 0;
  double packet_hops_per_cpu_second = 0;  // with one worker, what an undisturbed core would do
  double slowdown = 0;                    // wall time / simulated time
  uint64_t packet_hops = 0;
  uint64_t delivered = 0;
  uint64_t drops = 0;
  uint64_t windows = 0;
  uint64_t checksum = 0;  // of what every flow received, and when
};

// start_eal() comes first.
VirtualResult run_virtual_bench(const VirtualBench& bench);

}  // namespace softspine::tools
