// SPDX-License-Identifier: Apache-2.0
// softspine polarization: how a fabric spreads its flows, which tiers depend on each other, what would cure that.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_polarization_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
