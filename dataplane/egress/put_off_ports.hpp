// SPDX-License-Identifier: Apache-2.0
// The ports of a switch whose departures are put off (departures.hpp): which they are, and from when on one of them may
// be due. The ports themselves know when theirs is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PutOffPorts {
 public:
  explicit PutOffPorts(uint32_t ports) : bits_((ports + kWordBits - 1) / kWordBits) {}

  // The port's departure at `left` is put off; `is_new`: it is not one of these ports yet.
  [[gnu::always_inline]] void add(uint32_t port, Instant left, bool is_new) noexcept {
    due_from_ = std::min(due_from_, left);
    last_left_ = left;
    last_ = static_cast<uint16_t>(port);
    if (is_new) [[unlikely]]
      bits_[port / kWordBits] |= bit_of(port);
  }
  void remove(uint32_t port) noexcept { bits_[port / kWordBits] &= ~bit_of(port); }
  // Whether it is known that none is due by `now`.
  bool none_is_due(Instant now) const { return due_from_ > now; }
  // The port that was added last, if it is due by `now`, at most once.
  [[gnu::always_inline]] std::optional<uint32_t> take_last(Instant now) noexcept {
    if (last_left_ > now) return std::nullopt;
    last_left_ = Instant::never();
    return last_;
  }
  uint32_t last() const { return last_; }
  template <typename See>
  void for_each(See&& see) const {
    for (uint32_t word = 0; word < bits_.size(); ++word) {
      for (uint64_t left = bits_[word]; left != 0; left &= left - 1)
        see(word * kWordBits + static_cast<uint32_t>(std::countr_zero(left)));
    }
  }
  // Calls look(port) for each: it returns when its departure is due, or never() if it is one of them no more.
  template <typename Look>
  void revise(Look&& look) noexcept {
    due_from_ = Instant::never();
    for_each([&](uint32_t port) {
      const Instant due = look(port);
      if (due.is_never()) remove(port);
      due_from_ = std::min(due_from_, due);
    });
  }

 private:
  static constexpr uint32_t kWordBits = 64;
  static uint64_t bit_of(uint32_t port) { return uint64_t{1} << port % kWordBits; }

  Instant due_from_ = Instant::never();  // none is due before
  Instant last_left_ = Instant::never();
  uint16_t last_ = 0;
  std::vector<uint64_t> bits_;
};

}  // namespace softspine::dataplane
