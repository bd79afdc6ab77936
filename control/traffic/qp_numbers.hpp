// SPDX-License-Identifier: Apache-2.0
// The queue pair numbers that a host gives out, by the driver that it is taken to have:
//
//   rxe     17, 18, 19 …, as rdma_rxe gives them out (16 is the management queue pair's index)
//   mlx5    one after the other from a number of the host's own, 0x100 to 0xffff. ConnectX's firmware chooses; what
//           perftest printed on such hosts looks like this (0x66e … 0x671 to 0x12f … 0x132)
//   hns     the lower three bits are a bank, and the least loaded bank gives the next number. If all queue pairs share
//           a completion queue, two banks take turns: 8, 9, 16, 17, 24 …
//   ionic   the two halves of the NIC take turns: 2, 0x800, 3, 0x801 …
//   random  any free number
//
// A number is given out once. A host that numbers in two ways (workloads may differ) has two counters.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "control/model/workload.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::control {

class QpNumbers {
 public:
  QpNumbers(size_t hosts, uint64_t seed);

  // rxe's next number of `host` is at least `qp`.
  void begin_at(uint32_t host, uint32_t qp);
  uint32_t take(uint32_t host, QpNumbering numbering);

 private:
  struct Host {
    std::array<uint32_t, kQpNumberings> given{};  // how many, by numbering
    uint32_t rxe_skipped = 0;
    uint32_t mlx5_first = 0;
    dataplane::Rng rng;
    std::unordered_set<uint32_t> used;
  };
  static uint32_t next(Host& host, QpNumbering numbering);

  std::vector<Host> hosts_;
};

}  // namespace softspine::control
