// SPDX-License-Identifier: Apache-2.0
// A file that `run --record` has written, for reading.
#pragma once

#include <expected>
#include <string>

#include "control/record/database.hpp"

namespace softspine::control {

// The error is a sentence's end: no such file, no recording, or one of another format.
std::expected<Database, std::string> read_recording(const std::string& path);

}  // namespace softspine::control
