// SPDX-License-Identifier: Apache-2.0
// One end of a link that runs LACP, judged by what 802.1AX-2014 says of LACPDUs that are sent and received (6.4): its
// state machines are not asked, nor built again.
//
//   hears        a partner that was not heard for three of the periods that this end asks for is not there
//   in sync      the partner's latest LACPDU has Synchronization, and names this end as its partner
//   carrier      an end that had none has heard its partner since
//   says         an end that sends flows' packets has said so (Distributing), or does within its limit of LACPDUs
//   pace         a LACPDU each second, or each 30 s, as the partner asks; at most three in any second
//   gives up     3 s after a partner is missed its end is no longer in sync, and has said so
//
// `slack` is what an end may take to follow: routes and LAGs look at LACP every 20 ms.
#pragma once

#include <string>
#include <vector>

#include "tests/scenario/failures/lacp_wire.hpp"

namespace softspine::tests {

class LacpEndView {
 public:
  LacpEndView(const control::Testbed& testbed, const WireLink& link, bool second);

  // Why this end must not use the link at `t`, nor its partner with it; empty: it may.
  std::string why_not(dataplane::Instant t) const;
  // Whether it has, or may have had, its carrier.
  bool has_carrier(dataplane::Instant t) const;
  // Whether it has said, or says in time, that it uses the link.
  bool says(dataplane::Instant t) const;
  // What is wrong with the LACPDUs that it sends until `end`.
  std::vector<std::string> wrong_pdus(dataplane::Instant end) const;
  // Of its latest LACPDU before `t`.
  bool uses(dataplane::Instant t) const;
  // It sends LACPDUs in this time, and all arrive.
  bool is_heard(dataplane::Instant from, dataplane::Instant until) const;

  const WireEnd& wire() const { return *own_; }

 private:
  struct Heard {
    dataplane::Instant at;
    bool in_sync;
    bool wants_fast;
  };
  void take_what_was_heard();
  const Heard* last_heard(dataplane::Instant t) const;
  bool was_out(dataplane::Instant from, dataplane::Instant until) const;
  void judge_gap(dataplane::Instant from, dataplane::Instant until, std::vector<std::string>& out) const;
  void judge_silence(const Heard& last, dataplane::Instant until, std::vector<std::string>& out) const;

  const WireLink& link_;
  const WireEnd* own_;
  const WireEnd* partner_;
  dataplane::Duration period_;
  dataplane::Duration slack_;
  dataplane::Duration sees_loss_;    // at the latest so long after the carrier goes
  dataplane::Duration sees_return_;  // and comes
  bool agreed_ = false;              // before the run
  std::vector<Heard> heard_;
};

}  // namespace softspine::tests
