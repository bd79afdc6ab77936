// SPDX-License-Identifier: Apache-2.0
#include "dataplane/forwarding/neighbour_table.hpp"

namespace softspine::dataplane {

uint32_t NeighbourTable::start_of(const AddressBytes& address) const noexcept {
  uint64_t a;
  uint64_t b;
  std::memcpy(&a, address.data(), 8);
  std::memcpy(&b, address.data() + 8, 8);
  return static_cast<uint32_t>(((a ^ (b * 0xBF58476D1CE4E5B9)) * 0x9E3779B97F4A7C15) >> 40) & (capacity_ - 1);
}

const NeighbourTable::Slot* NeighbourTable::probe(const AddressBytes& address) const noexcept {
  if (slots_.empty()) return nullptr;
  for (uint32_t i = start_of(address);; i = (i + 1) & (capacity_ - 1)) {
    if (!slots_[i].used) return nullptr;
    if (slots_[i].address == address) return &slots_[i];
  }
}

NeighbourTable::Slot* NeighbourTable::slot_for(const AddressBytes& address) noexcept {
  if (slots_.empty()) slots_.resize(capacity_);
  uint32_t i = start_of(address);
  while (slots_[i].used && slots_[i].address != address) i = (i + 1) & (capacity_ - 1);
  if (slots_[i].used) return &slots_[i];
  if (used_ >= capacity_ / 4 * 3) {  // probes stay short, and an empty slot always ends them
    ++refusals_;
    return nullptr;
  }
  ++used_;
  slots_[i].used = true;
  slots_[i].address = address;
  slots_[i].asked = Instant::at(Duration::ps(0) - kAskInterval);
  return &slots_[i];
}

void NeighbourTable::learn(const AddressBytes& address, const Adjacency& adjacency, Instant now) noexcept {
  Slot* slot = slot_for(address);
  if (slot == nullptr) return;
  slot->adjacency = adjacency;
  slot->heard = now;
  slot->complete = true;
}

bool NeighbourTable::should_ask(const AddressBytes& address, Instant now) noexcept {
  Slot* slot = slot_for(address);
  if (slot == nullptr || now - slot->asked < kAskInterval) return false;
  slot->asked = now;
  return true;
}

void NeighbourTable::forget(uint16_t port) noexcept {
  for (Slot& slot : slots_) {
    if (slot.used && slot.adjacency.port == port) slot.complete = false;
  }
}

}  // namespace softspine::dataplane
