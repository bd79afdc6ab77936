// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount_times.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace softspine::tests {
namespace {

using control::FlowSnapshot;
using dataplane::Instant;

// A time in which nothing of a flow arrived.
struct Gap {
  int64_t from_ps;
  int64_t to_ps;
  int64_t length_ps() const { return to_ps - from_ps; }
};

class TimeRecounting {
 public:
  TimeRecounting(const CapturedRun& run, Recount& out) : run_(run), out_(out) {}

  void operator()() {
    hold_pace();
    measure_stalls();
    miss_no_stall();
  }

 private:
  template <typename... Args>
  void find(fmt::format_string<Args...> text, Args&&... args) {
    out_.findings.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  void hold_pace();
  void hold_pace(const FlowSnapshot& flow, const control::Workload& workload, dataplane::Rate pace);
  std::vector<Gap> gaps_of(const FlowSnapshot& flow) const;
  void measure_stalls();
  void hold_stall(const FlowSnapshot& flow, const control::FaultSnapshot& fault, int64_t stalled_ps);
  void miss_no_stall();
  void miss_no_stall(const FlowSnapshot& flow, const control::FaultSnapshot& fault);
  int64_t longest_no_stall(const FlowSnapshot& flow, const std::vector<Gap>& gaps, int64_t fault_ps) const;

  const CapturedRun& run_;
  Recount& out_;
};

// An open loop's packets: eligible' = max(eligible, start − 16 intervals) + interval, and none starts before.
void TimeRecounting::hold_pace() {
  for (const control::Workload& workload : run_.testbed.workloads) {
    if (workload.rate.is_zero() || workload.transport.kind != control::TransportKind::kOpenLoop) continue;
    for (const FlowSnapshot& flow : run_.snapshot.flows) {
      if (flow.workload != workload.name || run_.sent(flow).empty()) continue;
      const auto& nodes = run_.testbed.fabric.nodes;
      const auto& sender = *std::ranges::find(nodes, flow.source, &control::FabricNode::name);
      const auto pace = sender.clock.of(dataplane::Rate::bps(workload.rate.count_bps() / workload.qps));
      hold_pace(flow, workload, pace);
    }
  }
}

void TimeRecounting::hold_pace(const FlowSnapshot& flow, const control::Workload& workload, dataplane::Rate pace) {
  constexpr int64_t kCatchUp = 16;
  int64_t eligible = (workload.start - Instant{}).count_ps();
  for (const PacketStart& each : run_.sent(flow)) {
    ++out_.compared["paced"];
    if (each.at_ps + kCaptureTick < eligible) {
      find("pace: a packet of {} {} → {} left at {} ps; it was due at {}", flow.workload, flow.source, flow.destination,
           each.at_ps, eligible);
      return;
    }
    const int64_t interval = pace.time_of_frame(each.bytes).count_ps();
    eligible = std::max(eligible, each.at_ps - interval * kCatchUp) + interval;
  }
}

// Between arrivals; from the first packet's start to its arrival; from the last arrival to the end of the run, or to
// the last packet's departure.
std::vector<Gap> TimeRecounting::gaps_of(const FlowSnapshot& flow) const {
  std::vector<Gap> out;
  int64_t last = flow.first_sent.count_ps();
  for (const PacketArrival& each : run_.arrived(flow)) {
    out.push_back({last, each.at_ps});
    last = each.at_ps;
  }
  out.push_back({last, run_.end_ps});
  if (!run_.sent(flow).empty()) out.push_back({last, std::max(last, run_.sent(flow).back().left_ps)});
  return out;
}

void TimeRecounting::hold_stall(const FlowSnapshot& flow, const control::FaultSnapshot& fault, int64_t stalled_ps) {
  const std::vector<Gap> gaps = gaps_of(flow);
  ++out_.compared["stalls"];
  const auto is_it = [&](const Gap& gap) {
    return std::abs(gap.length_ps() - stalled_ps) <= 2 * kCaptureTick && gap.to_ps > fault.at.count_ps();
  };
  if (std::ranges::none_of(gaps, is_it))
    find("stalls: {} {} → {} stood still for {} ps by '{}'; the capture's largest gap is {}, and none is that long",
         flow.workload, flow.source, flow.destination, stalled_ps, fault.what,
         std::ranges::max(gaps, {}, &Gap::length_ps).length_ps());
}

// A slow receiver takes packets later than they arrive.
void TimeRecounting::measure_stalls() {
  if (!run_.testbed.host_faults.empty()) return;
  for (const control::FaultSnapshot& fault : run_.snapshot.faults) {
    if (!fault.window) continue;
    for (const control::FlowLoss& loss : fault.window->flows) {
      const FlowSnapshot& flow = run_.snapshot.flows[loss.flow];
      if (loss.stalled.count_ps() == 0 || !run_.has_all_arrivals(flow)) continue;
      hold_stall(flow, fault, loss.stalled.count_ps());
    }
  }
}

// More than anything that a flow's own ways explain: looks, its spacing, its other gaps, its latency.
int64_t TimeRecounting::longest_no_stall(const FlowSnapshot& flow, const std::vector<Gap>& gaps,
                                         int64_t fault_ps) const {
  constexpr int64_t kLook = 10'000'000;
  const auto of_others = [](std::vector<Gap> all) {
    std::ranges::sort(all, {}, &Gap::length_ps);
    return all.size() < 2 ? 0 : all[all.size() - 2].length_ps();
  };
  const std::vector<PacketArrival>& arrivals = run_.arrived(flow);
  int64_t quickest = arrivals.front().at_ps - arrivals.front().born_ps;
  for (const PacketArrival& each : arrivals) quickest = std::min(quickest, each.at_ps - each.born_ps);
  const auto& starts = run_.sent(flow);
  const auto packets = static_cast<int64_t>(std::min(arrivals.size(), starts.size()));
  const int64_t spacing = (arrivals.back().at_ps - arrivals.front().at_ps) / (packets - 1);
  return std::max({4 * std::max(kLook, (run_.end_ps - fault_ps) / 64), 8 * spacing, 2 * of_others(gaps), 3 * quickest});
}

// Where one fault strikes and lasts, a flow that moved before and since, and stood much longer than it ever did
// otherwise, is one that stood still by it.
void TimeRecounting::miss_no_stall() {
  const auto with_windows = std::ranges::count_if(run_.snapshot.faults, [](const auto& each) { return !!each.window; });
  if (!run_.testbed.host_faults.empty() || with_windows != 1) return;
  const auto& fault = *std::ranges::find_if(run_.snapshot.faults, [](const auto& each) { return !!each.window; });
  if (!fault.window->ended.is_never()) return;
  for (const FlowSnapshot& flow : run_.snapshot.flows) {
    if (run_.arrived(flow).size() > 2 && run_.has_all_arrivals(flow)) miss_no_stall(flow, fault);
  }
}

void TimeRecounting::miss_no_stall(const FlowSnapshot& flow, const control::FaultSnapshot& fault) {
  const auto& workloads = run_.testbed.workloads;
  const bool pauses_itself = std::ranges::find(workloads, flow.workload, &control::Workload::name) == workloads.end();
  if (pauses_itself) return;  // a job's
  std::vector<Gap> gaps = gaps_of(flow);
  gaps.resize(run_.arrived(flow).size());  // those that an arrival ends
  gaps.erase(gaps.begin());
  const Gap longest = std::ranges::max(gaps, {}, &Gap::length_ps);
  const int64_t at = fault.at.count_ps();
  ++out_.compared["gaps"];
  if (longest.from_ps < at || longest.length_ps() <= longest_no_stall(flow, gaps, at)) return;
  const auto loss = std::ranges::find_if(
      fault.window->flows, [&](const control::FlowLoss& each) { return &run_.snapshot.flows[each.flow] == &flow; });
  const int64_t told = loss == fault.window->flows.end() ? 0 : loss->stalled.count_ps();
  if (told + 2 * kCaptureTick < longest.length_ps())
    find("stalls: {} {} → {} stood still for {} ps by '{}'; the capture has a gap of {}", flow.workload, flow.source,
         flow.destination, told, fault.what, longest.length_ps());
}

}  // namespace

void recount_times(const CapturedRun& run, Recount& out) {
  TimeRecounting(run, out)();
}

}  // namespace softspine::tests
