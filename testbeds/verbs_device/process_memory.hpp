// SPDX-License-Identifier: Apache-2.0
// A program's memory as its RNIC reaches it: process_vm_readv and process_vm_writev, many pieces in one call, since a
// call costs more than the 4 KiB that it copies. The kernel checks each address against what the program has mapped.
//
// Pieces are collected and then copied, all in one direction. A copy that fails anywhere has failed: pieces before may
// have been copied.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace softspine::testbeds {

class ProcessMemory {
 public:
  static constexpr uint32_t kPieces = 64;

  explicit ProcessMemory(pid_t process) : process_(process) {}

  bool has_room(uint32_t pieces) const { return count_ + pieces <= kPieces; }
  bool empty() const { return count_ == 0; }
  // Needs room for one. `local` stays until the copy.
  void add(void* local, uint64_t remote, uint32_t bytes) noexcept {
    if (bytes == 0) return;
    local_[count_] = {local, bytes};
    remote_[count_] = {reinterpret_cast<void*>(remote),
                       bytes};  // NOLINT(performance-no-int-to-ptr): of another process
    bytes_ += bytes;
    ++count_;
  }
  bool read() noexcept { return copied(process_vm_readv(process_, local_.data(), count_, remote_.data(), count_, 0)); }
  bool write() noexcept {
    return copied(process_vm_writev(process_, local_.data(), count_, remote_.data(), count_, 0));
  }
  void forget() noexcept { count_ = 0, bytes_ = 0; }
  // The last copy has found no process: it has ended, which its device is yet to see.
  bool has_ended() const { return has_ended_; }

 private:
  bool copied(ssize_t got) noexcept {
    has_ended_ = got < 0 && errno == ESRCH;
    const bool all = got == static_cast<ssize_t>(bytes_);
    forget();
    return all;
  }

  pid_t process_;
  bool has_ended_ = false;
  uint32_t count_ = 0;
  uint64_t bytes_ = 0;
  std::array<iovec, kPieces> local_;
  std::array<iovec, kPieces> remote_;
};

}  // namespace softspine::testbeds
