// SPDX-License-Identifier: Apache-2.0
#include "control/routing/plane_leaks.hpp"

#include <algorithm>
#include <set>

namespace softspine::control {
namespace {

class LeakFinder {
 public:
  LeakFinder(const Fabric& fabric, bool meet_in_core) : fabric_(fabric), meet_in_core_(meet_in_core) {
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) add_ends(n);
  }

  std::optional<std::vector<uint32_t>> find() {
    for (const uint32_t plane : planes_) {
      if (auto way = find_from(plane)) return way;
    }
    return {};
  }

 private:
  // A step of the walk: a switch, and whether the way to it has led down (or sideways) yet.
  struct Step {
    uint32_t node;
    bool goes_down;
    size_t before;
  };
  static constexpr size_t kStart = SIZE_MAX;

  void add_ends(uint32_t n) {
    const FabricNode& node = fabric_.nodes[n];
    if (node.kind != NodeKind::kHost) return;
    std::set<uint32_t> planes;
    std::vector<uint32_t> tors;
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const uint32_t peer = fabric_.peer_of({n, p}).node;
      if (fabric_.nodes[peer].kind != NodeKind::kSwitch) return;
      planes.insert(fabric_.nodes[peer].plane);
      tors.push_back(peer);
    }
    if (planes.size() < 2) return;
    ends_.insert(tors.begin(), tors.end());
    planes_.insert(planes.begin(), planes.end());
  }

  std::optional<std::vector<uint32_t>> find_from(uint32_t plane) {
    steps_.clear();
    reached_.assign(fabric_.nodes.size() * 2, false);
    for (const uint32_t tor : ends_) {
      if (fabric_.nodes[tor].plane == plane) reach({tor, false, kStart});
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step step = steps_[i];
      if (ends_.contains(step.node) && fabric_.nodes[step.node].plane != plane) return way_to(i);
      walk_on(i);
    }
    return {};
  }

  void walk_on(size_t at) {
    const Step step = steps_[at];
    const FabricNode& node = fabric_.nodes[step.node];
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const uint32_t next = fabric_.peer_of({step.node, p}).node;
      const FabricNode& peer = fabric_.nodes[next];
      if (peer.kind != NodeKind::kSwitch || (meet_in_core_ && peer.role == Role::kCore)) continue;
      const bool is_up = tier_of(peer.role) > tier_of(node.role);
      if (!is_up || !step.goes_down) reach({next, step.goes_down || !is_up, at});
    }
  }

  void reach(Step step) {
    const size_t place = size_t{step.node} * 2 + (step.goes_down ? 1 : 0);
    if (reached_[place]) return;
    reached_[place] = true;
    steps_.push_back(step);
  }

  std::vector<uint32_t> way_to(size_t last) const {
    std::vector<uint32_t> out;
    for (size_t i = last; i != kStart; i = steps_[i].before) out.push_back(steps_[i].node);
    std::ranges::reverse(out);
    return out;
  }

  const Fabric& fabric_;
  bool meet_in_core_;
  std::set<uint32_t> ends_;    // ToRs of hosts on several planes
  std::set<uint32_t> planes_;  // of those
  std::vector<Step> steps_;
  std::vector<bool> reached_;
};

}  // namespace

std::optional<std::vector<uint32_t>> find_plane_leak(const Fabric& fabric, bool meet_in_core) {
  return LeakFinder(fabric, meet_in_core).find();
}

}  // namespace softspine::control
