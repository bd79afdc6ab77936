// SPDX-License-Identifier: Apache-2.0
// A paper's figure or table as numbers: rows (what is compared) by columns (under which condition).
//
//   Grid      one number a cell; kNoNumber where there is none
//   Figures   what several runs found: mean, standard deviation, least and most of each cell
//   Samples   collects a Grid of each seed, and makes Figures of them
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace softspine::tools {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

struct Grid {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> values;  // row by row

  double at(size_t row, size_t column) const { return values[row * columns.size() + column]; }
  double& at(size_t row, size_t column) { return values[row * columns.size() + column]; }
  // The same cells without a number.
  Grid emptied() const;
  void scale(double factor);
  // Of the numbers that there are; kNoNumber if there is none.
  double largest() const;
};

struct Figures {
  Grid mean;
  Grid deviation;  // 0 of one sample
  Grid least;
  Grid most;
};

// As if each cell had been found once.
Figures exactly(const Grid& grid);

class Samples {
 public:
  explicit Samples(const Grid& like) : like_(like.emptied()) {}

  void add(Grid found) { found_.push_back(std::move(found)); }
  // A cell that one of the seeds has no number for has none.
  Figures figures() const;

 private:
  Grid like_;
  std::vector<Grid> found_;
};

}  // namespace softspine::tools
