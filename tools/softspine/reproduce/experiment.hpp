// SPDX-License-Identifier: Apache-2.0
// A figure or table of a paper, and how to run it: the published numbers, the testbeds, what of a report is a number of
// ours, and the claims that make up its shape.
//
// A claim is a sentence and a predicate over the numbers. The paper's own numbers fulfil it, and with one of them wrong
// they do not (tests/unit/reproduce). Parameters of a testbed come from a source, or stand in `assumed`; none was
// chosen to make a claim hold. `reason`: where ours do not fulfil it, why we believe so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/telemetry/json_fwd.hpp"
#include "tools/softspine/reproduce/figures.hpp"

namespace softspine::tools {

// kSmall: fewer nodes and bytes, in the paper's proportions. kWhole: the paper's, as far as it says.
enum class TrialSize : uint8_t { kSmall, kWhole };

struct Plan {
  std::string name;  // of the file that keeps it
  std::string text;  // the testbed
};

struct Claim {
  std::string_view text;
  bool (*holds)(const Figures& found, const Grid& published);
  std::string_view reason;
};

struct Experiment {
  std::string_view name;
  std::string_view paper;
  std::string_view figure;
  std::string_view shows;
  std::string_view unit;
  std::string_view how_read;  // the published numbers
  Grid published;
  bool is_of_best = false;  // numbers are percents of the largest one
  uint32_t seeds = 1;
  std::string_view takes;  // one core, all seeds
  std::vector<Plan> (*plans)(TrialSize size, uint64_t seed);
  // Writes the cells that the plan's run tells.
  void (*read)(const control::Json& report, size_t plan, Grid& out);
  std::vector<Claim> claims;
  std::vector<std::string_view> assumed;
};

}  // namespace softspine::tools
