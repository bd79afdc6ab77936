// SPDX-License-Identifier: Apache-2.0
// What a NIC counts: frames as it met or made them. What it did with those of its host stands in EdgeCounters, PFC
// frames in PortFlowControl.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

struct NicCounters {
  uint64_t made_packets = 0;       // sent into the link, and not the host's
  uint64_t waiting_bytes_max = 0;  // the most that ever waited for the link

  // DCQCN; the names are mlx5's, but for those of what only a NIC without queue pairs of its own can meet.
  uint64_t np_ecn_marked_roce_packets = 0;
  uint64_t np_cnp_sent = 0;
  uint64_t np_cnp_unknown = 0;  // due, but it is not known yet which queue pair sends
  uint64_t np_cnp_unsent = 0;   // due, but the packet has IP options or extension headers, which a CNP cannot copy
  uint64_t rp_cnp_handled = 0;
  uint64_t rp_cnp_ignored = 0;   // for a queue pair of which nothing is known
  uint64_t held_by_rate = 0;     // packets of the host that had to wait for their queue pair's rate
  uint64_t flows_forgotten = 0;  // since there were more than it can keep
};

}  // namespace softspine::dataplane
