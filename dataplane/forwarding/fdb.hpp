// SPDX-License-Identifier: Apache-2.0
// The forwarding database of a bridge: (VLAN, MAC) → port, learned from sources, aged.
//
// Open addressing over a power of two, linear probing, at most kMaxProbes steps; no allocation after
// the start. When all of these slots are taken, the oldest entry among them is replaced (`evictions` counts that). An
// entry not refreshed for the ageing time, kAge unless set, does not match any more. Belongs to the switch's worker.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Fdb {
 public:
  static constexpr uint16_t kUnknown = 0xffff;
  static constexpr Duration kAge = Duration::s(300);
  static constexpr uint32_t kMaxProbes = 8;

  // No memory until the first address is learned: most switches of a fabric bridge nothing.
  explicit Fdb(uint32_t capacity = 8192) : capacity_(capacity) {}

  void set_age(Duration age) noexcept { age_ = age; }

  void learn(uint16_t vlan, uint64_t mac, uint16_t port, Instant now) noexcept {
    if (slots_.empty()) slots_.resize(capacity_);
    const uint64_t key = key_of(vlan, mac);
    Slot* oldest = nullptr;
    for (uint32_t i = 0; i < kMaxProbes; ++i) {
      Slot& slot = slots_[(hash_of(key) + i) & (capacity_ - 1)];
      if (slot.key == key) {
        slot.port = port;
        slot.seen = now;
        return;
      }
      if (slot.key == 0) {
        slot = {key, now, port};
        return;
      }
      if (oldest == nullptr || slot.seen < oldest->seen) oldest = &slot;
    }
    ++evictions_;
    *oldest = {key, now, port};
  }

  uint16_t find(uint16_t vlan, uint64_t mac, Instant now) const noexcept {
    const Slot* const slot = slot_of(key_of(vlan, mac));
    return slot != nullptr && now - slot->seen < age_ ? slot->port : kUnknown;
  }
  // Whether the last frame of the MAC is younger than the age. A MAC without an entry counts as last seen at instant 0.
  bool is_fresh(uint16_t vlan, uint64_t mac, Instant now) const noexcept {
    const Slot* const slot = slot_of(key_of(vlan, mac));
    return now - (slot != nullptr ? slot->seen : Instant{}) < age_;
  }

  // Forgets what was learned behind a port (its link went down). Slots stay occupied, but match no more.
  void forget(uint16_t port) noexcept {
    for (Slot& slot : slots_) {
      if (slot.port == port) slot.seen = Instant::at(Duration::ps(0) - kForgotten);
    }
  }
  uint64_t evictions() const { return evictions_; }
  // see(vlan, mac, port) for each entry that matches at `now`.
  template <typename See>
  void for_each(Instant now, See&& see) const {
    for (const Slot& slot : slots_) {
      if (slot.key == 0 || now - slot.seen >= age_) continue;
      see(static_cast<uint16_t>(slot.key >> 48), slot.key & 0xffff'ffff'ffff, slot.port);
    }
  }

 private:
  struct Slot {
    uint64_t key = 0;  // VLAN << 48 | MAC; 0: free
    Instant seen;
    uint16_t port = kUnknown;
  };
  static constexpr Duration kForgotten = Duration::s(2'000'000);  // longer ago than any ageing time
  static uint64_t key_of(uint16_t vlan, uint64_t mac) { return uint64_t{vlan} << 48 | mac; }
  static uint64_t hash_of(uint64_t key) { return (key * 0x9E3779B97F4A7C15) >> 32; }
  // Null: there is none.
  const Slot* slot_of(uint64_t key) const noexcept {
    for (uint32_t i = 0; i < kMaxProbes && !slots_.empty(); ++i) {
      const Slot& slot = slots_[(hash_of(key) + i) & (capacity_ - 1)];
      if (slot.key == key) return &slot;
      if (slot.key == 0) break;
    }
    return nullptr;
  }

  std::vector<Slot> slots_;
  uint32_t capacity_;
  Duration age_ = kAge;
  uint64_t evictions_ = 0;
};

}  // namespace softspine::dataplane
