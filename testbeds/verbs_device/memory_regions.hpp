// SPDX-License-Identifier: Apache-2.0
// The memory regions of a device: a key names one, for its program and for peers alike.
//
//   key = number << 8 | tag      the tag changes with each use of a number, so that an old key finds nothing
// Maximum: kRegions at a time; register_memory() then gives none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace softspine::testbeds {

struct MemoryRegion {
  uint32_t client = 0;
  uint32_t pd = 0;
  uint32_t access = 0;   // ibv_access_flags
  uint64_t address = 0;  // in the program
  uint64_t length = 0;
  uint64_t iova = 0;  // by which work names its begin
};

class MemoryRegions {
 public:
  static constexpr uint32_t kRegions = 1U << 20;

  std::optional<uint32_t> add(const MemoryRegion& region) {
    uint32_t number = 0;
    if (!free_.empty()) {
      number = free_.back();
      free_.pop_back();
    } else if (all_.size() < kRegions) {
      number = static_cast<uint32_t>(all_.size());
      all_.push_back({});
    } else {
      return std::nullopt;
    }
    Entry& entry = all_[number];
    entry.region = region;
    entry.is_used = true;
    entry.tag = static_cast<uint8_t>(entry.tag + 1);
    ++count_;
    return number << 8 | entry.tag;
  }
  // False if it is not the client's.
  bool remove(uint32_t key, uint32_t client) {
    Entry* const entry = entry_of(key);
    if (entry == nullptr || entry->region.client != client) return false;
    forget(key >> 8);
    return true;
  }
  void remove_all_of(uint32_t client) {
    for (uint32_t number = 0; number < all_.size(); ++number) {
      if (all_[number].is_used && all_[number].region.client == client) forget(number);
    }
  }
  uint32_t count() const { return count_; }
  uint32_t count_of_pd(uint32_t pd) const {
    uint32_t found = 0;
    for (const Entry& entry : all_) found += entry.is_used && entry.region.pd == pd;
    return found;
  }

  // Where `bytes` at `address` lie in the program, if the region is the protection domain's and allows `access`.
  std::optional<uint64_t> find(uint32_t key, uint32_t pd, uint64_t address, uint64_t bytes, uint32_t access) const {
    const uint32_t number = key >> 8;
    if (number >= all_.size()) return std::nullopt;
    const Entry& entry = all_[number];
    const MemoryRegion& region = entry.region;
    if (!entry.is_used || entry.tag != (key & 0xff) || region.pd != pd || (region.access & access) != access)
      return std::nullopt;
    const uint64_t offset = address - region.iova;
    if (address < region.iova || offset > region.length || bytes > region.length - offset) return std::nullopt;
    return region.address + offset;
  }

 private:
  struct Entry {
    MemoryRegion region;
    bool is_used = false;
    uint8_t tag = 0;
  };
  Entry* entry_of(uint32_t key) {
    const uint32_t number = key >> 8;
    if (number >= all_.size() || !all_[number].is_used || all_[number].tag != (key & 0xff)) return nullptr;
    return &all_[number];
  }
  void forget(uint32_t number) {
    all_[number].is_used = false;
    free_.push_back(number);
    --count_;
  }

  std::vector<Entry> all_;
  std::vector<uint32_t> free_;
  uint32_t count_ = 0;
};

}  // namespace softspine::testbeds
