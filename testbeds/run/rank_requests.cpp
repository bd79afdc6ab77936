// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/rank_requests.hpp"

#include <utility>

namespace softspine::testbeds {

void RankRequests::put(std::string kind, std::string text) {
  const std::lock_guard guard{lock_};
  waiting_.push_back({std::move(kind), std::move(text)});
  nodes_.engine().wants_rest().store(true, std::memory_order_relaxed);
}

void RankRequests::start() {
  if (are_shared()) nodes_.engine().when_asked([this](dataplane::Instant now) { carry_out(now); });
}

void RankRequests::carry_out(dataplane::Instant now) {
  std::vector<Request> mine;
  {
    const std::lock_guard guard{lock_};
    mine.swap(waiting_);
  }
  for (const std::vector<Request>& of_rank : nodes_.ranks().gather(mine)) {
    for (const Request& request : of_rank) acts_.at(request.kind)(request.text, now);
  }
}

}  // namespace softspine::testbeds
