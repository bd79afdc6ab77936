// SPDX-License-Identifier: Apache-2.0
// Bytes that are written once and then read: in memory while they are few, beyond that in a file without a name, which
// ends with us. What is read of the file the kernel may forget again.
//
// The file lies in $TMPDIR, or else in /var/tmp, which is on a disk.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {

class SpillFile {
 public:
  // `most`: bytes in memory.
  explicit SpillFile(size_t most = size_t{8} << 20) : most_(most) { buffer_.reserve(size_t{64} * 1'024); }

  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  void put(uint8_t byte) {
    buffer_.push_back(byte);
    ++size_;
    if (buffer_.size() >= most_) spill();
  }
  // Seven bits a byte, the lowest first; the top bit says that more follow.
  void put_number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) put(static_cast<uint8_t>(value | 0x80));
    put(static_cast<uint8_t>(value));
  }
  uint64_t size() const { return size_; }
  // Nothing is written any more. The error is a sentence: the disk is full, or the like.
  std::expected<void, std::string> finish();
  std::span<const uint8_t> bytes() const { return map_ != nullptr ? std::span(map_, size_) : std::span(buffer_); }

 private:
  void spill();

  size_t most_;
  uint64_t size_ = 0;
  std::vector<uint8_t> buffer_;  // of what is not in the file
  dataplane::OwnedFd file_;
  std::string failure_;
  const uint8_t* map_ = nullptr;  // of the file, once all is written
};

}  // namespace softspine::control
