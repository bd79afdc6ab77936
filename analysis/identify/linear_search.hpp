// SPDX-License-Identifier: Apache-2.0
// A trial's round over the linear families, on all cores. Finds are listed in the order of the families.
#pragma once

#include <functional>
#include <span>

#include "analysis/identify/trial.hpp"

namespace softspine::analysis {

// `goes_on(done)`: asked for each family, on the caller's thread; false ends the round.
void run_linear(const Trial& trial, std::span<const Family> families, const std::function<bool(size_t)>& goes_on,
                SearchResult& out);

}  // namespace softspine::analysis
