// SPDX-License-Identifier: Apache-2.0
// The operations of one rank and what they need, while its text is read in whatever order; then its part of the work.
#pragma once

#include <cstdint>
#include <vector>

#include "control/traces/rank_graph.hpp"
#include "control/traces/recorded_work.hpp"

namespace softspine::control {

struct ReadOperation {
  OperationKind kind = OperationKind::kCompute;
  uint32_t peer = 0;
  uint32_t tag = 0;
  uint32_t cpu = 0;
  uint64_t amount = 0;  // bytes or picoseconds
  uint64_t line = 0;    // or the place that its format has instead
};

class RankBuilder {
 public:
  // Returns its number.
  uint32_t add(const ReadOperation& op) {
    operations_.push_back(op);
    return static_cast<uint32_t>(operations_.size() - 1);
  }
  void need(uint32_t operation, uint32_t other, bool started) { graph_.need(operation, other, started); }

  size_t size() const { return operations_.size(); }
  const ReadOperation& at(uint32_t operation) const { return operations_[operation]; }

  // The next rank of the work. False: nothing is written, since some of them, circle(), need each other.
  bool write(RecordedWork& work);
  const std::vector<uint32_t>& circle() const { return graph_.circle(); }
  // For the next rank.
  void clear();

 private:
  std::vector<ReadOperation> operations_;
  RankGraph graph_;
};

}  // namespace softspine::control
