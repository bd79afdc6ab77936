// SPDX-License-Identifier: Apache-2.0
// A path as the kernel wants it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

namespace softspine::control {

// The path must fit (fits_socket_address).
inline sockaddr_un socket_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

}  // namespace softspine::control
