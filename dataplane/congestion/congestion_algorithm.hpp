// SPDX-License-Identifier: Apache-2.0
// The interface between a sender and a congestion control: the events that it reports to it, and three answers.
// congestion_control.hpp holds one of them by value; algorithms.hpp lists them all.
//
//   event                                      when
//   on_sent(now, bytes)                        a frame began; bytes on the wire
//   on_ack(now, bytes, rtt, ecn)               payload acknowledged for the first time; the round-trip time, if the
//                                              acknowledgement is that of a packet that asked and was sent once;
//                                              whether the acknowledgement itself was marked with CE
//   on_cnp(now)                                a CNP for the queue pair
//   on_timeout(now)                            nothing was acknowledged in time; the sender goes back
//   advance(now)                               `now` has reached next_change()
//   question                                   answer
//   rate_bps()                                 bit/s on the wire, or kNoLimit
//   window_bytes()                             payload under way at most, or kNoLimit; one packet is always allowed
//   next_change()                              when rate or window changes by itself; never() if neither does
//
// Every call happens after all changes that were due by its `now` (advance), and `now` never goes back. An algorithm
// neither allocates nor throws, and sees no packet. Members that it does not declare are inherited from
// CongestionAlgorithm, which ignores the events and limits nothing. If a window shrinks while no packet under way asks
// for an acknowledgement, the sender waits for its timer: no algorithm here has such a window, and a new one that has
// must make the sender ask.
//
// An algorithm also declares how testbed files name it: kSets are its names with the parameters that each stands for,
// kKeys its parameters with limits and help, conflict() returns whether two of them contradict each other. Reading,
// schema and reference pages come from there. kUsesCnps: receivers send CNPs to it. kUsesAcks: it wants on_ack(),
// and the sender then keeps the instants from which a round-trip time is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/top_rate.hpp"

namespace softspine::dataplane {

struct CongestionAlgorithm {
  static constexpr uint64_t kNoLimit = UINT64_MAX;
  static constexpr bool kUsesCnps = false;
  static constexpr bool kUsesAcks = false;

  void on_sent(Instant, uint32_t) noexcept {}
  void on_ack(Instant, uint64_t, std::optional<Duration>, bool) noexcept {}
  void on_cnp(Instant) noexcept {}
  void on_timeout(Instant) noexcept {}
  void advance(Instant) noexcept {}

  uint64_t rate_bps() const { return kNoLimit; }
  uint64_t window_bytes() const { return kNoLimit; }
  Instant next_change() const { return Instant::never(); }
};

// A word of the testbed file, and the parameters that it stands for.
template <typename Parameters>
struct ParameterSet {
  std::string_view word;
  std::string_view help;
  Parameters parameters;
};

// Which key has an invalid value, and why.
struct ParameterConflict {
  std::string_view key;
  std::string_view message;
};

}  // namespace softspine::dataplane
