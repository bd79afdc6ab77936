// SPDX-License-Identifier: Apache-2.0
// What a sweep varies: for each path of the testbed the values that it takes, in all combinations.
//
//   run.seed=0..99                        whole numbers, both ends too
//   workloads.0.message_bytes=1KiB,64KiB  commas part values, but not within brackets, braces and quotes
//   run.seed=0..1000/100,5000             every hundredth; ranges and values may be mixed
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/setting.hpp"

namespace softspine::tools {

inline constexpr uint64_t kMaxSweepRuns = 1'000'000;

struct Axis {
  std::string path;
  std::vector<std::string> values;  // one at least
};

// Of "PATH=VALUES".
std::expected<Axis, std::string> axis_of(std::string_view text);

class Combinations {
 public:
  // Axes differ in their paths.
  static std::expected<Combinations, std::string> of(std::vector<Axis> axes);

  const std::vector<Axis>& axes() const { return axes_; }
  uint64_t count() const { return count_; }
  // The value's number on each axis; the last axis varies fastest.
  std::vector<size_t> places(uint64_t number) const;
  std::vector<control::Setting> settings(uint64_t number) const;
  // A name for each axis: the shortest end of its path that no other has.
  std::vector<std::string> names() const;

 private:
  explicit Combinations(std::vector<Axis> axes) : axes_(std::move(axes)) {}
  std::vector<Axis> axes_;
  uint64_t count_ = 1;
};

}  // namespace softspine::tools
