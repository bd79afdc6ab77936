// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ranges>
#include <utility>

namespace softspine::tests {
namespace {

using control::CollectiveRun;
using control::CollectiveSnapshot;
using control::FlowSnapshot;
using control::LinkEnd;

using Flows = std::vector<const FlowSnapshot*>;

class CollectiveRecounting {
 public:
  CollectiveRecounting(const CapturedRun& run, Recount& out) : run_(run), out_(out) {
    for (const CapturedFrame& frame : run_.captured.frames) see(frame);
  }

  void operator()() {
    const control::Testbed& testbed = run_.testbed;
    // Who takes packets later has them later, and what a link loses or holds back the capture does not tell.
    if (!testbed.host_faults.empty() || !testbed.faults.empty() || !testbed.port_faults.empty()) return;
    for (size_t i = 0; i < run_.testbed.collectives.size(); ++i)
      hold(run_.testbed.collectives[i], run_.snapshot.collectives[i]);
  }

 private:
  using Key = CapturedRun::FlowKey;  // addresses of both hosts, and the queue pair that a packet names

  template <typename... Args>
  void find(fmt::format_string<Args...> text, Args&&... args) {
    out_.findings.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // What comes to the host that it is for.
  void see(const CapturedFrame& frame) {
    const LinkEnd to = run_.testbed.fabric.peer_of(run_.sender_of(frame));
    const int64_t at = run_.arrival_of(frame);
    if (!run_.is_host(to) || at > run_.end_ps) return;
    const uint32_t own = run_.testbed.fabric.nodes[to.node].ipv4.value;
    if (frame.roce && frame.roce->destination == own)
      bytes_[{frame.roce->source, own, frame.roce->qp}] += frame.roce->payload_bytes;
    if (frame.ack && frame.ack->destination == own) {
      int64_t& last = last_ack_[{own, frame.ack->source, frame.ack->qp}];
      last = std::max(last, at);
    }
  }

  Flows flows_of(const CollectiveRun& collective) const {
    const std::string& name = run_.testbed.workloads[collective.traffic.workload].name;
    Flows out;
    for (const FlowSnapshot& flow : run_.snapshot.flows) {
      if (flow.workload == name) out.push_back(&flow);
    }
    return out;
  }

  void hold(const CollectiveRun& collective, const CollectiveSnapshot& counted) {
    const Flows flows = flows_of(collective);
    const auto is_plain = [&](const FlowSnapshot* flow) {
      return flow->reliable.retransmitted_packets == 0 && run_.has_all_arrivals(*flow);
    };
    if (counted.ranks_done < collective.traffic.hosts.size() || !std::ranges::all_of(flows, is_plain)) return;
    hold_bytes(flows, counted);
    hold_bounds(collective, flows, counted);
    const bool is_all_seen = collective.traffic.scale_up.empty() && collective.traffic.reduce_rate.is_zero() &&
                             collective.traffic.post_cost == dataplane::Duration{};
    if (is_all_seen) hold_times(collective, flows, counted);
  }

  void hold_bytes(const Flows& flows, const CollectiveSnapshot& counted) {
    uint64_t bytes = counted.scale_up_bytes;
    for (const FlowSnapshot* flow : flows) {
      const auto found = bytes_.find(run_.key_of(*flow));
      bytes += found == bytes_.end() ? 0 : found->second;
    }
    ++out_.compared["collectives' bytes"];
    if (bytes != counted.received_bytes)
      find("collectives: {} received {} bytes; the capture has {}, {} of them beside it", counted.name,
           counted.received_bytes, bytes, counted.scale_up_bytes);
  }

  void hold_bounds(const CollectiveRun& collective, const Flows& flows, const CollectiveSnapshot& counted) {
    for (const FlowSnapshot* flow : flows) {
      if (run_.arrived(*flow).empty()) continue;
      const int64_t first = run_.sent(*flow).front().at_ps;
      const int64_t last = run_.arrived(*flow).back().at_ps;
      if (first + kCaptureTick < collective.start.count_ps() || last > counted.ended.count_ps() + kCaptureTick)
        find("collectives: {} went from {} to {} ps; by the capture {} → {} did from {} to {}", counted.name,
             collective.start.count_ps(), counted.ended.count_ps(), flow->source, flow->destination, first, last);
    }
  }

  void hold_times(const CollectiveRun& collective, const Flows& flows, const CollectiveSnapshot& counted) {
    std::map<std::string, int64_t> ends;  // by host
    for (const FlowSnapshot* flow : flows) {
      if (run_.arrived(*flow).empty()) continue;
      int64_t& there = ends[flow->destination];
      there = std::max(there, run_.arrived(*flow).back().at_ps);
      const auto [source, destination, qp] = run_.key_of(*flow);
      const auto acked = last_ack_.find({source, destination, flow->source_qp});
      if (acked == last_ack_.end()) return;  // it came another way than the capture shows
      int64_t& here = ends[flow->source];
      here = std::max(here, acked->second);
    }
    if (ends.size() < collective.traffic.hosts.size()) return;  // ranks without any message
    const int64_t last = std::ranges::max(ends | std::views::values);
    ++out_.compared["collectives' times"];
    if (std::abs(last - counted.ended.count_ps()) > kCaptureTick)
      find("collectives: {} ended at {} ps; by the capture at {}", counted.name, counted.ended.count_ps(), last);
    hold_mean(collective, ends, counted);
  }

  // The times of all sizes and iterations are what lies between start and end, but for what is computed between them.
  void hold_mean(const CollectiveRun& collective, const std::map<std::string, int64_t>& ends,
                 const CollectiveSnapshot& counted) {
    int64_t told = 0;
    int64_t done = 0;
    for (const auto& size : counted.sizes) {
      told += size.mean.count_ps() * size.done;
      done += size.done;
    }
    int64_t seen = 0;
    for (const auto& [host, end] : ends) {
      const auto node = std::ranges::find(run_.testbed.fabric.nodes, host, &control::FabricNode::name);
      seen += end - collective.start.count_ps() - done * node->builtin.computing(collective.compute).count_ps();
    }
    seen /= static_cast<int64_t>(ends.size());
    if (std::abs(seen - told) > kCaptureTick + 3 * done)
      find("collectives: all of {} took {} ps in the mean; by the capture {}", counted.name, told, seen);
  }

  const CapturedRun& run_;
  Recount& out_;
  std::map<Key, uint64_t> bytes_;
  std::map<Key, int64_t> last_ack_;
};

}  // namespace

void recount_collectives(const CapturedRun& run, Recount& out) {
  CollectiveRecounting(run, out)();
}

}  // namespace softspine::tests
