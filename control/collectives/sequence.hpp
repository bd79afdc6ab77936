// SPDX-License-Identifier: Apache-2.0
// One rank's work over a whole run: collectives one behind the other.
//
//   joint 0 · collective 0 · joint 1 · collective 1 · … · joint n
//
// A joint needs all operations before it, and takes the time that the rank computes before the next collective; the
// first one waits for the start, too. So the collective i begins at this rank when joint i is done, and has ended when
// joint i + 1 starts. Ranks do not wait for each other between two of them, as
// NCCL's kernels on one stream do not. The stream of a collective is made at its joint.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control/model/collective_run.hpp"
#include "control/traffic/graph.hpp"

namespace softspine::control {

class CollectiveSequence final : public WorkStream {
 public:
  // Each shape `iterations` times, in their order. `run` outlives it.
  CollectiveSequence(const CollectiveRun& run, uint32_t rank) : run_(run), rank_(rank) {}

  bool next(Operation& out) noexcept override;

 private:
  size_t count() const { return run_.shapes.size() * run_.iterations; }
  void join(Operation& out);

  const CollectiveRun& run_;
  uint32_t rank_;
  std::unique_ptr<WorkStream> current_;
  size_t begun_ = 0;  // collectives
  bool is_over_ = false;
  uint64_t given_ = 0;   // operations
  uint64_t before_ = 0;  // of them before the first of the current collective
  std::vector<uint64_t> needs_;
};

}  // namespace softspine::control
