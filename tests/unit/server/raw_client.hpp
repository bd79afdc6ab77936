// SPDX-License-Identifier: Apache-2.0
// A client without manners: sends what it is told to, reads when it is told to.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "control/server/socket_address.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::tests {

class RawClient {
 public:
  explicit RawClient(const std::filesystem::path& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = control::socket_address(path);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << path << ": errno " << errno;
  }
  // Over TCP, to this machine.
  explicit RawClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << port << ": errno " << errno;
  }
  int fd() const { return socket_.get(); }

  // False when the server has closed the connection.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n < 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  void end_sending() { ::shutdown(fd(), SHUT_WR); }

  // Without its newline; empty when the server has closed the connection.
  std::string line() {
    for (;;) {
      if (const size_t end = input_.find('\n'); end != std::string::npos) {
        std::string text = input_.substr(0, end);
        input_.erase(0, end + 1);
        return text;
      }
      if (!read_some()) return {};
    }
  }
  // Reads, and forgets, what there is until the server has closed the connection.
  void wait_for_end() {
    while (read_some()) input_.clear();
  }
  // All until the server has closed the connection.
  std::string rest() {
    while (read_some()) {
    }
    return std::exchange(input_, {});
  }
  // So many bytes; fewer if the server closes the connection before.
  std::string bytes(size_t count) {
    while (input_.size() < count && read_some()) {
    }
    std::string out = input_.substr(0, count);
    input_.erase(0, count);
    return out;
  }
  std::string ask(std::string_view request) {
    send(std::string{request} + '\n');
    return line();
  }

 private:
  bool read_some() {
    pollfd waiting{.fd = fd(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPatienceMs) != 1) {
      ADD_FAILURE() << "nothing came within " << kPatienceMs << " ms";
      return false;
    }
    std::array<char, 65536> chunk{};
    const ssize_t n = ::recv(fd(), chunk.data(), chunk.size(), 0);
    if (n <= 0) return false;
    input_.append(chunk.data(), static_cast<size_t>(n));
    return true;
  }

  static constexpr int kPatienceMs = 60'000;
  dataplane::OwnedFd socket_;
  std::string input_;
};

}  // namespace softspine::tests
