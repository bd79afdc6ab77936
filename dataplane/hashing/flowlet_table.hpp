// SPDX-License-Identifier: Apache-2.0
// Flowlets: a flow that pauses for longer than the gap may take another path, since its earlier packets have arrived
// by then. (Sinha, Kandula, Katabi, HotNets 2004; LetFlow, NSDI 2017: the path is drawn, and bursts find the free
// ones.)
//
//   slot = hash % slots;   last packet of the slot longer ago than the gap → a new draw, else the slot's
//
// The number of slots is a power of two, at most kMaxFlowlets; each has 16 bytes. Flows that share a slot share their
// path, as in a chip, and one that keeps sending keeps the other on its path. No memory until the first packet. The
// gap is the time between two arrivals at this switch. Belongs to the switch's worker.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/hashing/flowlet_config.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class FlowletTable {
 public:
  // Returns the draw that is valid for this flow; `draw()` makes a new one.
  template <typename Draw>
  uint32_t draw_of(const FlowletConfig& config, uint32_t hash, Instant now, Draw&& draw) noexcept {
    if (slots_.size() != config.slots) [[unlikely]]
      slots_.assign(config.slots, {});
    // The previous switch may have chosen the path by the hash's low bits, so these may be the same in all packets that
    // come here.
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
