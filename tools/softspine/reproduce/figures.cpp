// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/figures.hpp"

#include <algorithm>
#include <cmath>

namespace softspine::tools {

Grid Grid::emptied() const {
  return {.rows = rows, .columns = columns, .values = std::vector<double>(rows.size() * columns.size(), kNoNumber)};
}

void Grid::scale(double factor) {
  for (double& value : values) value *= factor;
}

double Grid::largest() const {
  double out = kNoNumber;
  for (const double value : values) {
    if (!std::isnan(value) && !(value <= out)) out = value;
  }
  return out;
}

Figures exactly(const Grid& grid) {
  Grid none = grid;
  none.scale(0);
  return {.mean = grid, .deviation = std::move(none), .least = grid, .most = grid};
}

Figures Samples::figures() const {
  Figures out{.mean = like_, .deviation = like_, .least = like_, .most = like_};
  for (size_t cell = 0; !found_.empty() && cell < like_.values.size(); ++cell) {
    const auto count = static_cast<double>(found_.size());
    double sum = 0;
    for (const Grid& each : found_) sum += each.values[cell];
    const double mean = sum / count;
    if (std::isnan(mean)) continue;
    double squares = 0;
    const auto of_cell = [cell](const Grid& each) { return each.values[cell]; };
    for (const Grid& each : found_) squares += (of_cell(each) - mean) * (of_cell(each) - mean);
    out.mean.values[cell] = mean;
    out.deviation.values[cell] = found_.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
    out.least.values[cell] = of_cell(std::ranges::min(found_, {}, of_cell));
    out.most.values[cell] = of_cell(std::ranges::max(found_, {}, of_cell));
  }
  return out;
}

}  // namespace softspine::tools
