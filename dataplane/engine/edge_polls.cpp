// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/edge_polls.hpp"

#include <algorithm>

namespace softspine::dataplane {

void EdgePolls::add(Node& edge) {
  const int descriptor = edge.poll_descriptor();
  if (descriptor < 0) return always_.push_back(&edge);
  // What came before it was watched is news, too.
  if (readiness_.watch(descriptor, &told_.emplace_back(&edge, true), Readiness::Mode::kNews)) return;
  told_.pop_back();
  always_.push_back(&edge);
}

bool EdgePolls::poll(Instant now) noexcept {
  bool busy = false;
  for (Node* const edge : always_) busy |= edge->poll(now);
  if (told_.empty()) return busy;
  if (!std::ranges::all_of(told_, &Told::has_news))  // else it is a system call that tells nothing
    readiness_.ask([](void* told) { static_cast<Told*>(told)->has_news = true; });
  for (Told& it : told_) {
    if (!it.has_news) continue;
    it.has_news = it.edge->poll(now);
    busy |= it.has_news;
  }
  return busy;
}

}  // namespace softspine::dataplane
