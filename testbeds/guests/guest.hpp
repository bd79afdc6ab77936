// SPDX-License-Identifier: Apache-2.0
// A guest: a real Linux kernel with rdma_rxe that connects to the fabric's vhost-user sockets, runs its command, writes
// its result and powers off. A guest must be started after the fabric serves its sockets, and stopped before the fabric
// ceases to serve them: a user-mode Linux guest whose vhost-user server has gone spins when it powers off, and has to
// be killed.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <vector>

#include "testbeds/guests/command_line.hpp"
#include "testbeds/guests/guest_spec.hpp"
#include "testbeds/guests/hosted_command.hpp"

namespace softspine::testbeds {

// Files go to run_folder/NAME, signals between guests to run_folder/board. Errors of the spec come all at once. `line`:
// the guest's end of its line (guest_line/guest_line.hpp), for programs that are run in it from here.
std::expected<HostedCommand, std::vector<Error>> start_guest(const GuestSpec& spec, const Installation& installation,
                                                             const std::filesystem::path& run_folder,
                                                             std::optional<int> line = std::nullopt);

}  // namespace softspine::testbeds
