// SPDX-License-Identifier: Apache-2.0
// What a NIC counts of the frames that it handles or makes. Its host's frames are counted in EdgeCounters, PFC frames
// in PortFlowControl.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

struct NicCounters {
  uint64_t made_packets = 0;       // sent into the link, made by the NIC and not by the host
  uint64_t waiting_bytes_max = 0;  // the most that ever waited for the link

  // DCQCN. The names are mlx5's, except for cases that only a NIC without queue pairs of its own can meet.
  uint64_t np_ecn_marked_roce_packets = 0;
  uint64_t np_cnp_sent = 0;
  uint64_t np_cnp_unknown = 0;  // due, but it is not known yet which queue pair sends
  uint64_t np_cnp_unsent = 0;   // due, but the packet has IP options or extension headers, which a CNP cannot copy
  uint64_t rp_cnp_handled = 0;
  uint64_t rp_cnp_ignored = 0;   // for a queue pair of which nothing is known
  uint64_t held_by_rate = 0;     // packets of the host that had to wait for their queue pair's rate
  uint64_t flows_forgotten = 0;  // since there were more flows than it can keep
};

}  // namespace softspine::dataplane
