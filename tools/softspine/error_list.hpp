// SPDX-License-Identifier: Apache-2.0
// Errors and warnings on stderr, a line each: the first hundred, which is more than anybody mends at once, and how many
// more there are. A file with 200,000 mistakes fills no terminal and no log.
#pragma once

#include "control/document/error.hpp"

namespace softspine::tools {

inline constexpr size_t kErrorsShown = 100;

// `what` stands before each message.
void print_list(const control::Errors& errors, const char* what = "");

}  // namespace softspine::tools
