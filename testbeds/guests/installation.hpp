// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "testbeds/guests/command_line.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// Makes sure that guests of these kinds can be started: runs kernel/build, root/make and qemu/make, which are quick
// when their work is cached, and else take minutes (they report their progress on standard error). $SOFTSPINE_GUESTS
// names this folder when it is neither where it was installed nor where it was built.
// Where user-mode Linux cannot start (uml_host.hpp; or kernel/probe reports that the kernel does not boot), what QEMU
// needs is prepared instead, and uml_obstacle has the reason. SOFTSPINE_UML=never enforces this on any machine.
std::expected<Installation, Error> prepare_installation(const std::set<GuestKind>& kinds);

// The same for a guest of this kind with a kernel of its own: all but ours. User-mode Linux's is started once to see
// that it boots here.
std::expected<Installation, Error> with_kernel(Installation installation, GuestKind kind,
                                               const std::filesystem::path& kernel);

// The part that is there already; nothing is made, but that user-mode Linux boots for a moment where it has not yet
// been seen to start. A path; empty: not made yet, and can be; an error: cannot be made, and why.
using PartHere = std::expected<std::string, std::string>;
PartHere uml_kernel_here();
PartHere guest_root_here();
PartHere qemu_here();  // its initramfs
// Why user-mode Linux cannot run here, as far as can be known with these parts (empty paths: not yet made); empty:
// nothing is known against it.
std::string obstacle_to_uml_here(const std::string& kernel, const std::string& root);
// The script that builds the kernel.
std::filesystem::path uml_kernel_script();
// What installs a group of Debian's packages, as a user calls it.
std::string install_command(const std::string& group);

// softspine-verbs, for the guests' root and for verbs hosts: $SOFTSPINE_VERBS, or the installed or built one.
std::string verbs_program();
// softspine-agent, likewise: $SOFTSPINE_AGENT.
std::string agent_program();

// Runs a program of ours and returns the last line it printed.
std::expected<std::string, Error> last_line_of(const std::filesystem::path& program,
                                               const std::vector<std::string>& arguments);

}  // namespace softspine::testbeds
