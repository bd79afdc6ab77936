// SPDX-License-Identifier: Apache-2.0
// How many frames the kernel had for an interface of its own and dropped, since nobody took them: its tx_dropped.
// Asked over netlink, in the network namespace that the opening thread is in, whoever asks later.
// Slow (a system call or two): for who looks at counters, not for a packet.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

class KernelDrops {
 public:
  static std::expected<KernelDrops, EdgeError> open(const std::string& interface);
  // 0 if the interface has gone.
  uint64_t count() const noexcept;

 private:
  KernelDrops(OwnedFd fd, int index) : fd_(std::move(fd)), index_(index) {}
  OwnedFd fd_;
  int index_;
};

}  // namespace softspine::dataplane
