// SPDX-License-Identifier: Apache-2.0
// An interface of the kernel's that an edge stands behind, as the kernel knows it: whether it is still there, and how
// many frames the kernel had for it and dropped, since nobody took them (its tx_dropped).
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

class KernelInterface {
 public:
  static std::expected<KernelInterface, EdgeError> open(const std::string& name);

  const std::string& name() const { return name_; }
  // Deleted, or moved into another network namespace: a packet socket then has nobody any more, either way.
  bool is_gone() const noexcept;
  // Of one that is gone: what it was when it was last asked for.
  uint64_t dropped() const noexcept;

 private:
  struct Answer;
  KernelInterface(OwnedFd fd, int index, std::string name)
      : fd_(std::move(fd)), index_(index), name_(std::move(name)) {}
  Answer ask() const noexcept;

  OwnedFd fd_;
  int index_;
  std::string name_;
  mutable uint64_t dropped_ = 0;
};

}  // namespace softspine::dataplane
