// SPDX-License-Identifier: Apache-2.0
// A cure as text: in words, and as keys for the testbed's file. For real switches: vendor_lines.hpp.
#pragma once

#include <string>

#include "analysis/explain/cures.hpp"

namespace softspine::analysis {

// In words: "core: offset 10".
std::string words_of(const RoleChanges& changes);

// YAML that turns the testbed into the cured one when it is merged into the testbed's file.
std::string yaml_of(const control::Testbed& testbed, const RoleChanges& changes);

}  // namespace softspine::analysis
