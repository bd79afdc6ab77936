// SPDX-License-Identifier: Apache-2.0
// How much memory the packets of one fabric may take together. Its pools take from it as they grow, and give it back
// when they end.
//
// A fabric without memory for a packet is no longer the one that was described. So the first packet that cannot be
// made is reported once, by `on_spent`, on the thread that wanted it; control then ends the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace softspine::dataplane {

class PacketBudget {
 public:
  explicit PacketBudget(uint64_t limit_bytes, std::function<void()> on_spent = {})
      : limit_bytes_(limit_bytes), on_spent_(std::move(on_spent)) {}

  // False if `bytes` is more than is left; nothing is then taken.
  bool take(uint64_t bytes) noexcept {
    if (taken_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_bytes_) return true;
    release(bytes);
    return false;
  }
  void release(uint64_t bytes) noexcept { taken_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Called when a packet could not be made.
  void miss() noexcept {
    if (!spent_.exchange(true, std::memory_order_relaxed) && on_spent_) on_spent_();
  }

  bool is_spent() const noexcept { return spent_.load(std::memory_order_relaxed); }
  uint64_t limit_bytes() const { return limit_bytes_; }
  uint64_t taken_bytes() const noexcept { return taken_bytes_.load(std::memory_order_relaxed); }

 private:
  uint64_t limit_bytes_;
  std::function<void()> on_spent_;
  std::atomic<uint64_t> taken_bytes_{0};
  std::atomic<bool> spent_{false};
};

}  // namespace softspine::dataplane
