// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/dependence.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/explain/likelihood.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace {

// A partition of items: ordered pairs of one part, and the sum of the squares of each item's partners.
struct Partition {
  double pairs = 0;
  double partners2 = 0;
  uint32_t parts = 0;
  void add(double size) {
    pairs += size * (size - 1);
    partners2 += size * (size - 1) * (size - 1);
    ++parts;
  }
};

// The parts of values that are in order.
Partition partition_of(std::span<const uint32_t> sorted) {
  Partition out;
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    out.add(static_cast<double>(end - i));
    i = end;
  }
  return out;
}

// Mantel's second moment of the ordered pairs that share both: the same pair, pairs with one item in common, and none.
double second_moment(const Partition& rows, const Partition& columns, double n) {
  const auto one_in_common = [](const Partition& p) { return 4 * p.partners2 - 4 * p.pairs; };
  const auto none_in_common = [](const Partition& p) { return p.pairs * p.pairs + 2 * p.pairs - 4 * p.partners2; };
  double out = 2 * rows.pairs * columns.pairs / (n * (n - 1));
  if (n > 2) out += one_in_common(rows) * one_in_common(columns) / (4 * n * (n - 1) * (n - 2));
  if (n > 3) out += none_in_common(rows) * none_in_common(columns) / (n * (n - 1) * (n - 2) * (n - 3));
  return out;
}

}  // namespace

void DependenceTest::add(std::vector<Item>& items) {
  if (items.size() < 2) return;
  std::ranges::sort(items, {}, &Item::row);
  std::vector<uint32_t> rows;
  std::vector<uint32_t> columns;
  for (const Item& item : items) {
    rows.push_back(item.row);
    columns.push_back(item.column);
  }
  std::vector<uint32_t> sorted = columns;
  std::ranges::sort(sorted);
  const Partition by_row = partition_of(rows);
  const Partition by_column = partition_of(sorted);
  // Strata of one row or one column, or without pairs in either, carry no information.
  if (by_row.parts < 2 || by_column.parts < 2 || by_row.pairs == 0 || by_column.pairs == 0) return;
  const auto n = static_cast<double>(items.size());
  const double mean = by_row.pairs * by_column.pairs / (n * (n - 1));
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  for (uint32_t& column : columns)
    column = static_cast<uint32_t>(std::ranges::lower_bound(sorted, column) - sorted.begin());
  const Stratum stratum{rows_.size(), rows.size(), by_column.parts};
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  columns_.insert(columns_.end(), columns.begin(), columns.end());
  strata_.push_back(stratum);
  std::vector<uint32_t> counts;
  shared_ += shared_of(stratum, std::span{columns_}.subspan(stratum.first), counts);
  expected_ += mean / 2;
  variance_ += std::max(0.0, second_moment(by_row, by_column, n) - mean * mean) / 4;
  freedom_ += static_cast<double>(by_row.parts - 1) * static_cast<double>(by_column.parts - 1);
}

double DependenceTest::shared_of(const Stratum& stratum, std::span<const uint32_t> columns,
                                 std::vector<uint32_t>& counts) const {
  counts.assign(stratum.columns, 0);
  double shared = 0;
  const uint32_t* rows = rows_.data() + stratum.first;
  size_t begin = 0;
  for (size_t i = 0; i < stratum.count; ++i) {
    if (rows[i] != rows[begin]) {
      for (; begin < i; ++begin) counts[columns[begin]] = 0;
    }
    shared += counts[columns[i]]++;
  }
  return shared;
}

double DependenceTest::deviations() const {
  return variance_ > 0 ? (shared_ - expected_) / std::sqrt(variance_) : 0;
}

Dependence DependenceTest::by_curve() const {
  Dependence out{.shared = shared_, .expected = expected_};
  if (variance_ <= 0) return out;
  const double skewness = std::max(1 / std::sqrt(expected_), std::sqrt(8 / freedom_));
  out.likely = upper_tail(deviations(), skewness);
  return out;
}

Dependence DependenceTest::result(double finest) const {
  Dependence out = by_curve();
  if (variance_ <= 0 || !needs_trials(deviations(), out.likely, expected_)) return out;
  dataplane::Rng rng{1, 1};
  std::vector<uint32_t> dealt = columns_;
  std::vector<uint32_t> counts;
  out.likely = tried_tail(finest, [&] {
    double shared = 0;
    for (const Stratum& stratum : strata_) {
      const auto columns = std::span{dealt}.subspan(stratum.first, stratum.count);
      for (size_t i = stratum.count; i > 1; --i) std::swap(columns[i - 1], columns[rng.below(i)]);
      shared += shared_of(stratum, columns, counts);
    }
    return shared >= shared_ - 0.5;
  });
  return out;
}

}  // namespace softspine::analysis
