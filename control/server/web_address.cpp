// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_address.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {

namespace {

constexpr size_t kLeastTokenBytes = 16;
constexpr size_t kMostTokenBytes = 256;
constexpr mode_t kReadableByOthers = 077;
// RFC 6750's for Authorization: Bearer, without those that a WebSocket's subprotocol may not have.
constexpr const char* kTokenBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+";

bool parse_port(std::string_view text, uint16_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

// Host and port, by the last colon that is not within brackets.
bool split(std::string_view text, std::string_view& host, std::string_view& port) {
  if (text.starts_with('[')) {
    const size_t end = text.find("]:");
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    port = text.substr(end + 2);
    return true;
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return false;
  host = text.substr(0, colon);
  port = text.substr(colon + 1);
  return true;
}

bool is_ipv4_text(const std::string& host, in_addr& out) {
  return inet_pton(AF_INET, host.c_str(), &out) == 1;
}
bool is_ipv6_text(const std::string& host, in6_addr& out) {
  return inet_pton(AF_INET6, host.c_str(), &out) == 1;
}

}  // namespace

std::string WebAddress::url() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return "http://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::expected<WebAddress, std::string> parse_web_address(const std::string& text) {
  WebAddress out;
  std::string_view host;
  std::string_view port;
  if (!split(text, host, port) || !parse_port(port, out.port)) {
    return std::unexpected("'" + text + "' is no address and port such as 127.0.0.1:8080 or [::1]:8080");
  }
  out.host = host == "localhost" ? "127.0.0.1" : std::string{host};
  in_addr v4{};
  in6_addr v6{};
  if (is_ipv4_text(out.host, v4)) {
    out.is_loopback = ntohl(v4.s_addr) >> 24 == 127;
  } else if (is_ipv6_text(out.host, v6)) {
    out.is_loopback = IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  } else {
    return std::unexpected("'" + out.host + "' is no address of this machine: give it in numbers, or localhost");
  }
  return out;
}

bool is_literal_host(std::string_view given) {
  std::string_view host = given;
  std::string_view port;
  if (given.starts_with('[') && given.ends_with(']')) {
    host = given.substr(1, given.size() - 2);
  } else if (given.find(':') != std::string_view::npos) {
    uint16_t number = 0;
    if (!split(given, host, port) || !parse_port(port, number)) return false;
  }
  in_addr v4{};
  in6_addr v6{};
  const std::string name{host};
  if (given.starts_with('[')) return is_ipv6_text(name, v6);
  return name == "localhost" || is_ipv4_text(name, v4);
}

std::expected<std::string, std::string> read_web_token(const std::string& path) {
  const dataplane::OwnedFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0) return std::unexpected(path + ": " + std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return std::unexpected(path + " is no file");
  if ((about.st_mode & kReadableByOthers) != 0) {
    return std::unexpected(path + " is open to other users; make it 0600");
  }
  std::array<char, kMostTokenBytes + 2> bytes{};
  const ssize_t n = ::read(file.get(), bytes.data(), bytes.size());
  std::string token{bytes.data(), n > 0 ? static_cast<size_t>(n) : 0};
  token = token.substr(0, token.find('\n'));
  if (token.size() < kLeastTokenBytes || token.size() > kMostTokenBytes ||
      token.find_first_not_of(kTokenBytes) != std::string::npos) {
    return std::unexpected(path + ": a token is a line of " + std::to_string(kLeastTokenBytes) + " to " +
                           std::to_string(kMostTokenBytes) + " letters, digits and - . _ ~ +");
  }
  return token;
}

}  // namespace softspine::control
