// SPDX-License-Identifier: Apache-2.0
// The TCP connection beside the queue pairs: a JSON object a line, either way, at most kMaxLineBytes long. Blocking,
// with a limit of time; a descriptor for poll(). Errors are sentences, ready to be printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/edge/owned_fd.hpp"
#include "tools/verbs/handles.hpp"
#include "tools/verbs/peer_words.hpp"
#include "tools/verbs/verbs_device.hpp"

namespace softspine::tools {

inline constexpr size_t kMaxLineBytes = 1 << 16;
inline constexpr std::chrono::seconds kPatience{30};  // for the other end's next word

class LineSocket {
 public:
  explicit LineSocket(dataplane::OwnedFd socket) : socket_(std::move(socket)) {}
  // Tries again until `patience` is over: the server may not listen yet. `from`: our address, or empty.
  static std::expected<LineSocket, std::string> connect(const std::string& host, const std::string& port,
                                                        const std::string& from, std::chrono::milliseconds patience);

  std::expected<void, std::string> send(const Json& object) const;
  // The next object. If it is {"error": …}, that is the error.
  std::expected<Json, std::string> receive(std::chrono::milliseconds patience);
  // Whether receive() would find something, if only that the other end is gone.
  bool has_data() const;

  GidBytes own_address() const;
  GidBytes peer_address() const;
  int descriptor() const { return socket_.get(); }

 private:
  dataplane::OwnedFd socket_;
  std::string buffered_;
};

// A socket that listens; `address` empty: on all.
std::expected<dataplane::OwnedFd, std::string> listen_on(const std::string& address, const std::string& port);

}  // namespace softspine::tools
