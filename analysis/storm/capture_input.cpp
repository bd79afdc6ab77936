// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/capture_input.hpp"

#include <algorithm>

namespace softspine::analysis::storm {

void CaptureInput::fill(size_t n) {
  if (begin_ + n > buffer_.size()) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_), buffer_.begin() + static_cast<ptrdiff_t>(end_),
              buffer_.begin());
    end_ = held();
    begin_ = 0;
  }
  while (held() < n && !ended_) {
    // A block's length may exceed the input: room is made as it comes.
    if (end_ == buffer_.size()) buffer_.resize(std::min(n, 2 * buffer_.size()));
    const size_t got = read_(std::span{buffer_}.subspan(end_));
    ended_ = got == 0;
    end_ += got;
  }
}

std::span<const uint8_t> CaptureInput::peek(size_t n) {
  if (held() < n) fill(n);
  return std::span<const uint8_t>{buffer_}.subspan(begin_, std::min(n, held()));
}

bool CaptureInput::skip(uint64_t n) {
  while (n > 0) {
    if (held() == 0) fill(1);
    if (held() == 0) return false;
    const uint64_t some = std::min<uint64_t>(n, held());
    begin_ += some;
    offset_ += some;
    n -= some;
  }
  return true;
}

}  // namespace softspine::analysis::storm
