// SPDX-License-Identifier: Apache-2.0
// A server as NCCL's topology file has it (control/collectives/nccl_topology.hpp), for people and for programs.
#pragma once

#include <string>

#include "control/collectives/nccl_topology.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string server_text(const control::ServerTopology& topology);
control::Json server_json(const control::ServerTopology& topology);

}  // namespace softspine::tools
