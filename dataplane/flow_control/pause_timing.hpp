// SPDX-License-Identifier: Apache-2.0
// How long a pause quantum lasts on a link, and how late a station may obey a pause.
//
//   quantum  = 512 bit times at the link's rate                  5.12 ns at 100G, 1.28 ns at 400G
//   response = quanta by speed × quantum                         802.3, 31B.3.7
//     Gb/s     1   10   25   40   50  100  200  400 (and above)
//     quanta   2   67   80  118  147  394  453  905
// A rate between two of the table has the quanta of the next higher one: the table only grows. A rate by a clock that
// is fast by as much as 802.3 allows is no other rate. The response is the time from a pause frame's last
// bit received to the last instant at which the station may still begin a frame of the paused priority; who tests a
// buffer wants it at its longest.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/clock_offset.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kQuantumBytes = 64;

constexpr Duration pause_quantum(Rate rate) {
  return rate.time_of_bytes(kQuantumBytes);
}

constexpr uint32_t pause_response_quanta(Rate rate) {
  struct Row {
    Rate up_to;
    uint32_t quanta;
  };
  constexpr std::array kTable{Row{Rate::gbps(1), 2},    Row{Rate::gbps(10), 67},  Row{Rate::gbps(25), 80},
                              Row{Rate::gbps(40), 118}, Row{Rate::gbps(50), 147}, Row{Rate::gbps(100), 394},
                              Row{Rate::gbps(200), 453}};
  constexpr uint64_t kFastest = 1'000'000 / kMaxClockPpm;
  for (const Row& row : kTable) {
    if (rate.count_bps() - rate.count_bps() / kFastest <= row.up_to.count_bps()) return row.quanta;
  }
  return 905;
}

struct PauseTiming {
  Duration quantum;
  Duration response;

  static constexpr PauseTiming of(Rate rate) {
    return with_response(rate, rate.time_of_bytes(uint64_t{kQuantumBytes} * pause_response_quanta(rate)));
  }
  // A configured response instead of the standard's.
  static constexpr PauseTiming with_response(Rate rate, Duration response) { return {pause_quantum(rate), response}; }
};

}  // namespace softspine::dataplane
