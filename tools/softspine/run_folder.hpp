// SPDX-License-Identifier: Apache-2.0
// Where the files of outside hosts go that `softspine run` starts.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

#include "control/model/testbed.hpp"

namespace softspine::tools {

// Hosts that we start have files: what they are to run, and what they print.
bool has_files(const control::Testbed& testbed);

// As asked for, or a new folder of our own; empty if there are no files. The error is a sentence.
std::expected<std::filesystem::path, std::string> run_folder(const std::string& asked, const control::Testbed& testbed);

}  // namespace softspine::tools
