// SPDX-License-Identifier: Apache-2.0
// `softspine show devices`: DPDK's devices behind edges. Their counts are the snapshot's, so that it is of one
// instant with what the edges count; the server's thread asks them for their facts.
#pragma once

#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

control::Json devices_json(const Shown& shown);
std::string devices_text(const Shown& shown);

}  // namespace softspine::tools
