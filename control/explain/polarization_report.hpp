// SPDX-License-Identifier: Apache-2.0
// What polarization_of and try_cures have found: JSON for programs, a table for people, a picture.
#pragma once

#include <string>

#include "control/explain/cures.hpp"
#include "control/explain/polarization.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

Json polarization_json(const Fabric& fabric, const Polarization& found, const std::vector<Cure>& cures);
std::string polarization_text(const Polarization& found, const std::vector<Cure>& cures);

// SVG: a strip for each tier, a bar for each link in the order of switches; as high as its flows over the mean, and
// coloured by them: blue below, grey about, red above.
std::string polarization_picture(const Fabric& fabric, const Polarization& found);

}  // namespace softspine::control
