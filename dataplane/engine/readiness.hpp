// SPDX-License-Identifier: Apache-2.0
// File descriptors of which one asks, in one system call, whether any has become readable (epoll).
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

class Readiness {
 public:
  enum class Mode : uint8_t {
    kNews,        // told once for all that has come: who is told reads until nothing is left
    kWhileReady,  // told as long as there is something to read
  };
  // `whose`: what ask() tells of. False if the kernel refuses.
  bool watch(int descriptor, void* whose, Mode mode);
  // Calls tell(whose) for descriptors that have become readable, at most kMost in one call. Never waits.
  template <typename Tell>
  void ask(Tell&& tell) noexcept {
    std::array<void*, kMost> news;
    const uint32_t count = look(news);
    for (uint32_t i = 0; i < count; ++i) tell(news[i]);
  }
  // Is readable itself while ask() has something to tell. -1: nothing is watched.
  int descriptor() const { return epoll_.get(); }

 private:
  static constexpr uint32_t kMost = 64;
  uint32_t look(std::array<void*, kMost>& news) noexcept;

  OwnedFd epoll_;
};

}  // namespace softspine::dataplane
