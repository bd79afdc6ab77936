// SPDX-License-Identifier: Apache-2.0
// Which lines v = low + drift × t lie below all upper limits and above all lower ones, of a drift within ±kMaxDrift.
// clock_fit.hpp explains the limits, and which line is taken.
//
// One limit in fifty of each side may be wrong: then the lines are those that contradict the fewest limits. A
// side keeps the tightest limits of each stretch of its time and leaves the others out: they exclude no more lines.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace softspine::analysis::storm {

inline constexpr double kMaxDrift = 200e-6;

// All in picoseconds.
struct LineLimit {
  double t = 0;
  double v = 0;
};

// The lines of one drift that contradict the fewest limits.
struct LineBand {
  double low = 0;  // at t = 0
  double high = 0;
  size_t wrong = 0;  // limits that these lines contradict
  double width() const { return high - low; }
  double middle() const { return (low + high) / 2; }
  bool is_better(const LineBand& other) const {
    return wrong != other.wrong ? wrong < other.wrong : width() > other.width();
  }
};

// The upper limits, or the lower ones.
class LimitSide {
 public:
  static LimitSide upper(const std::vector<LineLimit>& all) { return {all, 1}; }
  static LimitSide lower(const std::vector<LineLimit>& all) { return {all, -1}; }

  // Limits that were left out are looser than those here, so each that is wrong is still among them.
  const std::vector<LineLimit>& limits() const { return limits_; }
  size_t may_be_wrong() const;

 private:
  LimitSide(const std::vector<LineLimit>& all, double sign);

  std::vector<LineLimit> limits_;
  size_t all_;  // before any was left out
};

class LineSearch {
 public:
  LineSearch(LimitSide upper, LimitSide lower) : upper_(std::move(upper)), lower_(std::move(lower)) {}

  size_t may_be_wrong() const { return upper_.may_be_wrong() + lower_.may_be_wrong(); }

  // If more limits are wrong than may be, no line of this drift fits.
  LineBand at(double drift);

  // The drift at which the limits are farthest apart: of all limits, or else without those that may be wrong.
  double best_drift();

  // How far from `drift` a line may still drift, towards `end`, and contradict no more than `wrong` limits.
  double reach(double drift, double end, size_t wrong);

 private:
  // `robust`: without those that may be wrong.
  double width(double drift, bool robust);
  double widest(bool robust);
  void project(double drift);

  LimitSide upper_;
  LimitSide lower_;
  std::vector<double> highs_;  // where limits of the last drift asked for meet t = 0: the tightest first
  std::vector<double> lows_;
};

}  // namespace softspine::analysis::storm
