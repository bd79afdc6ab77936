// SPDX-License-Identifier: Apache-2.0
// Reviews a testbed's traffic before anything runs: which queue, priority group and priority each workload gets on each
// link of its ways (service.hpp), which DSCPs are lossless for hosts outside, what of it cannot work (errors), and what
// is probably a mistake (warnings, those of the file's tables among them):
//   errors     a pair of hosts that certainly has no way to each other, or none that its packets fit (mtu_review.hpp)
//   warnings   a pair of hosts that has none by chance (a permutation is drawn); a DSCP that may be dropped where other
//              DSCPs, or the same one on other links, are lossless; pauses that no port obeys; a DSCP that a map
//              doesn't list; CNPs and guests' packets that WRED drops, since they aren't ECN-capable; DCQCN where
//              nothing is marked; priorities that pause without headroom, and headroom without pauses; more workers
//              than nodes
#pragma once

#include <string>
#include <vector>

#include "control/compile/outside_review.hpp"
#include "control/compile/service.hpp"

namespace softspine::control {

struct ServedLink {
  LinkEnd sender;
  Service service;
};

struct ServedWorkload {
  uint32_t workload = 0;  // of Testbed::workloads; one whose flows have several DSCPs comes with each
  uint8_t dscp = 0;
  std::vector<ServedLink> links;
};

struct Review {
  std::vector<ServedWorkload> workloads;
  OutsideService outside;
  Errors errors;
  Errors warnings;
};

Review review(const Testbed& testbed);

}  // namespace softspine::control
