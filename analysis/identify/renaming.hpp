// SPDX-License-Identifier: Apache-2.0
// Seeds of a linear hash that only rename the members of a group, and which of them to name.
//
// Preferred is the seed by which the members stand in the natural order of the links, if all links are known, since
// switches are wired in order. Else the smallest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/identify/constant_search.hpp"
#include "analysis/identify/fit.hpp"
#include "analysis/identify/seeds.hpp"

namespace softspine::analysis {

struct LinearFit {
  uint32_t width = 0;
  uint8_t offset = 0;
  uint32_t constant = 0;  // added to the rotated hash
};

// `fit`: of the buckets with that constant. Nothing if no seed adds a constant that does as well.
std::optional<uint32_t> seed_of(const SeedEffects& effects, const LinearFit& linear, const ConstantSearch& constants,
                                const Sample& sample, const Fit& fit);

}  // namespace softspine::analysis
