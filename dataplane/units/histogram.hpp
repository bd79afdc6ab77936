// SPDX-License-Identifier: Apache-2.0
// A histogram of non-negative numbers in buckets of at most 1/16 relative width (error ≤ 6.25 %),
// from 0 to 2^63: one increment a sample. The maximum is exact.
//
// The buckets (7.7 KB) are allocated by reserve(), or with the first sample: most hosts of a large fabric may never
// have a sample.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace softspine::dataplane {

class Histogram {
 public:
  Histogram() = default;
  Histogram(const Histogram& other) { *this = other; }
  Histogram(Histogram&&) noexcept = default;
  Histogram& operator=(Histogram&&) noexcept = default;
  Histogram& operator=(const Histogram& other) {
    if (this == &other) return *this;
    buckets_ = other.buckets_ ? std::make_unique<Buckets>(*other.buckets_) : nullptr;
    count_ = other.count_;
    sum_ = other.sum_;
    max_ = other.max_;
    min_ = other.min_;
    return *this;
  }
  ~Histogram() = default;

  // After this, add() takes no memory.
  void reserve() {
    if (!buckets_) buckets_ = std::make_unique<Buckets>();
  }
  void add(int64_t value) {
    if (!buckets_) [[unlikely]]
      reserve();
    const uint64_t v = value < 0 ? 0 : static_cast<uint64_t>(value);
    ++(*buckets_)[index_of(v)];
    ++count_;
    sum_ += static_cast<double>(v);
    max_ = std::max(max_, v);
    min_ = count_ == 1 ? v : std::min(min_, v);
  }
  void merge(const Histogram& other) {
    if (other.count_ == 0) return;
    reserve();
    for (size_t i = 0; i < kBuckets; ++i) (*buckets_)[i] += (*other.buckets_)[i];
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }
  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  uint64_t min() const { return min_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // The smallest bucket bound that at least `share` (0 … 1) of the samples do not exceed; never above max().
  uint64_t quantile(double share) const {
    if (count_ == 0) return 0;
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count_) + 0.9999999);
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += (*buckets_)[i];
      if (seen >= wanted) return std::clamp(upper_bound_of(i), min_, max_);
    }
    return max_;
  }

 private:
  static constexpr int kSubBits = 4;
  static constexpr uint64_t kSub = 1 << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits) * kSub;
  using Buckets = std::array<uint64_t, kBuckets>;

  static size_t index_of(uint64_t v) {
    if (v < kSub) return v;
    const int exponent = 63 - std::countl_zero(v);
    const int shift = exponent - kSubBits;
    return static_cast<size_t>(shift + 1) * kSub + ((v >> shift) - kSub);
  }
  static uint64_t upper_bound_of(size_t i) {
    if (i < kSub) return i;
    const size_t shift = i / kSub - 1;
    return ((kSub + i % kSub + 1) << shift) - 1;
  }

  std::unique_ptr<Buckets> buckets_;
  uint64_t count_ = 0;
  double sum_ = 0;
  uint64_t max_ = 0;
  uint64_t min_ = 0;
};

}  // namespace softspine::dataplane
