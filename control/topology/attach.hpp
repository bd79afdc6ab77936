// SPDX-License-Identifier: Apache-2.0
// Sets what stands behind each host, and checks that nothing outside is used by two of them.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void attach_hosts(Reader& reader, Expanded& out);

}  // namespace softspine::control
