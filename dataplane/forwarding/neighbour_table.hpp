// SPDX-License-Identifier: Apache-2.0
// Neighbours learned by ARP and ND: address → adjacency. Belongs to the switch's worker.
//
// A fixed number of entries, found by linear probing; when it is full, a new neighbour is not learned
// (`refusals` counts) and its packets are dropped as incomplete. The switch asks for one address at most once per
// kAskInterval.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/forwarding/forwarding_state.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class NeighbourTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr Duration kAskInterval = Duration::ms(100);

  explicit NeighbourTable(uint32_t capacity = 4096) : capacity_(capacity) {}

  // The index of a complete neighbour, or kNone.
  uint32_t find(const AddressBytes& address) const noexcept {
    const Slot* slot = probe(address);
    return slot != nullptr && slot->complete ? static_cast<uint32_t>(slot - slots_.data()) : kNone;
  }
  const Adjacency& adjacency(uint32_t index) const noexcept { return slots_[index].adjacency; }

  // Whether the address's last ARP or ND message is younger than `age`. Without an entry, it counts as of instant 0.
  bool is_fresh(const AddressBytes& address, Instant now, Duration age) const noexcept {
    const Slot* slot = probe(address);
    return now - (slot != nullptr ? slot->heard : Instant{}) < age;
  }

  void learn(const AddressBytes& address, const Adjacency& adjacency, Instant now) noexcept;
  // Whether now is the time to ask for this address (again); notes that it was asked.
  bool should_ask(const AddressBytes& address, Instant now) noexcept;
  // Forgets the neighbours behind a port whose link went down: the switch has to ask for each again.
  void forget(uint16_t port) noexcept;

  uint64_t refusals() const { return refusals_; }
  template <typename See>
  void for_each(See&& see) const {
    for (const Slot& slot : slots_) {
      if (slot.used && slot.complete) see(slot.address, slot.adjacency);
    }
  }

 private:
  struct Slot {
    AddressBytes address{};
    Adjacency adjacency;
    Instant asked;
    Instant heard;  // of it, by ARP or ND
    bool used = false;
    bool complete = false;
  };
  const Slot* probe(const AddressBytes& address) const noexcept;
  Slot* slot_for(const AddressBytes& address) noexcept;
  uint32_t start_of(const AddressBytes& address) const noexcept;

  std::vector<Slot> slots_;
  uint32_t capacity_;
  uint32_t used_ = 0;
  uint64_t refusals_ = 0;
};

}  // namespace softspine::dataplane
