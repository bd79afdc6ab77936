// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/tsc.hpp"

#include <x86intrin.h>

#include <chrono>
#include <cstdint>
#include <limits>

namespace softspine::testbeds {
namespace {

using Clock = std::chrono::steady_clock;

struct Reading {
  Clock::time_point time;
  std::uint64_t cycles;
};

// The one of several readings that is least torn apart by an interruption.
Reading read_both() {
  Reading best{};
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = __rdtsc();
    const auto time = Clock::now();
    const std::uint64_t width = __rdtsc() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {time, before + width / 2};
    }
  }
  return best;
}

double measure() {
  const auto first = read_both();
  while (Clock::now() - first.time < std::chrono::milliseconds{10}) {
  }
  const auto last = read_both();
  return static_cast<double>(last.cycles - first.cycles) /
         std::chrono::duration<double, std::micro>(last.time - first.time).count();
}

}  // namespace

double tsc_mhz() {
  static const double mhz = measure();
  return mhz;
}

}  // namespace softspine::testbeds
