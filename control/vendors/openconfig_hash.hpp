// SPDX-License-Identifier: Apache-2.0
// OpenConfig's hashing policies (openconfig-hashing.yang) in JSON, as RFC 7951 writes it: keys may have the module's
// name before them, and numbers of 64 bits are strings.
#pragma once

#include <string_view>

#include "control/vendors/hash_reading.hpp"

namespace softspine::control {

void read_openconfig(std::string_view text, HashReading& out);

}  // namespace softspine::control
