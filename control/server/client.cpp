// SPDX-License-Identifier: Apache-2.0
#include "control/server/client.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "control/server/socket_address.hpp"
#include "control/server/socket_path.hpp"

namespace softspine::control {

using dataplane::OwnedFd;

namespace {

constexpr size_t kMaxResponseBytes = 256 << 20;  // no server of ours sends as much
constexpr std::chrono::seconds kSendTimeout{5};
constexpr const char* kEnded = "the fabric ended before it answered";

std::string why_not_connected(const std::filesystem::path& path, int error) {
  const std::string at = " (" + path.native() + ")";
  switch (error) {
    case ENOENT: return "no fabric is running here: there is no socket" + at;
    case ECONNREFUSED: return "no fabric is running here: the socket is left over from one that ended" + at;
    case EACCES: return "the fabric belongs to another user" + at;
    case EAGAIN: return "the fabric does not answer: too many wait already" + at;
    case ENOTSOCK: return "not a socket" + at;
    default: return std::string{"cannot reach the fabric: "} + std::strerror(error) + at;
  }
}

}  // namespace

std::expected<Client, std::string> Client::connect(const std::filesystem::path& path) {
  if (!fits_socket_address(path)) return std::unexpected("too long for a socket's path: " + path.native());
  OwnedFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un address = socket_address(path);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::unexpected(why_not_connected(path, errno));
  }
  return Client{std::move(socket)};
}

std::expected<Client, std::string> Client::connect_to_fabric(const std::string& name) {
  if (!name.empty()) {
    const auto path = socket_path(name);
    return path ? connect(*path) : std::unexpected(path.error());
  }
  std::vector<Client> found;
  std::string names;
  for (const std::string& each : fabrics_in_folder()) {
    auto client = connect(socket_folder() / (each + ".sock"));
    if (!client) continue;  // a leftover
    found.push_back(std::move(*client));
    names += (names.empty() ? "" : ", ") + each;
  }
  if (found.empty()) return std::unexpected("no fabric is running here (looked in " + socket_folder().native() + ")");
  if (found.size() > 1) return std::unexpected("several fabrics are running; name one of: " + names);
  return std::move(found.front());
}

Result Client::call(const std::string& command, const Json& arguments, const SeePage& see,
                    std::chrono::milliseconds timeout) {
  Until until = std::chrono::steady_clock::now() + timeout;
  const std::string request = format_request({.id = ++calls_, .command = command, .arguments = arguments});
  if (request.size() > kMaxRequestBytes)
    return std::unexpected("the request is longer than " + std::to_string(kMaxRequestBytes) + " bytes");
  // A server that refuses the connection sends the reason before it closes: worth reading even if sending failed.
  const auto sent = send(request, until);
  std::string pages;
  for (;;) {
    const auto line = receive_line(until);
    if (!line) return std::unexpected(sent ? line.error() : sent.error());
    Response response = parse_response(*line);
    // An answer to a call that was given up comes first.
    if (response.id.is_number_unsigned() && response.id.get<uint64_t>() != calls_) continue;
    const bool is_text = response.result && response.result->is_string();
    if (!response.more) {
      if (is_text && !pages.empty()) return Json(pages + response.result->get<std::string>());
      return std::move(response.result);
    }
    if (!is_text) return std::unexpected("a page of the answer is no text");
    const auto& page = response.result->get_ref<const std::string&>();
    see ? see(page) : static_cast<void>(pages += page);
    if (pages.size() > kMaxResponseBytes) return std::unexpected("the answer does not end");
    until = std::chrono::steady_clock::now() + timeout;
  }
}

std::expected<void, std::string> Client::wait_for(short events, Until until) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  pollfd waiting{.fd = socket_.get(), .events = events, .revents = 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX)));
  if (ready > 0 || (ready < 0 && errno == EINTR)) return {};
  return std::unexpected(ready == 0 ? "the fabric did not answer in time" : std::strerror(errno));
}

std::expected<void, std::string> Client::send(const std::string& text, Until until) {
  for (size_t done = 0; done < text.size();) {
    if (const auto ready = wait_for(POLLOUT, until); !ready) return ready;
    const ssize_t n = ::send(socket_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR && errno != EAGAIN) {
      return std::unexpected(errno == EPIPE || errno == ECONNRESET ? kEnded : std::strerror(errno));
    }
  }
  return {};
}

std::expected<std::string, std::string> Client::receive_line(Until until) {
  for (;;) {
    if (auto line = whole_line()) return std::move(*line);
    if (const auto ready = wait_for(POLLIN, until); !ready) return std::unexpected(ready.error());
    if (const auto got = receive_some(); !got) return std::unexpected(got.error());
  }
}

std::optional<std::string> Client::whole_line() {
  const size_t end = input_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = input_.size();
    return std::nullopt;
  }
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

// What has arrived, which may be nothing.
std::expected<void, std::string> Client::receive_some() {
  if (input_.size() > kMaxResponseBytes) return std::unexpected("the answer does not end");
  std::array<char, 65536> chunk{};
  const ssize_t n = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (n > 0) {
    input_.append(chunk.data(), static_cast<size_t>(n));
  } else if (n == 0 || errno == ECONNRESET) {
    return std::unexpected(kEnded);
  } else if (errno != EINTR && errno != EAGAIN) {
    return std::unexpected(std::strerror(errno));
  }
  return {};
}

std::expected<void, std::string> Client::ask(const std::string& command, const Json& arguments) {
  const std::string request = format_request({.id = ++calls_, .command = command, .arguments = arguments});
  return send(request, std::chrono::steady_clock::now() + kSendTimeout);
}

std::expected<std::optional<Result>, std::string> Client::take() {
  if (const auto got = receive_some(); !got) return std::unexpected(got.error());
  while (const auto line = whole_line()) {
    Response response = parse_response(*line);
    if (response.id.is_number_unsigned() && response.id.get<uint64_t>() != calls_) continue;
    return std::optional(std::move(response.result));
  }
  return std::optional<Result>{};
}

}  // namespace softspine::control
