// SPDX-License-Identifier: Apache-2.0
// Values as bytes for another rank, which is the same program on the same kind of processor: as they lie in memory.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>

#include "dataplane/ranks/rank_link.hpp"

namespace softspine::dataplane {

inline void put_bytes(RankBytes& out, const void* from, size_t bytes) {
  const auto* const first = static_cast<const uint8_t*>(from);
  out.insert(out.end(), first, first + bytes);
}
template <typename T>
  requires std::is_trivially_copyable_v<T>
void put(RankBytes& out, const T& value) {
  put_bytes(out, &value, sizeof value);
}

// Reads what put() has written. Behind the end there are zeros, and is_whole() says so.
class RankReader {
 public:
  explicit RankReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  bool is_whole() const { return is_whole_; }
  std::span<const uint8_t> take_bytes(size_t bytes) {
    is_whole_ = is_whole_ && bytes <= rest_.size();
    if (!is_whole_) rest_ = {};
    const auto out = rest_.first(is_whole_ ? bytes : 0);
    rest_ = rest_.subspan(out.size());
    return out;
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T take() {
    T out{};
    const auto bytes = take_bytes(sizeof out);
    if (bytes.size() == sizeof out) std::memcpy(static_cast<void*>(&out), bytes.data(), sizeof out);
    return out;
  }

 private:
  std::span<const uint8_t> rest_;
  bool is_whole_ = true;
};

}  // namespace softspine::dataplane
