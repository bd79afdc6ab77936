// SPDX-License-Identifier: Apache-2.0
// softspine pause-counters NODE=BEFORE,AFTER …: who can be the root of pauses, by counters that were read twice.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_pause_counters_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
