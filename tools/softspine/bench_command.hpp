// SPDX-License-Identifier: Apache-2.0
// softspine bench: packet-hops per second, and cycles per packet-hop.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_bench_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
