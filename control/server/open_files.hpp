// SPDX-License-Identifier: Apache-2.0
// A server's connections are open files, of which a process has a limit.
#pragma once

#include <cstdint>

namespace softspine::control {

// Raises this process's soft limit, as far as it may, so that so many connections have room beside everything else.
void raise_open_files_limit(uint32_t connections);

}  // namespace softspine::control
