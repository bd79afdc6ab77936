// SPDX-License-Identifier: Apache-2.0
#include "control/server/listening_socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "control/server/socket_address.hpp"
#include "control/server/socket_path.hpp"

namespace softspine::control {

using dataplane::OwnedFd;

namespace {

std::unexpected<std::string> failed(const std::string& what) {
  return std::unexpected(what + ": " + std::strerror(errno));
}

// Removes a leftover; returns an error for anything else.
std::expected<void, std::string> clear_the_way(const std::filesystem::path& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return {};
  if (!S_ISSOCK(about.st_mode)) return std::unexpected(path.native() + " is in the way: it is not a socket");
  const OwnedFd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un address = socket_address(path);
  // EAGAIN: its queue of connections is full, so somebody does listen.
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN) {
    return std::unexpected("another fabric answers at " + path.native());
  }
  if (errno != ECONNREFUSED) return failed("cannot tell whether a fabric answers at " + path.native());
  if (::unlink(path.c_str()) != 0) return failed("cannot remove the leftover " + path.native());
  return {};
}

}  // namespace

std::expected<OwnedFd, std::string> listen_at(const std::filesystem::path& path) {
  if (!fits_socket_address(path)) return std::unexpected("too long for a socket's path: " + path.native());
  const std::string folder = path.has_parent_path() ? path.parent_path().native() : ".";
  const OwnedFd lock{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (lock.get() < 0) return failed("cannot open the folder " + folder);
  if (::flock(lock.get(), LOCK_EX) != 0) return failed("cannot lock the folder " + folder);
  if (const auto clear = clear_the_way(path); !clear) return std::unexpected(clear.error());

  OwnedFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un address = socket_address(path);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed("cannot bind " + path.native());
  // Nobody can connect before listen(), so nobody meets the socket with the mode that umask gave it.
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    const auto error = failed("cannot listen at " + path.native());
    ::unlink(path.c_str());
    return error;
  }
  return socket;
}

}  // namespace softspine::control
