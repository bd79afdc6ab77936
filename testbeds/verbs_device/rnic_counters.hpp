// SPDX-License-Identifier: Apache-2.0
// What an RNIC counts, by rxe's names as far as it has one. The report has them under edges.HOST.statistics, programs
// below ports/1/hw_counters (device_files.hpp).
#pragma once

#include <cstdint>

namespace softspine::testbeds {

struct RnicCounters {
  uint64_t sent_pkts = 0;
  uint64_t rcvd_pkts = 0;
  uint64_t duplicate_request = 0;
  uint64_t out_of_seq_request = 0;
  uint64_t rcvd_rnr_err = 0;
  uint64_t send_rnr_err = 0;
  uint64_t rcvd_seq_err = 0;
  uint64_t retry_exceeded_err = 0;
  uint64_t retry_rnr_exceeded_err = 0;
  uint64_t completer_retry_err = 0;  // timeouts
  uint64_t send_err = 0;             // packets for which there was no memory
  uint64_t link_downed = 0;
  uint64_t rdma_sends = 0;
  uint64_t rdma_recvs = 0;
  uint64_t unknown_qp = 0;  // packets for no queue pair that takes them
  uint64_t retransmitted_pkts = 0;
  uint64_t queue_pair_errors = 0;
  uint64_t cq_overflows = 0;
};

struct NamedRnicCounter {
  const char* name;
  uint64_t RnicCounters::* value;
};
inline constexpr NamedRnicCounter kRnicCounters[] = {
    {"sent_pkts", &RnicCounters::sent_pkts},
    {"rcvd_pkts", &RnicCounters::rcvd_pkts},
    {"duplicate_request", &RnicCounters::duplicate_request},
    {"out_of_seq_request", &RnicCounters::out_of_seq_request},
    {"rcvd_rnr_err", &RnicCounters::rcvd_rnr_err},
    {"send_rnr_err", &RnicCounters::send_rnr_err},
    {"rcvd_seq_err", &RnicCounters::rcvd_seq_err},
    {"retry_exceeded_err", &RnicCounters::retry_exceeded_err},
    {"retry_rnr_exceeded_err", &RnicCounters::retry_rnr_exceeded_err},
    {"completer_retry_err", &RnicCounters::completer_retry_err},
    {"send_err", &RnicCounters::send_err},
    {"link_downed", &RnicCounters::link_downed},
    {"rdma_sends", &RnicCounters::rdma_sends},
    {"rdma_recvs", &RnicCounters::rdma_recvs},
    {"unknown_qp", &RnicCounters::unknown_qp},
    {"retransmitted_pkts", &RnicCounters::retransmitted_pkts},
    {"queue_pair_errors", &RnicCounters::queue_pair_errors},
    {"cq_overflows", &RnicCounters::cq_overflows},
};
static_assert(sizeof(RnicCounters) == sizeof(uint64_t) * (sizeof kRnicCounters / sizeof *kRnicCounters),
              "a counter without a name is one that nobody sees");

}  // namespace softspine::testbeds
