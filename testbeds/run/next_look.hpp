// SPDX-License-Identifier: Apache-2.0
// When somebody who observes a run at the multiples of an interval looks again (Engine::look_at).
#pragma once

#include "dataplane/engine/engine.hpp"

namespace softspine::testbeds {

// The next multiple after `now`; on the virtual clock the first one after the next event, if nothing happens before
// that one. never(): nothing will happen.
inline dataplane::Instant next_look(const dataplane::Engine& engine, dataplane::Instant now,
                                    dataplane::Duration interval) {
  const dataplane::Instant usual = now + interval;
  if (engine.is_wall()) return usual;
  const dataplane::Instant event = engine.next_event();
  if (event.is_never()) return event;
  if (event <= usual) return usual;
  return dataplane::Instant::at_ps((event.count_ps() / interval.count_ps() + 1) * interval.count_ps());
}

}  // namespace softspine::testbeds
