// SPDX-License-Identifier: Apache-2.0
// A UNIX stream socket that listens, for its owner only (0600).
//
// A socket file that nobody listens at is left over from a killed fabric: it is replaced. A socket that
// answers belongs to another fabric: an error. A lock on the folder, held only while a fabric looks and
// binds, keeps two fabrics that start at once apart.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {

// Non-blocking, close on exec.
std::expected<dataplane::OwnedFd, std::string> listen_at(const std::filesystem::path& path);

}  // namespace softspine::control
