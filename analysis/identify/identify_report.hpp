// SPDX-License-Identifier: Apache-2.0
// The identified hash: JSON for programs, text for people, and a profile for testbed files.
#pragma once

#include <string>

#include "analysis/identify/identification.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

control::Json identification_json(const Identification& found);
std::string identification_text(const Identification& found);

// "{model: SAI, algorithm: CRC, …}", as `hash:` takes it.
std::string hash_yaml(const dataplane::HashConfig& config);
// `profiles:` with one of that name; the most usual hypothesis. There is one.
std::string profile_yaml(const Identification& found, const std::string& name);

}  // namespace softspine::analysis
