// SPDX-License-Identifier: Apache-2.0
// softspine import-hash: the ECMP hash of a switch's configuration as a profile.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_import_hash_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
