// SPDX-License-Identifier: Apache-2.0
// The other end of the control socket: what the `softspine` command speaks through.
// One request at a time; every wait has an end. Errors are sentences for a person.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "control/server/protocol.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {

class Client {
 public:
  static std::expected<Client, std::string> connect(const std::filesystem::path& path);
  // The running fabric of that name; without a name, the only one that runs.
  static std::expected<Client, std::string> connect_to_fabric(const std::string& name);

  // Returns the result, or the error of the server or the connection. With `see`, a text that comes in pages is handed
  // over page by page, and the result is only what is left of it. `timeout`: for each page.
  using SeePage = std::function<void(const std::string& page)>;
  Result call(const std::string& command, const Json& arguments = Json::object(), const SeePage& see = {},
              std::chrono::milliseconds timeout = std::chrono::seconds{30});

  // The same without waiting for the answer: once descriptor() can be read, take() has it, or not yet the whole of it.
  // The outer error: the connection is lost, and with it the client.
  std::expected<void, std::string> ask(const std::string& command, const Json& arguments = Json::object());
  std::expected<std::optional<Result>, std::string> take();
  int descriptor() const { return socket_.get(); }

 private:
  using Until = std::chrono::steady_clock::time_point;
  explicit Client(dataplane::OwnedFd socket) : socket_(std::move(socket)) {}
  std::expected<void, std::string> send(const std::string& text, Until until);
  std::expected<std::string, std::string> receive_line(Until until);
  std::optional<std::string> whole_line();
  std::expected<void, std::string> receive_some();
  std::expected<void, std::string> wait_for(short events, Until until) const;

  dataplane::OwnedFd socket_;
  std::string input_;
  size_t searched_ = 0;  // of the input: no line ends there
  uint64_t calls_ = 0;
};

}  // namespace softspine::control
