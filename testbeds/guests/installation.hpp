// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "testbeds/guests/command_line.hpp"
#include "testbeds/process/error.hpp"

namespace softspine::testbeds {

// Sees to it that guests of these kinds can be started: runs kernel/build, root/make and qemu/make, which are quick
// when their work is cached and take minutes when not (they tell on standard error how far they are). $SOFTSPINE_GUESTS
// says where this folder is when not where it was built.
// Where user-mode Linux cannot start (uml_host.hpp; or kernel/probe says that the kernel does not boot), what QEMU
// needs is prepared in its place, and uml_obstacle says why. SOFTSPINE_UML=never has it so anywhere.
std::expected<Installation, Error> prepare_installation(const std::set<GuestKind>& kinds);

// Runs a program of ours and returns the last line it printed.
std::expected<std::string, Error> last_line_of(const std::filesystem::path& program,
                                               const std::vector<std::string>& arguments);

}  // namespace softspine::testbeds
