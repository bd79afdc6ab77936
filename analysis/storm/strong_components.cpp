// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/strong_components.hpp"

#include <algorithm>
#include <utility>

namespace softspine::analysis::storm {

namespace {

using Successors = std::function<std::vector<uint32_t>(uint32_t)>;

class Components {
 public:
  Components(uint32_t vertices, const Successors& successors)
      : successors_(successors), order_(vertices, 0), low_(vertices, 0), on_stack_(vertices, false) {}

  std::vector<std::vector<uint32_t>> find() {
    for (uint32_t vertex = 0; vertex < order_.size(); ++vertex) {
      if (order_[vertex] == 0) walk_from(vertex);
    }
    return std::move(found_);
  }

 private:
  struct Visit {
    uint32_t vertex;
    std::vector<uint32_t> successors;
    size_t next = 0;
  };

  void enter(uint32_t vertex) {
    order_[vertex] = low_[vertex] = ++count_;
    stack_.push_back(vertex);
    on_stack_[vertex] = true;
    visits_.push_back({.vertex = vertex, .successors = successors_(vertex)});
  }
  void walk_from(uint32_t start) {
    enter(start);
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      if (visit.next == visit.successors.size()) {
        leave();
        continue;
      }
      const uint32_t successor = visit.successors[visit.next++];
      if (order_[successor] == 0) {
        enter(successor);
      } else if (on_stack_[successor]) {
        low_[visit.vertex] = std::min(low_[visit.vertex], order_[successor]);
      }
    }
  }
  void leave() {
    const uint32_t vertex = visits_.back().vertex;
    visits_.pop_back();
    if (!visits_.empty()) {
      uint32_t& above = low_[visits_.back().vertex];
      above = std::min(above, low_[vertex]);
    }
    if (low_[vertex] != order_[vertex]) return;
    std::vector<uint32_t> members;
    for (bool last = false; !last;) {
      const uint32_t member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      members.push_back(member);
      last = member == vertex;
    }
    if (members.size() > 1) found_.push_back(std::move(members));
  }

  const Successors& successors_;
  std::vector<uint32_t> order_;  // in which vertices were met, from 1
  std::vector<uint32_t> low_;    // the least order of the stack that a vertex leads back to
  std::vector<bool> on_stack_;
  std::vector<uint32_t> stack_;
  std::vector<Visit> visits_;
  uint32_t count_ = 0;
  std::vector<std::vector<uint32_t>> found_;
};

}  // namespace

std::vector<std::vector<uint32_t>> strong_components(uint32_t vertices,
                                                     const std::function<std::vector<uint32_t>(uint32_t)>& successors) {
  return Components{vertices, successors}.find();
}

}  // namespace softspine::analysis::storm
