// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/line_socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace softspine::tools {

using dataplane::OwnedFd;

namespace {

using Addresses = std::unique_ptr<addrinfo, DestroyedBy<freeaddrinfo>>;
using Clock = std::chrono::steady_clock;
constexpr auto kBetweenTries = std::chrono::milliseconds{100};

std::expected<Addresses, std::string> addresses_of(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int wrong = getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (wrong != 0) return std::unexpected((host.empty() ? "port " + port : host) + ": " + gai_strerror(wrong));
  return Addresses{found};
}

GidBytes gid_of(const sockaddr_storage& address) {
  GidBytes gid{};
  if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(gid.data(), &six.sin6_addr, 16);
  } else {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    gid[10] = gid[11] = 0xff;
    std::memcpy(gid.data() + 12, &four.sin_addr, 4);
  }
  return gid;
}

// 0, or why not.
int try_once(const addrinfo& to, const addrinfo* from, OwnedFd& out) {
  OwnedFd socket{::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (socket.get() < 0) return errno;
  if (from != nullptr && bind(socket.get(), from->ai_addr, from->ai_addrlen) != 0) return errno;
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0) return errno;
  out = std::move(socket);
  return 0;
}

}  // namespace

std::expected<LineSocket, std::string> LineSocket::connect(const std::string& host, const std::string& port,
                                                           const std::string& from,
                                                           std::chrono::milliseconds patience) {
  const auto to = addresses_of(host, port, 0);
  if (!to) return std::unexpected(to.error());
  Addresses own;
  if (!from.empty()) {
    auto found = addresses_of(from, "0", AI_PASSIVE);
    if (!found) return std::unexpected(found.error());
    own = std::move(*found);
  }
  for (const auto end = Clock::now() + patience;; std::this_thread::sleep_for(kBetweenTries)) {
    OwnedFd socket;
    const int wrong = try_once(**to, own.get(), socket);
    if (wrong == 0) return LineSocket{std::move(socket)};
    const bool may_come = wrong == ECONNREFUSED || wrong == EHOSTUNREACH || wrong == ENETUNREACH || wrong == ETIMEDOUT;
    if (may_come && Clock::now() < end) continue;
    return std::unexpected(fmt::format("{} port {}: {}{}", host, port, std::strerror(wrong),
                                       wrong == ECONNREFUSED ? "; is softspine-verbs --serve running there?" : ""));
  }
}

std::expected<void, std::string> LineSocket::send(const Json& object) const {
  const std::string line = object.dump() + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(std::string{"the other end: "} + std::strerror(errno));
    sent += static_cast<size_t>(n);
  }
  return {};
}

bool LineSocket::has_data() const {
  pollfd wanted{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return !buffered_.empty() || poll(&wanted, 1, 0) > 0;
}

std::expected<Json, std::string> LineSocket::receive(std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  size_t line_end = 0;
  while ((line_end = buffered_.find('\n')) == std::string::npos) {
    if (buffered_.size() > kMaxLineBytes) return std::unexpected("the other end says too much: is it softspine-verbs?");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd wanted{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return std::unexpected(fmt::format("the other end says nothing for {} s", patience.count() / 1000));
    char part[4096];
    const ssize_t n = recv(socket_.get(), part, sizeof part, 0);
    if (n == 0) return std::unexpected("the other end has closed the connection");
    if (n < 0) return std::unexpected(std::string{"the other end: "} + std::strerror(errno));
    buffered_.append(part, static_cast<size_t>(n));
  }
  auto object = object_of(std::string_view{buffered_}.substr(0, line_end));
  buffered_.erase(0, line_end + 1);
  return object;
}

GidBytes LineSocket::own_address() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return gid_of(address);
}

GidBytes LineSocket::peer_address() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return gid_of(address);
}

std::expected<OwnedFd, std::string> listen_on(const std::string& address, const std::string& port) {
  const auto found = addresses_of(address.empty() ? "::" : address, port, AI_PASSIVE);
  if (!found) return std::unexpected(found.error());
  OwnedFd socket{::socket((*found)->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int on = 1;
  const int off = 0;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // A socket on "::" accepts IPv4, too; its addresses come as ::ffff:a.b.c.d.
  if ((*found)->ai_family == AF_INET6) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (socket.get() < 0 || bind(socket.get(), (*found)->ai_addr, (*found)->ai_addrlen) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return std::unexpected(fmt::format("cannot listen on port {}{}: {}", port, address.empty() ? "" : " of " + address,
                                       std::strerror(errno)));
  }
  return socket;
}

}  // namespace softspine::tools
