// SPDX-License-Identifier: Apache-2.0
// Stands between a guest's vhost-user connection and DPDK's vhost server. That server has one thread for all ports of
// the process, blocks while it reads a message's payload, and accepts any number of connections. Without the gate a
// guest that sends half a message, or connects a thousand times, would stop every other guest from coming up.
//
//   guest ─ path (0600) ─► gate ─ backend (in a folder of mode 0700) ─► DPDK
//
// The gate passes on whole messages only (header 12 bytes: request, flags, size; then `size` bytes; up to 8 file
// descriptors), one peer at a time; others wait in the listen queue. The gate reads a peer's next message after the
// peer has taken the answers it was sent. Descriptors by which DPDK notifies the guest are made non-blocking:
// otherwise a guest that never reads them could stop the worker. A peer that breaks the framing, that describes memory
// which cannot be mapped, or that asks for what was not offered (edge/vhost_memory.hpp) is disconnected. Each gate has
// one thread, which sleeps while there is no message. Frames do not pass here: they go through the guest's
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <thread>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

class VhostGate {
 public:
  // Takes `path` over from a dead process. Refuses if a running process listens there, or if `path` is not a socket.
  // `speed_mbps`: the link's speed, which the guest's driver gets with the link's state (edge/vhost_link.hpp).
  static std::expected<std::unique_ptr<VhostGate>, EdgeError> open(const std::string& path, const std::string& backend,
                                                                   uint32_t speed_mbps = 0);
  ~VhostGate();
  VhostGate(const VhostGate&) = delete;
  VhostGate& operator=(const VhostGate&) = delete;

  // Any thread; does not block.
  void set_link(bool up) noexcept;
  uint64_t connections() const noexcept { return connections_.load(std::memory_order_relaxed); }
  uint64_t offenders() const noexcept { return offenders_.load(std::memory_order_relaxed); }
  // The reason that keeps guests out, once; empty if there is nothing new. Any one thread.
  std::string trouble();

 private:
  VhostGate(std::string path, std::string backend, uint32_t speed_mbps, OwnedFd listener, OwnedFd wake);
  void ring() const noexcept;
  bool is_to_close() noexcept;
  void serve() noexcept;
  bool wait_for_peer(OwnedFd& peer) noexcept;
  void relay(OwnedFd peer) noexcept;
  void check_descriptors() noexcept;

  std::string path_;
  std::string backend_;
  uint32_t speed_mbps_;
  OwnedFd listener_;
  OwnedFd wake_;  // an eventfd: readable when the gate closes or the link has changed
  std::atomic<bool> closes_{false};
  std::atomic<bool> link_is_up_{true};
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> offenders_{0};
  std::atomic<bool> lacks_descriptors_{false};  // has lacked them, at some time
  bool told_ = false;
  std::thread thread_;
};

}  // namespace softspine::dataplane
