// SPDX-License-Identifier: Apache-2.0
// Where the buffers of a testbed's switches trigger, as sonic-mgmt's QoS tests count it: one-cell frames come in at one
// port, for a port that sends nothing, while the rest of the switch is empty, and are counted until something happens.
// Found by filling the switch's own buffer (dataplane/buffer/mmu.hpp), not by a formula.
//
//   xoff         the frame with which XOFF is raised                       pkts_num_trig_pfc
//   xon_after    frames that must leave after that until it is cleared     pkts_num_dismiss_pfc
//   first_drop   the first frame that is dropped, and why                  pkts_num_trig_ingr_drp, or
//                                                                          pkts_num_trig_egr_drp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::control {

struct Thresholds {
  std::string node;                // the first whose profile this is
  std::string profile;             // of the switch
  std::string buffer_profile;      // of the priority group; lossy: of the queue
  std::vector<std::string> ports;  // of the node, all alike
  uint8_t number = 0;              // of the priority group; lossy: of the queue
  bool lossless = false;
  uint32_t cell_bytes = 0;
  uint64_t reserved_cells = 0;
  std::optional<uint64_t> xoff;  // absent: never
  std::optional<uint64_t> xon_after;
  std::optional<uint64_t> first_drop;
  dataplane::DropReason reason = dataplane::DropReason::kCount;
  uint64_t headroom_pool_cells = 0;  // of the port's slice; 0: none
};

// Lossless priority groups and lossy queues of one switch of each profile that has buffers, by profile, then number.
std::vector<Thresholds> thresholds_of(const Testbed& testbed);

}  // namespace softspine::control
