// SPDX-License-Identifier: Apache-2.0
// Files to a guest and from it, as an archive (tar) over a program's streams: neither side reads a file that the other
// could have put a link in the place of. Into a folder that is there a file comes under its own name, as `cp` has it;
// what is there is written over; links come as what they lead to. What a guest sends is not trusted: files and folders
// are taken, under the name that was asked for, and nothing else is.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

#include "tools/softspine/labs/host_program.hpp"

namespace softspine::tools {

// Of this machine, both. Returns the exit status, after its complaint.
int copy_files(const std::filesystem::path& from, std::filesystem::path to);

// A relative path in the guest is in /guest. Return the exit status, or the error of run_in_guest().
std::expected<int, std::string> copy_to_guest(const HostEntrance& entrance, const std::filesystem::path& from,
                                              const std::string& to);
std::expected<int, std::string> copy_from_guest(const HostEntrance& entrance, const std::string& from,
                                                std::filesystem::path to);

}  // namespace softspine::tools
