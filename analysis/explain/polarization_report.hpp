// SPDX-License-Identifier: Apache-2.0
// The findings of polarization_of and find_cures: JSON for programs, a table for people.
#pragma once

#include <string>

#include "analysis/explain/cures.hpp"
#include "analysis/explain/polarization.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

control::Json polarization_json(const control::Testbed& testbed, const Polarization& found,
                                const std::vector<Cure>& cures);
// The values that an expectation may name below `polarization.`: {flows, arrived, polarized, uneven,
// worst_max_over_mean, tiers: {NAME: {verdict, …}}}; and the same for every tier that a fabric's flows may meet,
// without numbers.
control::Json polarization_values(const Polarization& found);
control::Json polarization_outline(const control::Fabric& fabric);

std::string polarization_text(const control::Testbed& testbed, const Polarization& found);
// The cures; empty if there is nothing to cure.
std::string cures_text(const control::Testbed& testbed, const Polarization& found, const std::vector<Cure>& cures);

}  // namespace softspine::analysis
