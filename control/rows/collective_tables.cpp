// SPDX-License-Identifier: Apache-2.0
// The table of collectives.
#include "control/rows/rank_key_table.hpp"

namespace softspine::control {

using dataplane::Duration;

const Table<CollectiveRow>& Tables<CollectiveRow>::table() {
  using Row = CollectiveRow;
  static const Table<Row> table = with_rank_keys(
      Table<Row>("collective", "A collective operation between built-in hosts, as NCCL runs it.")
          .required("name", static_cast<std::string Row::*>(&Row::name), "what counters and expectations call it",
                    kNames)
          .required("op", &Row::op, "what the ranks do together")
          .required("size", &Row::size,
                    "bytes, or a list of them, which run one after the other; as nccl-tests counts them: the output of "
                    "all_gather, the input of reduce_scatter, what one rank sends in all_to_all, else the buffer")
          .optional("plan", &Row::plan,
                    "an algorithm of one's own: MSCCL's XML, a file beside this one; algorithm and channels are its, "
                    "and the protocol, if none is named")
          .optional("iterations", static_cast<uint32_t Row::*>(&Row::iterations), "of each size",
                    within<uint32_t>(1, 10'000))
          .optional("root", &Row::root, "broadcast, reduce: the rank")
          .optional("compute", &Row::compute,
                    "for how long each rank computes before each iteration; times of the report are without it",
                    within(Duration{}, Duration::s(1'000))));
  return table;
}

}  // namespace softspine::control
