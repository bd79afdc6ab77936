// SPDX-License-Identifier: Apache-2.0
// The keys of RankKeys, in the table of a row that is one.
#pragma once

#include "control/rows/congestion_format.hpp"
#include "control/rows/name_limits.hpp"
#include "control/rows/tables.hpp"
#include "control/rows/traffic_keys.hpp"

namespace softspine::control {

// The keys behind a row's own. A Row is a RankKeys.
template <typename Row>
Table<Row> with_rank_keys(Table<Row> table) {
  using dataplane::Duration;
  const auto of = []<typename T>(T RankKeys::* member) { return static_cast<T Row::*>(member); };
  return table
      .optional("ranks", of(&RankKeys::ranks),
                "the hosts, one a rank, in the order of the ranks, those of a server together; all built-in hosts "
                "if not given")
      .optional("algorithm", of(&RankKeys::algorithm), "auto: as NCCL chooses; tree: the double binary one")
      .optional("protocol", of(&RankKeys::protocol),
                "NCCL's: simple; ll: 4 bytes of flag beside every 4 of data; ll128: 8 in 128; auto: as NCCL "
                "chooses")
      .optional("channels", of(&RankKeys::channels), "NCCL's: each takes a part of the bytes", within<uint32_t>(1, 64))
      .optional("qps", of(&RankKeys::qps), "queue pairs of a connection: NCCL_IB_QPS_PER_CONNECTION",
                within<uint32_t>(1, 128))
      .optional("scaling", of(&RankKeys::scaling),
                "of messages over a connection's queue pairs: round_robin (if not given): they take turns; split: "
                "each has a part of every one (NCCL_IB_SPLIT_DATA_ON_QPS); least_outstanding: each goes by the one "
                "with the fewest bytes that are not acknowledged (HPN)")
      .optional("ports", of(&RankKeys::ports),
                "UDP source ports of a connection's queue pairs; per_qp: from their numbers, as the kernel does it; "
                "disjoint: such that their paths share no link between switches, as far as there are such paths")
      .optional("pxn", of(&RankKeys::pxn),
                "of `direct`: a message to a GPU of another server and another rail goes to the local GPU of that rail "
                "first, by the scale-up link (NCCL_PXN_DISABLE is 0)")
      .optional("admission", of(&RankKeys::admission),
                "receiver: a message is sent when its receiver has said that there is a place for it, as NCCL "
                "does (clear-to-send); open: at once")
      .optional("clear_dscp", of(&RankKeys::clear_dscp), "of clear-to-sends: NCCL_IB_FIFO_TC; as `dscp` if not given",
                within<uint8_t>(0, 63))
      .optional("reduce_rate", of(&RankKeys::reduce_rate),
                "at which a rank reduces or copies what has come; no time if not given",
                at_least(dataplane::Rate::min()))
      .optional("post_cost", of(&RankKeys::post_cost),
                "of a rank's proxy for each message that it posts, one after the other",
                within(Duration{}, Duration::s(1)))
      .optional("start", of(&RankKeys::start), kStartHelp)
      .optional("mtu", of(&RankKeys::mtu), kPathMtuHelp, kPathMtus)
      .optional("dscp", of(&RankKeys::dscp), kDscpHelp, kDscps)
      .parameters(of(&RankKeys::reliable), kReliableKeys);
}

}  // namespace softspine::control
