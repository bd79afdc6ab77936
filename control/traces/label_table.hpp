// SPDX-License-Identifier: Apache-2.0
// The labels of one rank, each with the number of its operation. The texts lie one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::control {

class LabelTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  void clear() {
    texts_.clear();
    begins_.clear();
    labels_ = 0;
    std::ranges::fill(slots_, kNone);
  }
  // The next operation, which has a label or, if that is empty, none. False: another one has it.
  bool add(std::string_view label) {
    if (!label.empty() && find(label) != kNone) return false;
    const auto number = static_cast<uint32_t>(begins_.size());
    begins_.push_back(texts_.size());
    texts_.append(label);
    if (label.empty()) return true;
    if (2 * ++labels_ > slots_.size()) grow();
    slots_[place_of(label)] = number;
    return true;
  }
  uint32_t find(std::string_view label) const { return slots_.empty() ? kNone : slots_[place_of(label)]; }
  std::string_view label(uint32_t number) const {
    const uint64_t end = number + 1 < begins_.size() ? begins_[number + 1] : texts_.size();
    return std::string_view(texts_).substr(begins_[number], end - begins_[number]);
  }

 private:
  // Where it stands, or would.
  size_t place_of(std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    size_t place = std::hash<std::string_view>{}(text)&mask;
    while (slots_[place] != kNone && label(slots_[place]) != text) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    slots_.assign(std::max<size_t>(64, slots_.size() * 2), kNone);
    for (uint32_t i = 0; i + 1 < begins_.size(); ++i) {
      if (!label(i).empty()) slots_[place_of(label(i))] = i;
    }
  }

  std::string texts_;
  std::vector<uint64_t> begins_;  // by operation
  std::vector<uint32_t> slots_;   // numbers; a power of two of them
  size_t labels_ = 0;
};

}  // namespace softspine::control
