// SPDX-License-Identifier: Apache-2.0
// What the operations of one rank need of each other, as they stand in a file, in any order.
//
// Kept by numbers as the file counts them. `order()` gives one in which each operation comes behind those that it
// needs, and else as early as the file has it. Without one there is a circle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softspine::control {

class RankGraph {
 public:
  void clear();
  // `started`: it is enough that the other has started.
  void need(uint32_t operation, uint32_t other, bool started) {
    (started ? started_ : done_).push_back(uint64_t{operation} << 32 | other);
    goes_forward_ |= other >= operation;
  }
  // After all need(), of so many operations: needs are sorted, each once. Returns the order, or nothing: see circle().
  std::vector<uint32_t> order(uint32_t operations);
  // Operations, each of which needs the next, and the last the first.
  const std::vector<uint32_t>& circle() const { return circle_; }

  // After order(): the lower 32 bits are what it needs.
  std::span<const uint64_t> done_needs(uint32_t operation) const { return of(done_, operation); }
  std::span<const uint64_t> started_needs(uint32_t operation) const { return of(started_, operation); }

 private:
  static std::span<const uint64_t> of(const std::vector<uint64_t>& needs, uint32_t operation);
  std::vector<uint32_t> sorted(uint32_t operations);
  void find_circle(const std::vector<uint32_t>& missing);

  std::vector<uint64_t> done_;
  std::vector<uint64_t> started_;
  bool goes_forward_ = false;
  std::vector<uint32_t> circle_;
};

}  // namespace softspine::control
