// SPDX-License-Identifier: Apache-2.0
// Flowlets: a flow that pauses for longer than the gap may take another path, since what it sent before is through by
// then. (Sinha, Kandula, Katabi, HotNets 2004; LetFlow, NSDI 2017: the path is drawn, and bursts find the free ones.)
//
//   slot = hash % slots;   last packet of the slot longer ago than the gap → a new draw, else the slot's
//
// A power of two of slots, of 16 bytes each; flows that share a slot share their path, as in a chip, and one that
// talks holds the other back. No memory until the first packet; never more than kMaxFlowlets slots.
// The gap is ordinary time between arrivals at this switch. Belongs to the switch's worker.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kMaxFlowlets = 1 << 20;

struct FlowletConfig {
  Duration gap = Duration::us(50);
  uint32_t slots = 16'384;  // a power of two
};

class FlowletTable {
 public:
  // The draw in force for this flow; `draw()` makes a new one.
  template <typename Draw>
  uint32_t draw_of(const FlowletConfig& config, uint32_t hash, Instant now, Draw&& draw) noexcept {
    if (slots_.size() != config.slots) [[unlikely]]
      slots_.assign(config.slots, {});
    // The hash's low bits have chosen the path of who sent this, so all that comes here may share them.
    Slot& slot = slots_[(hash * 0x9E3779B1U >> 12) & (config.slots - 1)];
    if (now - slot.last > config.gap) {
      slot.draw = draw();
      ++begun_;
    }
    slot.last = now;
    return slot.draw;
  }
  uint64_t begun() const { return begun_; }

 private:
  struct Slot {
    Instant last = Instant::at(Duration::ps(INT64_MIN / 2));
    uint32_t draw = 0;
  };
  std::vector<Slot> slots_;
  uint64_t begun_ = 0;
};

}  // namespace softspine::dataplane
