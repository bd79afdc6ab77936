// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount_collectives.hpp"
#include "tests/scenario/random/recount_echoes.hpp"
#include "tests/scenario/random/recount_pauses.hpp"
#include "tests/scenario/random/recount_times.hpp"

namespace softspine::tests {
namespace {

using control::FabricSnapshot;
using control::FlowSnapshot;
using control::LinkEnd;
using control::Testbed;
using dataplane::Instant;

class Recounting {
 public:
  Recounting(const CapturedRun& run, Recount& out) : run_(run), out_(out) {}

  void operator()() {
    count_links();
    count_flows();
    measure_latencies();
    count_vanished();
    time_losses();
    count_strangers();
  }

 private:
  template <typename... Args>
  void find(fmt::format_string<Args...> text, Args&&... args) {
    out_.findings.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  void count_links();
  void hold_link(const std::string& name, const dataplane::LinkCounters& counted);
  void count_flows();
  void measure_latencies();
  void count_vanished();
  void time_losses();
  void count_strangers();

  const CapturedRun& run_;
  Recount& out_;
  std::map<std::string, std::pair<uint64_t, uint64_t>> of_port_;
};

void Recounting::hold_link(const std::string& name, const dataplane::LinkCounters& counted) {
  const auto [frames, bytes] = of_port_[name];
  ++out_.compared["links"];
  if (frames != counted.packets || bytes != counted.bytes)
    find("links: {} sent {} frames, {} bytes; the capture has {}, {}", name, counted.packets, counted.bytes, frames,
         bytes);
}

void Recounting::count_links() {
  for (const CapturedFrame& frame : run_.captured.frames) {
    auto& [frames, bytes] = of_port_[run_.captured.interfaces[frame.interface]];
    ++frames;
    bytes += frame.bytes;
  }
  for (const auto& node : run_.snapshot.switches) {
    for (const auto& port : node.ports) hold_link(node.name + ":" + port.name, port.link);
  }
  for (const auto& host : run_.snapshot.hosts) {
    for (const auto& port : host.ports) hold_link(host.name + ":" + port.name, port.link);
  }
  for (const auto& edge : run_.snapshot.edges) hold_link(edge.name + ":" + edge.port, edge.link);
}

void Recounting::count_flows() {
  for (const FlowSnapshot& flow : run_.snapshot.flows) {
    const std::string name =
        fmt::format("{} {} → {} qp {}", flow.workload, flow.source, flow.destination, flow.destination_qp);
    ++out_.compared["flows"];
    if (run_.sent(flow).size() != flow.sent_packets)
      find("flows: {} sent {}; the capture has {}", name, flow.sent_packets, run_.sent(flow).size());
    const uint64_t received = flow.received_packets - flow.foreign;
    if (received + flow.missing() + flow.under_way != flow.sent_packets)
      find("flows: {} sent {} = received {} + missing {} + under way {}", name, flow.sent_packets, received,
           flow.missing(), flow.under_way);
  }
}

// By nearest rank: the smallest value that at least this share of all is no larger than.
uint64_t exact_quantile(const std::vector<int64_t>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return static_cast<uint64_t>(sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1]);
}

void Recounting::measure_latencies() {
  if (!run_.testbed.host_faults.empty()) return;  // what waits in a receiver's buffer is not delivered when it arrives
  std::map<std::string, std::vector<int64_t>> all;
  std::set<std::string> unknown;
  for (const FlowSnapshot& flow : run_.snapshot.flows) {
    if (!run_.has_all_arrivals(flow) || flow.reliable.retransmitted_packets != 0) unknown.insert(flow.workload);
    for (const PacketArrival& each : run_.arrived(flow)) all[flow.workload].push_back(each.at_ps - each.born_ps);
  }
  for (const control::WorkloadLatency& each : run_.snapshot.workload_latencies) {
    std::vector<int64_t>& latencies = all[each.workload];
    if (unknown.contains(each.workload) || latencies.empty() || latencies.size() != each.packets.count()) continue;
    std::ranges::sort(latencies);
    for (const double share : {0.5, 0.99}) {
      const uint64_t exact = exact_quantile(latencies, share);
      const uint64_t reported = each.packets.quantile(share);
      const double tolerance = 0.005 * static_cast<double>(exact) + 2 * kCaptureTick;
      ++out_.compared["latencies"];
      if (std::abs(static_cast<double>(reported) - static_cast<double>(exact)) > tolerance)
        find("latencies: quantile {} of {} is {} ps; of the capture's {} packets it is {}", share, each.workload,
             reported, latencies.size(), exact);
    }
  }
}

// Where nothing else befalls a link: all frames that begin at a port while what it sends dies, and no others.
void Recounting::count_vanished() {
  const Testbed& testbed = run_.testbed;
  if (testbed.faults.size() != 1 || run_.snapshot.faults.size() != 1 || testbed.detection) return;
  const control::Fault& fault = testbed.faults.front();
  if (fault.ports.empty() || fault.carrier_goes) return;
  std::vector<int64_t> left;
  for (const CapturedFrame& frame : run_.captured.frames) {
    const int64_t start = run_.start_of(frame);
    const bool is_there = std::ranges::find(fault.ports, run_.sender_of(frame)) != fault.ports.end();
    if (is_there && start >= fault.at.count_ps() && Instant::at_ps(start) < fault.until) left.push_back(frame.at_ps);
  }
  const auto& window = run_.snapshot.faults.front().window;
  if (!window) return;
  const auto found = std::ranges::find(window->reasons, "vanished", &control::ReasonLoss::reason);
  const control::LossSum told = found == window->reasons.end() ? control::LossSum{} : found->sum;
  ++out_.compared["vanished"];
  const auto is_at = [](Instant at, int64_t tick) { return at.count_ps() / kCaptureTick * kCaptureTick == tick; };
  if (told.packets != left.size() ||
      (told.packets != 0 && (!is_at(told.first, left.front()) || !is_at(told.last, left.back()))))
    find("vanished: {} frames, the last at {} ps, by '{}'; {} had left into it, the last at {}", told.packets,
         told.last.count_ps(), run_.snapshot.faults.front().what, left.size(), left.empty() ? 0 : left.back());
}

// A vanished frame is lost when its last bit has left.
void Recounting::time_losses() {
  std::set<int64_t> instants;
  for (const CapturedFrame& frame : run_.captured.frames) instants.insert(frame.at_ps);
  for (const control::FaultSnapshot& fault : run_.snapshot.faults) {
    if (!fault.window) continue;
    for (const control::ReasonLoss& each : fault.window->reasons) {
      if (each.reason != "vanished") continue;
      for (const Instant at : {each.sum.first, each.sum.last}) {
        ++out_.compared["losses"];
        if (!instants.contains(at.count_ps() / kCaptureTick * kCaptureTick))
          find("losses: a frame vanished at {} ps by '{}'; no captured frame left then", at.count_ps(), fault.what);
      }
    }
  }
}

uint64_t number_of(const control::MacAddress& mac) {
  uint64_t out = 0;
  for (const uint8_t byte : mac.bytes) out = out << 8 | byte;
  return out;
}

// Frames to another station's address that left for a host, and those of its drops.
void Recounting::count_strangers() {
  std::map<std::string, uint64_t> strangers;
  constexpr uint64_t kGroupBit = uint64_t{1} << 40;
  for (const CapturedFrame& frame : run_.captured.frames) {
    const LinkEnd to = run_.testbed.fabric.peer_of(run_.sender_of(frame));
    const auto& receiver = run_.testbed.fabric.nodes[to.node];
    const bool is_for_it = frame.to_mac == number_of(receiver.ports[to.port].mac) || (frame.to_mac & kGroupBit) != 0;
    if (run_.is_host(to) && !is_for_it && run_.arrival_of(frame) <= run_.end_ps) ++strangers[receiver.name];
  }
  for (const control::HostSnapshot& host : run_.snapshot.hosts) {
    const uint64_t dropped = host.counters.dropped[static_cast<size_t>(dataplane::DropReason::kNotForUs)];
    ++out_.compared["strangers"];
    if (dropped > strangers[host.name])
      find("strangers: {} dropped {} frames as not_for_us; {} with another's address left for it", host.name, dropped,
           strangers[host.name]);
  }
}

}  // namespace

Recount recount(const Testbed& testbed, const FabricSnapshot& snapshot, std::string_view capture,
                std::string_view pauses) {
  const CapturedRun run(testbed, snapshot, capture);
  Recount out;
  Recounting(run, out)();
  recount_times(run, out);
  recount_pauses(run, out);
  recount_pause_file(run, pauses, out);
  recount_echoes(run, out);
  recount_collectives(run, out);
  return out;
}

}  // namespace softspine::tests
