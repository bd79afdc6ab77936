// SPDX-License-Identifier: Apache-2.0
// Which flows stand still while a fault is open, and for how long: from its last packet to the next one, as the
// destination's queue pair has measured it (ArrivalGap).
//
//   a look     when a fault begins or changes, then every 10 us (wall clock: 1 ms), later every 1/64 of the time since
//   stalled    a flow that has begun and is not complete (an open loop: has not sent all), of which nothing arrives for
//              the longest of: four looks; eight times as long as its packets were apart on average, or as its rate
//              sets them apart; twice as long as it ever paused otherwise, or as it pauses after each message; three
//              times what its quickest packet took (a window's acknowledgements need two)
//   at first   a flow of which nothing has arrived yet stands from its first packet sent on; what its way takes is not
//              known, so it gets the time of eight of the fabric's longest links
// The average is (from the first packet to the last - stalls - the gap that is judged) / (gaps - stalls - the one that
// is judged): a stall is no part of what it is measured by, neither as time nor as a gap, and is no pause of a flow's
// own. Each look takes what its own interval was made for: so one when a fault strikes judges what was before by the
// interval that held then.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/engine/engine.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

struct Stall {
  uint32_t flow = 0;
  dataplane::Instant from;    // its last packet before; its first one was sent then if there was none
  dataplane::Instant to;      // its next packet, or the last one sent of an open loop; the look, if `still`
  dataplane::Duration least;  // what made it a stall: it stands from then on
  bool still = false;
};

class StallLook {
 public:
  // Engine and flows outlive this. A flow is judged where both its ends are.
  StallLook(const control::Fabric& fabric, const dataplane::Engine& engine, const RunFlows& flows);

  // Nobody has looked until now, or not for a while: what flows paused meanwhile is their own.
  void begin();
  // The stalls that have ended since the last look, and those that go on.
  std::vector<Stall> look(dataplane::Instant now);
  // A fault begins or changes, after a look at it: looks are dense from now on.
  void restart(dataplane::Instant now) { since_ = now; }
  // When the next look is due after one at `now`.
  dataplane::Instant next(dataplane::Instant now) const { return now + interval(now); }

 private:
  struct Seen {
    uint64_t packets = 0;
    dataplane::Duration pause;  // the longest that was no stall
    dataplane::Duration stood;  // in stalls between two packets
    uint64_t stalls = 0;        // as many
    bool stands = false;
  };
  struct Flow;
  std::optional<Flow> at(uint32_t flow);
  dataplane::Duration interval(dataplane::Instant now) const;
  dataplane::Duration least(const Flow& flow, dataplane::Duration judged, dataplane::Instant now) const;
  void look_at(uint32_t flow, dataplane::Instant now, std::vector<Stall>& out);
  void see_first(const Flow& flow, dataplane::Instant now, std::vector<Stall>& out) const;
  void see_gap(const Flow& flow, const ArrivalGap& gap, dataplane::Instant now, std::vector<Stall>& out) const;
  void see_silence(const Flow& flow, dataplane::Instant now, std::vector<Stall>& out) const;

  const dataplane::Engine& engine_;
  const RunFlows& flows_;
  dataplane::Duration longest_link_;
  std::vector<Seen> seen_;  // by flow
  dataplane::Instant since_;
};

}  // namespace softspine::testbeds
