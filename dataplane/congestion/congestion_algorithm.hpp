// SPDX-License-Identifier: Apache-2.0
// The interface between a sender and a congestion control: the events that it reports to it, and three answers.
// congestion_control.hpp holds one of them by value; algorithms.hpp lists them all.
//
//   event                                      when
//   on_sent(now, bytes)                        a frame began; bytes on the wire
//   on_ack(now, ack)                           payload was acknowledged for the first time: acknowledgement.hpp
//   on_nak(now)                                a packet was lost, as the receiver says: the sender goes back
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
// for an acknowledgement, the sender waits for its timer: an algorithm with such a window has kAsksAlways.
//
// An algorithm also declares how testbed files name it: kSets are its names with the parameters that each stands for,
// kKeys its parameters with limits and help, conflict() returns whether two of them contradict each other. Reading,
// schema and reference pages come from there.
//   kUsesCnps          receivers send CNPs to it
//   kUsesAcks          it wants on_ack() and on_nak(); the sender keeps the instants from which a round-trip time is
//                      measured
//   kUsesEcho          acknowledgements say whether the packet that they name came marked with CE
//   kUsesTelemetry     packets carry in-band telemetry (packet/telemetry_field.hpp), and acknowledgements bring it back
//   kAsksAlways        every packet asks for an acknowledgement, whatever ack_every is
//   kBeginsBelowWindow a packet may leave while less than the window is under way; else only if it fits in wholly
// One with a window or a pace in packets has a constructor with a third argument: the payload of a packet.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataplane/congestion/acknowledgement.hpp"
#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/top_rate.hpp"

namespace softspine::dataplane {

struct CongestionAlgorithm {
  static constexpr uint64_t kNoLimit = UINT64_MAX;
  static constexpr bool kUsesCnps = false;
  static constexpr bool kUsesAcks = false;
  static constexpr bool kUsesEcho = false;
  static constexpr bool kUsesTelemetry = false;
  static constexpr bool kAsksAlways = false;
  static constexpr bool kBeginsBelowWindow = false;

  void on_sent(Instant, uint32_t) noexcept {}
  void on_ack(Instant, const Acknowledgement&) noexcept {}
  void on_nak(Instant) noexcept {}
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
