// SPDX-License-Identifier: Apache-2.0
// A UNIX stream socket that listens, for its owner only (0600).
//
// A socket file that nobody listens at is a leftover of a fabric that was killed: it is replaced. One
// that answers is another fabric, and an error. Two that start at once are kept apart by a lock on
// the folder, held only while one of them looks and binds.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

#include "control/server/descriptor.hpp"

namespace softspine::control {

// Non-blocking, close on exec.
std::expected<Descriptor, std::string> listen_at(const std::filesystem::path& path);

}  // namespace softspine::control
