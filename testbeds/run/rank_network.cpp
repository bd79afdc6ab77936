// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/rank_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "dataplane/engine/window_nest.hpp"
#include "dataplane/ranks/rank_bytes.hpp"

namespace softspine::testbeds {

using dataplane::Duration;

namespace {

constexpr uint32_t kFirst = 50;  // connections are made, and processors wake up
constexpr uint32_t kMeetings = 400;
// Over a network of tens of milliseconds, or on machines that have much else to do, fewer have to do.
constexpr std::chrono::seconds kLongEnough{1};
constexpr uint32_t kAtLeast = 2 * kFirst;
// Meetings of a run are longer than without messages, and not all alike.
constexpr double kMargin = 2;
constexpr double kMetresPerPs = 2e-4;  // in a cable

std::string time_text(double ps) {
  if (ps < 1e6) return fmt::format("{:.0f} ns", ps * 1e-3);
  return ps < 1e9 ? fmt::format("{:.1f} us", ps * 1e-6) : fmt::format("{:.2f} ms", ps * 1e-9);
}

std::string length_text(double metres) {
  return metres < 1e4 ? fmt::format("{:.0f} m", std::ceil(metres)) : fmt::format("{:.0f} km", std::ceil(metres * 1e-3));
}

}  // namespace

RankNetwork measure_network(dataplane::RankTalk& talk) {
  using Clock = std::chrono::steady_clock;
  std::vector<int64_t> took;
  const auto began = Clock::now();
  bool all_go_on = true;
  for (uint32_t i = 0; all_go_on && i < kFirst + kMeetings; ++i) {
    const auto begin = Clock::now();
    const bool is_enough = i + 1 >= kAtLeast && begin - began > kLongEnough;
    dataplane::RankBytes mine;
    dataplane::put(mine, is_enough);
    const auto said = talk.gather(std::move(mine));
    if (i >= kFirst) took.push_back(std::chrono::nanoseconds(Clock::now() - begin).count() * 1000);
    all_go_on = std::ranges::none_of(
        said, [](const dataplane::RankBytes& each) { return dataplane::RankReader{each}.take<bool>(); });
  }
  std::ranges::sort(took);
  const int64_t sum = std::reduce(took.begin(), took.end());
  RankNetwork out{.meeting = {.median_ps = took[took.size() / 2], .p99_ps = took[took.size() * 99 / 100]},
                  .mean_ps = sum / static_cast<int64_t>(took.size())};
  dataplane::RankBytes mine;
  dataplane::put(mine, out);
  for (const dataplane::RankBytes& each : talk.gather(std::move(mine))) {
    const auto theirs = dataplane::RankReader{each}.take<RankNetwork>();
    out.meeting.median_ps = std::max(out.meeting.median_ps, theirs.meeting.median_ps);
    out.meeting.p99_ps = std::max(out.meeting.p99_ps, theirs.meeting.p99_ps);
    out.mean_ps = std::max(out.mean_ps, theirs.mean_ps);
  }
  return out;
}

std::string too_slow_for(const RankNetwork& network, const RankPlan& plan, int64_t dilation) {
  const auto window = static_cast<double>(plan.window.count_ps());
  const auto takes = static_cast<double>(network.mean_ps);
  const double lasts = window * static_cast<double>(dilation);
  if (plan.cut_links == 0 || takes <= lasts) return {};
  const auto longest = static_cast<double>(dataplane::kLongestOverNetwork.count_ps());
  const double needed = kMargin * takes / static_cast<double>(dilation);  // of a window
  std::string out = fmt::format(
      "ranks meet every {} of emulated time, which lasts {} at a dilation of {}; "
      "the network between them takes {} for a meeting (p99 {}). A dilation of {:.0f} would do",
      time_text(window), time_text(lasts), dilation, time_text(takes),
      time_text(static_cast<double>(network.meeting.p99_ps)), std::ceil(kMargin * takes / window));
  if (needed <= longest) out += fmt::format(", or cables of {} between ranks", length_text(needed * kMetresPerPs));
  if (plan.window < plan.shortest_cut) out += "; workers of one rank meet as often, and one worker may be enough";
  return out;
}

}  // namespace softspine::testbeds
