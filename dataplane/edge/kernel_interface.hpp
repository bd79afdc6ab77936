// SPDX-License-Identifier: Apache-2.0
// The kernel's interface that an edge uses: whether it still exists, whether it is up and has carrier, and how many
// frames the kernel dropped because the interface's queue was full (tx_dropped). The kernel is asked over netlink,
// always in the network namespace that the opening thread was in. Slow (a system call or two): for reading counters,
// not for each packet.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

// The error of a failed call for an interface, with the text of errno.
EdgeError call_failed(const std::string& interface, const char* call);

class KernelInterface {
 public:
  static std::expected<KernelInterface, EdgeError> open(const std::string& name);

  const std::string& name() const { return name_; }
  // Whether the interface was deleted or moved into another network namespace: a packet socket is lost in either
  // case.
  bool is_gone() const noexcept;
  struct State {
    bool up = false;       // administratively
    bool carrier = false;  // never while it is not up
  };
  // No value if the interface is gone.
  std::optional<State> state() const noexcept;
  // Sets it up or down administratively. Any one thread; another may ask meanwhile.
  std::expected<void, EdgeError> set_up(bool up) const;
  // How many frames wait in the kernel before it drops. Any one thread.
  std::expected<void, EdgeError> set_queue_length(uint32_t frames) const;
  // tx_dropped; for an interface that is gone, the value that was read last.
  uint64_t dropped() const noexcept;

 private:
  struct Answer;
  struct Change;
  KernelInterface(OwnedFd fd, OwnedFd control, int index, std::string name)
      : fd_(std::move(fd)), control_(std::move(control)), index_(index), name_(std::move(name)) {}
  Answer ask() const noexcept;
  std::expected<void, EdgeError> make(Change& change, const char* what) const;

  OwnedFd fd_;
  OwnedFd control_;  // for changes
  int index_;
  std::string name_;
  mutable uint64_t dropped_ = 0;
};

}  // namespace softspine::dataplane
