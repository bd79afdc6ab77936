// SPDX-License-Identifier: Apache-2.0
// Memory that we make, map and pass to a program by its descriptor. It is sealed at its length: a program that could
// shorten it would end us with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::testbeds {

class SealedMemory {
 public:
  // Zeros. Empty if the system has none left.
  static SealedMemory make(size_t bytes) noexcept;

  SealedMemory() = default;
  SealedMemory(SealedMemory&& other) noexcept { *this = std::move(other); }
  SealedMemory& operator=(SealedMemory&& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(bytes_, other.bytes_);
    fd_ = std::move(other.fd_);
    return *this;
  }
  ~SealedMemory();

  explicit operator bool() const { return place_ != nullptr; }
  uint8_t* place() const { return place_; }
  // For the program; kept until forget_fd().
  int fd() const { return fd_.get(); }
  void forget_fd() { fd_ = dataplane::OwnedFd{}; }

 private:
  uint8_t* place_ = nullptr;
  size_t bytes_ = 0;
  dataplane::OwnedFd fd_;
};

}  // namespace softspine::testbeds
