// SPDX-License-Identifier: Apache-2.0
// A column of a sweep as a picture, over the axis with the most to show.
//
//   lines   x: an axis of numbers; a line for each combination of the others; the mean over the repeated axis, with a
//           bar for its 95 % confidence interval
//   heat    x and y: the two axes; the value as colour, and written
//   boxes   a box for each combination: median, quartiles, least and most of the repeated axis
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "tools/softspine/sweep/sweep_table.hpp"

namespace softspine::tools {

enum class SweepPictureKind : uint8_t { kLines, kHeat, kBoxes };

struct SweepPictureWish {
  std::optional<SweepPictureKind> kind;  // none: as the axes suggest
  std::string column;                    // empty: the first
  std::optional<size_t> over;            // the repeated axis
};

// SVG, the whole file; the error is a sentence.
std::expected<std::string, std::string> sweep_picture(const SweepResult& result, const SweepPictureWish& wish);

}  // namespace softspine::tools
