// SPDX-License-Identifier: Apache-2.0
// An observer of one port's pauses. PortFlowControl calls it when a span has ended, which may be seen later than at its
// end. Nobody observes unless the user asks: then each pause costs one comparison with null.
//
//   stood_still   the priority was paused, and no frame of it was leaving: a part of PauseState::stopped_time()
//   asked         the port asked its neighbour to pause: a part of PortFlowControl::tx_requested()
// The spans of one kind and priority do not overlap, and their lengths add up to these times.
#pragma once

#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct PauseSpan {
  Instant from = Instant::never();
  Instant to;
  bool is_empty() const { return to <= from; }
};

class PauseObserver {
 public:
  virtual ~PauseObserver() = default;
  virtual void stood_still(Priority priority, PauseSpan span) noexcept = 0;
  virtual void asked(Priority priority, PauseSpan span) noexcept = 0;
};

}  // namespace softspine::dataplane
