// SPDX-License-Identifier: Apache-2.0
// A comparison in words: JSON for programs, tables for people. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "analysis/explain/comparison.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

// {flows, agree, differ, undecided, without_choice, tiers: […], compared: [{source, …, verdict, hops: […]}]}
control::Json comparison_json(const control::Fabric& fabric, const std::vector<SightedFlow>& flows,
                              const PathComparison& found);

// `rows`: of each list at most so many.
std::string comparison_text(const control::Fabric& fabric, const std::vector<SightedFlow>& flows,
                            const PathComparison& found, size_t rows);

}  // namespace softspine::analysis
