// SPDX-License-Identifier: Apache-2.0
// Where a fabric's control socket is, so that commands find it by the testbed's name:
//
//   ${XDG_RUNTIME_DIR:-/tmp}/softspine-<uid>/<name>.sock      the folder is ours alone (0700)
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace softspine::control {

std::filesystem::path socket_folder();

// Error: a name that is no file name, or a path too long for a socket.
std::expected<std::filesystem::path, std::string> socket_path(const std::string& name);

// Makes socket_folder() if it is not there. Error: it belongs to someone else, or others may enter it.
std::expected<void, std::string> make_socket_folder();

// Names of sockets in the folder, sorted; one may be left over from a fabric that died.
std::vector<std::string> fabrics_in_folder();

// As the kernel limits it.
bool fits_socket_address(const std::filesystem::path& path);

}  // namespace softspine::control
