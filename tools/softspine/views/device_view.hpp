// SPDX-License-Identifier: Apache-2.0
// `softspine show devices`: DPDK's devices behind edges. What they count is the snapshot's, so that it is of one
// instant with what the edges count; what they are is asked of them by the server's thread.
#pragma once

#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

control::Json devices_json(const Shown& shown);
std::string devices_text(const Shown& shown);

}  // namespace softspine::tools
