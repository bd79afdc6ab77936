// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/sequence.hpp"

#include "control/collectives/collective_work.hpp"

namespace softspine::control {

bool CollectiveSequence::next(Operation& out) noexcept {
  if (is_over_) return false;
  if (!current_ || !current_->next(out)) {
    join(out);
    return true;
  }
  needs_.clear();
  for (const uint64_t need : out.needs) needs_.push_back(before_ + need);
  // What follows a joint at once waits for it.
  if (needs_.empty()) needs_.push_back(before_ - 1);
  out.needs = needs_;
  ++given_;
  return true;
}

void CollectiveSequence::join(Operation& out) {
  out = {.kind = OperationKind::kCompute, .after_all = true};
  if (begun_ == 0) out.time = run_.start - dataplane::Instant{};
  before_ = ++given_;
  is_over_ = begun_ == count();
  if (is_over_) return;
  out.time += run_.compute;
  current_ = stream_of(run_.shapes[begun_ / run_.iterations], rank_);
  ++begun_;
}

}  // namespace softspine::control
