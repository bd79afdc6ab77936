// SPDX-License-Identifier: Apache-2.0
// The edges that a worker polls. An edge with a descriptor is polled when it has news, and until its poll() returns
// false; the kernel is asked about all of them at once, so that an edge without traffic costs no call of its own.
#pragma once

#include <deque>
#include <vector>

#include "dataplane/engine/readiness.hpp"
#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

class EdgePolls {
 public:
  // Before the first window.
  void add(Node& edge);
  bool empty() const { return always_.empty() && told_.empty(); }
  // True if an edge has, or had, something to do.
  bool poll(Instant now) noexcept;
  // Readable while an edge has news; -1: none would say so.
  int descriptor() const { return readiness_.descriptor(); }
  // Whether every edge says when it has news.
  bool tell_all() const { return always_.empty(); }

 private:
  struct Told {
    Node* edge;
    bool has_news;  // or had, and its last poll() was not the end of it
  };
  std::vector<Node*> always_;
  std::deque<Told> told_;  // readiness_ has their addresses
  Readiness readiness_;
};

}  // namespace softspine::dataplane
