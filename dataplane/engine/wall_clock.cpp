// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/wall_clock.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>

namespace softspine::dataplane {

namespace {

int64_t raw_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// Ticks per nanosecond over 20 ms: the two readings' own jitter (≈ 50 ns) makes an error of a few ppm.
double measure_ticks_per_ns() {
  constexpr int64_t kSpan = 20'000'000;
  const int64_t begin_ns = raw_ns();
  const uint64_t begin = __rdtsc();
  int64_t now_ns = begin_ns;
  while (now_ns - begin_ns < kSpan) now_ns = raw_ns();
  return static_cast<double>(__rdtsc() - begin) / static_cast<double>(now_ns - begin_ns);
}

double ticks_per_ns() {
  static const double value = measure_ticks_per_ns();
  return value;
}

}  // namespace

WallClock::WallClock(Config config) : config_(config) {
  ps_per_tick_ = 1000.0 / ticks_per_ns() / static_cast<double>(config_.dilation);
}

void WallClock::start(Instant origin) noexcept {
  origin_ = origin;
  tsc_origin_ = __rdtsc();
}

Instant WallClock::horizon() noexcept {
  const auto ticks = static_cast<double>(__rdtsc() - tsc_origin_);
  return origin_ + Duration::ps(static_cast<int64_t>(ticks * ps_per_tick_));
}

int64_t WallClock::sleep_ns(uint32_t round, const Wake& wake) const noexcept {
  if (wake.tells_all) return config_.max_wait.count_ps() / 1000;
  const uint32_t doublings = std::min(round - kSpinRounds - 1, 20U);
  return std::min(kFirstSleepNs << doublings, config_.max_sleep.count_ps() / 1000);
}

void WallClock::idle(Instant next, uint32_t round, const Wake& wake) noexcept {
  if (round <= kSpinRounds || config_.max_sleep.count_ps() == 0) {
    _mm_pause();
    return;
  }
  thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);  // else the kernel adds 50 µs
  (void)slack;
  int64_t ns = sleep_ns(round, wake);
  if (!next.is_never()) {
    ns = std::min(ns, (next - horizon()).count_ps() / 1000 * config_.dilation);
  }
  if (ns <= 0) return;
  constexpr int64_t kSecond = 1'000'000'000;
  const timespec t{.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
  std::array news{pollfd{.fd = wake.descriptor, .events = POLLIN, .revents = 0},  // the kernel leaves negative ones out
                  pollfd{.fd = wake.posts, .events = POLLIN, .revents = 0}};
  ppoll(news.data(), news.size(), &t, nullptr);
}

}  // namespace softspine::dataplane
