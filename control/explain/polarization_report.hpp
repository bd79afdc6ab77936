// SPDX-License-Identifier: Apache-2.0
// What polarization_of and find_cures have found: JSON for programs, a table for people.
#pragma once

#include <string>

#include "control/explain/cures.hpp"
#include "control/explain/polarization.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

Json polarization_json(const Testbed& testbed, const Polarization& found, const std::vector<Cure>& cures);
std::string polarization_text(const Polarization& found);
// What cures it; empty if there is nothing to cure.
std::string cures_text(const Testbed& testbed, const Polarization& found, const std::vector<Cure>& cures);

}  // namespace softspine::control
