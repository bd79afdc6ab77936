// SPDX-License-Identifier: Apache-2.0
// The pauses that are on at one instant as a graph: which of them can be the cause of which.
//
// Y sends PFC because one of its buffers fills, and the buffer fills because its packets may not leave. So a pause of
// Y's egress can cause a pause that Y itself asks for, on another port, whose packets wait to leave by this egress.
//
//   Their priorities must be the same, or one of them PAUSE, which stops all.
//   X pauses Y at port q,  Y pauses Z from port r:  the first can cause the second if q ≠ r, and Y is a switch.
//   (q = r would be traffic that turns back into the port it came from. A host does not forward.)
//
// Two readings:
//   kUpDown: routes go up, then down. Traffic that came from above does not leave upwards again, so with r and q
//            both upwards there is no cause. Where tiers are not known this excludes nothing.
//   kAny:    every turn. A fabric whose routes went wrong can turn upwards again: that is how deadlocks happen.
//            Only a cycle that nothing outside it feeds counts there, since in a large storm everything is paused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

enum class Turns : uint8_t { kUpDown, kAny };

// Whether the first pause can be the cause of the second if both are on at the same time.
bool may_cause(const PauseLog& log, const Pause& first, const Pause& second, Turns turns);

class PauseGraph {
 public:
  explicit PauseGraph(const PauseLog& log);

  // The pauses that are on: indices into log.pauses. A `place` below is an index into `active`.
  void set(std::span<const uint32_t> active);
  size_t size() const { return active_.size(); }
  uint32_t pause_at(size_t place) const { return active_[place]; }

  // The pauses that nothing causes, and those that are known to be roots (`known[i]`: pause i of the log), by begin.
  std::vector<uint32_t> roots(Turns turns, const std::vector<bool>& known) const;

  struct Reach {
    std::vector<uint32_t> root;  // by place: the oldest root (a place) that leads to it; kNone: none does
    std::vector<uint32_t> hops;  // from that root
  };
  Reach reach(Turns turns, const std::vector<bool>& known = {});

  // Sets of two and more pauses that all cause each other; only among the `wanted` places, if `wanted` is not empty.
  std::vector<std::vector<uint32_t>> cycles(Turns turns, const std::vector<bool>& wanted) const;

  // The shortest way from the first place of a cycle through other places of the cycle back to it.
  std::vector<uint32_t> way_around(Turns turns, const std::vector<uint32_t>& cycle) const;

 private:
  const Pause& pause(uint32_t place) const { return log_.pauses[active_[place]]; }
  bool has_cause(uint32_t place, Turns turns) const;
  template <typename Visit>
  void for_each_effect(uint32_t place, Turns turns, Visit visit) const;

  const PauseLog& log_;
  std::vector<uint32_t> active_;
  std::vector<std::vector<uint32_t>> asked_by_;   // by node: places of pauses that it asks for
  std::vector<std::vector<uint32_t>> stopping_;   // by node: places of pauses of its ports
  std::vector<std::vector<uint32_t>> unreached_;  // by node: of asked_by_, what no root leads to so far
};

}  // namespace softspine::analysis::storm
