// SPDX-License-Identifier: Apache-2.0
// Does a choice depend on an earlier one? Items in a stratum have a row (the earlier choice) and a column (the later
// one). If the two have nothing to do with each other, the columns could as well be dealt out again in any order:
//   S = pairs that share row and column
// then has the mean and the variance that Mantel's permutation test gives in closed form (Cancer Research 27, 1967),
// whatever the sizes of rows and columns: a hash that is uneven by itself, and in every row alike, depends on nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softspine::analysis {

struct Dependence {
  double shared = 0;    // pairs that share row and column
  double expected = 0;  // their mean if nothing depended
  double likely = 1;    // the probability that chance makes as many share both
  // How much more often than by chance a pair that shares a row shares the column; 1 if nothing depends.
  double strength() const { return expected > 0 ? shared / expected : 1; }
};

class DependenceTest {
 public:
  struct Item {
    uint32_t row = 0;
    uint32_t column = 0;
  };
  // Adds one stratum; sorts `items` by rows.
  void add(std::vector<Item>& items);

  // `finest`: the smallest probability that the caller distinguishes.
  Dependence result(double finest) const;
  // The same by the curve of the moments alone, without trials.
  Dependence by_curve() const;

 private:
  struct Stratum {
    size_t first = 0;  // of rows_ and columns_
    size_t count = 0;
    uint32_t columns = 0;  // how many there are
  };
  double deviations() const;
  double shared_of(const Stratum& stratum, std::span<const uint32_t> columns, std::vector<uint32_t>& counts) const;

  std::vector<Stratum> strata_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> columns_;  // from 0 in each stratum
  double shared_ = 0;
  double expected_ = 0;
  double variance_ = 0;
  double freedom_ = 0;
};

}  // namespace softspine::analysis
