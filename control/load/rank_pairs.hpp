// SPDX-License-Identifier: Apache-2.0
// Who sends to whom, and by what, for the ranks of one collective or training: the model's RankTraffic, and the
// workload that its flows are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "control/document/reader.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/rank_keys.hpp"

namespace softspine::control {

class RankPairs {
 public:
  // `workload`: the number of the row's own, whose hosts are the ranks' as the file names them.
  RankPairs(Reader& reader, const Fabric& fabric, const RankKeys& row, uint32_t workload, Testbed& testbed);

  const RankTraffic& traffic() const { return traffic_; }
  // What joins a server's GPUs is one thing. False, as of all others: it has complained.
  bool has_one_scale_up();
  // Messages of a collective of some ranks, `times` times. `rank_of`: of the shape's rank, among all. Its channels are
  // those from `first_channel` on.
  bool take(const CollectiveShape& shape, std::span<const uint32_t> rank_of, uint64_t times, uint32_t first_channel,
            Value where);
  // At last: fills the workload, and adds that of the clear-to-sends.
  RankTraffic finish();

 private:
  bool is_one_server(uint32_t a, uint32_t b) const;
  void add_clears();

  Reader& reader_;
  const Fabric& fabric_;
  const RankKeys& row_;
  Testbed& testbed_;
  RankTraffic traffic_;
  // Messages by (from, to, channel).
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> connections_;
};

}  // namespace softspine::control
