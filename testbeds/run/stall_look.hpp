// SPDX-License-Identifier: Apache-2.0
// Which flows stand still while a fault is open, and for how long: looks at what their destinations have received, so
// that no packet costs anything.
//
//   a look     every 10 us after a fault has begun or changed (wall clock: 1 ms), later every 1/64 of the time since
//   stalled    a flow that has begun and is not complete (an open loop: has not sent all), of which nothing arrives
//              for four looks and for eight times as long as its packets had been apart on average
//   how long   from its last packet to the next one. Of several that arrive between two looks, the last is taken: a
//              stall is reported at most one look too long
#pragma once

#include <cstdint>
#include <vector>

#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

struct Stall {
  uint32_t flow = 0;
  dataplane::Instant from;  // its last packet before; its first one was sent then if there was none
  dataplane::Instant to;    // its next packet; the look, if `still`
  bool still = false;
};

class StallLook {
 public:
  explicit StallLook(const Assembly& assembly) : assembly_(assembly) {}

  // A fault begins or changes: looks are dense from now on. `first`: none has been before, or not for a while.
  void restart(dataplane::Instant now, bool first);
  // When the next look is due after one at `now`.
  dataplane::Instant next(dataplane::Instant now) const { return now + interval(now); }
  // The stalls that have ended since the last look, and those that go on.
  std::vector<Stall> look(dataplane::Instant now);

 private:
  struct Seen {
    uint64_t packets = 0;
    dataplane::Instant last;
  };
  dataplane::Duration interval(dataplane::Instant now) const;
  bool is_stall(uint32_t flow, dataplane::Instant from, dataplane::Instant to, dataplane::Instant now) const;
  void look_at(uint32_t flow, dataplane::Instant now, std::vector<Stall>& out);

  const Assembly& assembly_;
  std::vector<Seen> seen_;  // by flow
  dataplane::Instant since_;
};

}  // namespace softspine::testbeds
