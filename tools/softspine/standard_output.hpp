// SPDX-License-Identifier: Apache-2.0
// What a command prints must reach its reader: a full disk behind stdout is an error as any other.
#pragma once

#include <string>

namespace softspine::tools {

// Before anything is opened: a stdin, stdout or stderr that was closed must not become the number of another file,
// which would then get what is printed.
void occupy_standard_streams();

// What is still under way is written. Why it, or anything before it, could not be; empty if all went well.
std::string close_standard_output();

}  // namespace softspine::tools
