// SPDX-License-Identifier: Apache-2.0
// The socket by which programs reach their device. It is asked between packets, and waits for nobody: a program that
// does not take its reply, or sends what is no request, is forgotten, as is one that has ended, even if a child of it
// holds its socket.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/verbs_device/device_calls_handler.hpp"

namespace softspine::testbeds {

class CallServer {
 public:
  CallServer(DeviceCallsHandler& handler, Rnic& rnic) : handler_(handler), rnic_(rnic) {}
  ~CallServer();
  CallServer(const CallServer&) = delete;
  CallServer& operator=(const CallServer&) = delete;

  // For the user that we are, and root.
  std::expected<void, dataplane::EdgeError> listen(const std::string& path);
  // True if somebody has called, or gone, or nudged.
  bool poll() noexcept;
  // Readable while poll() has something to do; a nudge makes it so.
  int descriptor() const { return events_.get(); }
  void nudge() noexcept;

 private:
  struct Connection {
    dataplane::OwnedFd socket;
    dataplane::OwnedFd process;
    uint32_t client;
  };
  void accept_all() noexcept;
  void serve(int socket) noexcept;
  bool answer(int socket, uint32_t client) noexcept;
  void drop(int socket) noexcept;

  DeviceCallsHandler& handler_;
  Rnic& rnic_;
  std::string path_;
  dataplane::OwnedFd listener_;
  dataplane::OwnedFd events_;
  dataplane::OwnedFd nudges_;
  std::map<int, Connection> clients_;  // by socket
};

}  // namespace softspine::testbeds
