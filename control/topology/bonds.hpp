// SPDX-License-Identifier: Apache-2.0
// How each host with two ports uses them: the generator's `bond`, and over it the host's own.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void bond_hosts(Reader& reader, Expanded& out);

}  // namespace softspine::control
