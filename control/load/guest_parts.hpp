// SPDX-License-Identifier: Apache-2.0
// The parts of this machine that a testbed gives to its guests: a root folder or image, files, a kernel. Here they are
// found and looked at, so that an error has the line of the key that names it; outside/guest_host and
// guests/guest_layers hand them to the guest.
//
// Paths are relative to the file in which they stand, and become absolute, without links: the keeper lets a guest see
// no others.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

// Fills root, files and kernel of the fabric's guests. Reports what is missing, cannot be read, or is of another kind.
void resolve_guests(Reader& reader, Expanded& expanded);

}  // namespace softspine::control
