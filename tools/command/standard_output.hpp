// SPDX-License-Identifier: Apache-2.0
// The output of a command must reach its reader: a full disk behind stdout is an error like any other.
#pragma once

#include <string>

namespace softspine::tools {

// To be called before any file is opened: a stdin, stdout or stderr that was closed must not become the number of
// another file, which would then get what is printed.
void occupy_standard_streams();

// Writes what is still buffered. Returns why this, or an earlier write, failed; empty if all went well.
std::string close_standard_output();

}  // namespace softspine::tools
