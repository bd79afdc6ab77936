// SPDX-License-Identifier: Apache-2.0
// The table of collectives.
#include "control/rows/congestion_format.hpp"
#include "control/rows/name_limits.hpp"
#include "control/rows/tables.hpp"
#include "control/rows/traffic_keys.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

const Table<CollectiveRow>& Tables<CollectiveRow>::table() {
  static const Table<CollectiveRow> table =
      Table<CollectiveRow>("collective", "A collective operation between built-in hosts, as NCCL runs it.")
          .required("name", &CollectiveRow::name, "what counters and expectations call it", kNames)
          .required("op", &CollectiveRow::op, "what the ranks do together")
          .required("size", &CollectiveRow::size,
                    "bytes, or a list of them, which run one after the other; as nccl-tests counts them: the output of "
                    "all_gather, the input of reduce_scatter, what one rank sends in all_to_all, else the buffer")
          .optional("ranks", &CollectiveRow::ranks,
                    "the hosts, one a rank, in the order of the ranks, those of a server together; all built-in hosts "
                    "if not given")
          .optional("algorithm", &CollectiveRow::algorithm, "auto: as NCCL chooses; tree: the double binary one")
          .optional("protocol", &CollectiveRow::protocol,
                    "NCCL's: simple; ll: 4 bytes of flag beside every 4 of data; ll128: 8 in 128; auto: as NCCL "
                    "chooses")
          .optional("plan", &CollectiveRow::plan,
                    "an algorithm of one's own: MSCCL's XML, a file beside this one; algorithm and channels are its, "
                    "and the protocol, if none is named")
          .optional("iterations", &CollectiveRow::iterations, "of each size", within<uint32_t>(1, 10'000))
          .optional("root", &CollectiveRow::root, "broadcast, reduce: the rank")
          .optional("channels", &CollectiveRow::channels, "NCCL's: each takes a part of the bytes",
                    within<uint32_t>(1, 64))
          .optional("qps", &CollectiveRow::qps, "queue pairs of a connection: NCCL_IB_QPS_PER_CONNECTION",
                    within<uint32_t>(1, 128))
          .optional("scaling", &CollectiveRow::scaling,
                    "of messages over a connection's queue pairs: round_robin (if not given): they take turns; split: "
                    "each has a part of every one (NCCL_IB_SPLIT_DATA_ON_QPS)")
          .optional("admission", &CollectiveRow::admission,
                    "receiver: a message is sent when its receiver has said that there is a place for it, as NCCL "
                    "does (clear-to-send); open: at once")
          .optional("clear_dscp", &CollectiveRow::clear_dscp,
                    "of clear-to-sends: NCCL_IB_FIFO_TC; as `dscp` if not given", within<uint8_t>(0, 63))
          .optional("compute", &CollectiveRow::compute,
                    "for how long each rank computes before each iteration; times of the report are without it",
                    within(Duration{}, Duration::s(1'000)))
          .optional("reduce_rate", &CollectiveRow::reduce_rate,
                    "at which a rank reduces or copies what has come; no time if not given", at_least(Rate::min()))
          .optional("post_cost", &CollectiveRow::post_cost,
                    "of a rank's proxy for each message that it posts, one after the other",
                    within(Duration{}, Duration::s(1)))
          .optional("start", &CollectiveRow::start, kStartHelp)
          .optional("mtu", &CollectiveRow::mtu, kPathMtuHelp, kPathMtus)
          .optional("dscp", &CollectiveRow::dscp, kDscpHelp, kDscps)
          .parameters(&CollectiveRow::reliable, kReliableKeys);
  return table;
}

}  // namespace softspine::control
