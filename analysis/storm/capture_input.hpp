// SPDX-License-Identifier: Apache-2.0
// An input that is read in order, a block at a time: the part of a capture reader that knows no format.
// Memory: one buffer, as large as the largest block that was asked for, at least `read_bytes`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace softspine::analysis::storm {

class CaptureInput {
 public:
  // Fills the front of the span and returns the number of bytes; 0 at the end.
  using Read = std::function<size_t(std::span<uint8_t>)>;
  static constexpr size_t kReadBytes = 1 << 16;

  explicit CaptureInput(Read read, size_t read_bytes = kReadBytes) : read_(std::move(read)), buffer_(read_bytes) {}

  // The position of the next byte that was not skipped.
  uint64_t offset() const { return offset_; }
  // The next `n` bytes, or fewer if the input ends before that; valid until the next call.
  std::span<const uint8_t> peek(size_t n);
  // False if the input ended before that.
  bool skip(uint64_t n);

 private:
  void fill(size_t n);
  size_t held() const { return end_ - begin_; }

  Read read_;
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
  bool ended_ = false;
};

}  // namespace softspine::analysis::storm
