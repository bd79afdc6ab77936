// SPDX-License-Identifier: Apache-2.0
// One flow through a fabric with two spines, for tests of faults by arithmetic: a packet leaves each microsecond, so as
// many are lost as microseconds pass.
#pragma once

#include <string>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {

// 1,000 packets from h1 to h2. A frame of 1098 + 24 bytes at 8.976 Gb/s is 1 us.
inline std::string paced(const std::string& more) {
  return R"(
name: paced
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}
)" + more;
}

// Which of the spines carries the flow, from 1 on: tor1's and tor2's port to spine n is Ethernet4n.
inline int used_spine() {
  const Outcome out = run_text(paced(""));
  return out.report["links"]["tor1:Ethernet4"]["tx_packets"].get<uint64_t>() > 0 ? 1 : 2;
}

}  // namespace softspine::testbeds
