// SPDX-License-Identifier: Apache-2.0
// A histogram of non-negative numbers from 0 to 2^63, 128 buckets to an octave: one increment a sample. A quantile is
// the middle of the bucket that its sample is in, so at most 1/256 (0.4 %) off; below 256 it is exact, as are the
// smallest sample, the largest, and the mean.
//
// An octave's buckets (256 B) are allocated with its first sample: latencies span a few octaves, and most hosts of a
// large fabric may never have a sample. A bucket counts to 65,535 by itself and then carries: so what samples touch
// stays in the caches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace softspine::dataplane {

class Histogram {
 public:
  // After this, add() takes memory for another octave once kUsual have samples.
  void reserve() {
    if (!buckets_.empty()) return;
    buckets_.reserve(kOctaves + kUsual * kSub);
    buckets_.resize(kOctaves);
  }
  void add(int64_t value) {
    const uint64_t v = value < 0 ? 0 : static_cast<uint64_t>(value);
    const Place place = place_of(v);
    uint16_t* const buckets = buckets_.data();
    const bool is_there = buckets != nullptr && buckets[place.octave] != 0;
    if (!is_there || ++buckets[buckets[place.octave] + place.sub] == 0) [[unlikely]]
      add_rarely(place, is_there);
    ++count_;
    sum_ += static_cast<double>(v);
    max_ = std::max(max_, v);
    min_ = count_ == 1 ? v : std::min(min_, v);
  }
  void merge(const Histogram& other) {
    if (other.count_ == 0) return;
    for (uint32_t octave = 0; octave < kOctaves; ++octave) {
      if (other.buckets_[octave] == 0) continue;
      for (uint32_t sub = 0; sub < kSub; ++sub) add_samples({octave, sub}, other.samples_at({octave, sub}));
    }
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }
  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  uint64_t min() const { return min_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // By nearest rank: the sample that `share` (0 … 1) of the samples do not exceed, to the precision of its bucket.
  uint64_t quantile(double share) const {
    const auto rank = static_cast<uint64_t>(share * static_cast<double>(count_) + 0.9999999);
    if (rank >= count_) return max_;
    if (rank <= 1) return min_;
    uint64_t seen = 0;
    for (uint32_t octave = 0; octave < kOctaves; ++octave) {
      if (buckets_[octave] == 0) continue;
      for (uint32_t sub = 0; sub < kSub; ++sub) {
        seen += samples_at({octave, sub});
        if (seen >= rank) return std::clamp(middle_of({octave, sub}), min_, max_);
      }
    }
    return max_;
  }

  // Every member, for who brings a histogram to another process as bytes.
  template <typename Self, typename See>
  static void see_all(Self& self, See&& see) {
    see(self.buckets_);
    see(self.carried_);
    see(self.count_);
    see(self.sum_);
    see(self.max_);
    see(self.min_);
  }

 private:
  static constexpr int kSubBits = 7;
  static constexpr uint32_t kSub = 1 << kSubBits;
  static constexpr uint32_t kOctaves = 64 - kSubBits;
  static constexpr uint32_t kUsual = 8;
  static constexpr uint64_t kCarry = 1 << 16;

  // Octave 0 has what is less than kSub, octave n what is in [kSub << (n − 1), kSub << n).
  struct Place {
    uint32_t octave;
    uint32_t sub;
  };
  static Place place_of(uint64_t v) {
    const auto octave = static_cast<uint32_t>(kOctaves - std::countl_zero(v | (kSub - 1)));
    const uint32_t shift = octave - (octave != 0 ? 1 : 0);
    return {octave, static_cast<uint32_t>(v >> shift) & (kSub - 1)};
  }
  static uint64_t middle_of(Place place) {
    if (place.octave == 0) return place.sub;
    const uint32_t shift = place.octave - 1;
    return ((uint64_t{kSub} + place.sub) << shift) + ((uint64_t{1} << shift) - 1) / 2;
  }

  uint64_t samples_at(Place place) const {
    const size_t at = size_t{buckets_[place.octave]} + place.sub;
    return buckets_[at] + (at < carried_.size() ? carried_[at] * kCarry : 0);
  }
  // The octave's first sample, or a bucket that has counted to its end and begins again.
  [[gnu::noinline]] void add_rarely(Place place, bool is_there) {
    if (is_there) {
      carry(size_t{buckets_[place.octave]} + place.sub, 1);
    } else {
      add_samples(place, 1);
    }
  }
  void add_samples(Place place, uint64_t samples) {
    reserve();
    if (buckets_[place.octave] == 0) {
      buckets_[place.octave] = static_cast<uint16_t>(buckets_.size());
      buckets_.resize(buckets_.size() + kSub);
    }
    const size_t at = size_t{buckets_[place.octave]} + place.sub;
    const uint64_t sum = buckets_[at] + samples;
    buckets_[at] = static_cast<uint16_t>(sum % kCarry);
    if (sum >= kCarry) carry(at, sum / kCarry);
  }
  void carry(size_t at, uint64_t times) {
    if (at >= carried_.size()) carried_.resize(at + 1);
    carried_[at] += times;
  }

  std::vector<uint16_t> buckets_;  // where each octave's begin (0: not there), then the buckets of those that are there
  std::vector<uint64_t> carried_;  // parallel to buckets_: the times 65,536 that they have counted beside
  uint64_t count_ = 0;
  double sum_ = 0;
  uint64_t max_ = 0;
  uint64_t min_ = 0;
};

}  // namespace softspine::dataplane
