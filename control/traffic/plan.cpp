// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "control/traffic/pairs.hpp"
#include "control/traffic/qp_numbers.hpp"
#include "control/traffic/rxe_source_port.hpp"
#include "dataplane/units/check.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Rate;
using dataplane::Rng;

using HostPair = std::pair<uint32_t, uint32_t>;  // source, destination
using HostList = std::vector<uint32_t>;

void shuffle(HostList& hosts, Rng& rng) {
  for (size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[rng.below(i)]);
}

// Which hosts may not talk to each other: those of one rack, or only each with itself.
class Racks {
 public:
  Racks(std::span<const TrafficHost> hosts, bool by_rack) : hosts_(hosts), by_rack_(by_rack) {}
  uint32_t of(uint32_t host) const { return by_rack_ ? hosts_[host].rack : host; }
  size_t largest(const HostList& hosts) const {
    std::map<uint32_t, size_t> sizes;
    size_t largest = 0;
    for (const uint32_t host : hosts) largest = std::max(largest, ++sizes[of(host)]);
    return largest;
  }

 private:
  std::span<const TrafficHost> hosts_;
  bool by_rack_;
};

// Sorted by group and shifted by the largest group's size, nobody meets their own group; then random
// exchanges that keep it so. 32 a host leave nothing of the start to be seen.
std::vector<HostPair> permutation(HostList hosts, const Racks& racks, Rng& rng) {
  constexpr uint64_t kExchangesPerHost = 32;
  shuffle(hosts, rng);
  std::ranges::stable_sort(hosts, {}, [&racks](uint32_t host) { return racks.of(host); });
  const size_t shift = racks.largest(hosts);
  SOFTSPINE_CHECK(2 * shift <= hosts.size(), shift, hosts.size());
  std::vector<HostPair> pairs;
  for (size_t i = 0; i < hosts.size(); ++i) pairs.emplace_back(hosts[i], hosts[(i + shift) % hosts.size()]);
  for (uint64_t n = kExchangesPerHost * hosts.size(); n > 0; --n) {
    HostPair& a = pairs[rng.below(pairs.size())];
    HostPair& b = pairs[rng.below(pairs.size())];
    if (racks.of(a.first) != racks.of(b.second) && racks.of(b.first) != racks.of(a.second)) {
      std::swap(a.second, b.second);
    }
  }
  std::ranges::sort(pairs);
  return pairs;
}

std::vector<HostPair> drawn_or_given(const Workload& w, std::span<const TrafficHost> hosts, Rng& rng) {
  if (is_drawn(w.pattern)) return permutation(w.hosts, Racks{hosts, w.cross_rack}, rng);
  std::vector<HostPair> pairs;
  pairs_of(w, [&](const Senders<uint32_t>& senders) {
    for (const uint32_t from : senders.from) {
      for (const uint32_t to : senders.to) {
        if (!senders.among || from != to) pairs.emplace_back(from, to);
      }
    }
  });
  return pairs;
}

// `pair`: the flow's, among the workload's.
void take_from_list(const Workload& w, size_t pair, PlannedFlow& planned) {
  const ListedFlow& listed = w.flows[pair];
  planned.flow.message_bytes = listed.bytes;
  planned.flow.start = listed.start;
  if (!listed.dscp) return;
  planned.flow.dscp = *listed.dscp;
  if (!w.ack_dscp_given) planned.sink.ack_dscp = *listed.dscp;
}

// QP `qp`'s part of what its flow sends.
void scale(const Workload& w, size_t pair, uint32_t qp, FlowConfig& flow) {
  const auto part = [&](uint64_t whole) { return whole / w.qps + (qp < whole % w.qps ? 1 : 0); };
  if (!w.posted.empty()) {
    flow.queue_depth = kPostedMessages;
    flow.messages = w.scaling == Scaling::kRoundRobin ? part(w.posted[pair]) : w.posted[pair];
    if (w.scaling == Scaling::kLeastOutstanding && w.qps > 1) flow.messages = 0;  // nobody knows before
    return;
  }
  if (w.scaling == Scaling::kSplit) flow.message_bytes = part(w.message_bytes);
  if (w.scaling == Scaling::kRoundRobin) flow.messages = part(w.messages);
}

FlowConfig flow_of(const Workload& w) {
  return {.dscp = w.dscp,
          .verb = w.transport.verb,
          .has_immediates = w.has_immediates,
          .message_bytes = w.message_bytes,
          .messages = w.messages,
          .mtu = w.mtu,
          .rate = Rate::bps(w.rate.count_bps() / w.qps),
          .start = w.start,
          .transport = w.transport.kind,
          .reliable = w.transport.reliable};
}

SinkConfig sink_of(const Workload& w, const FlowConfig& flow, const TrafficHost& source) {
  SinkConfig sink{.id = flow.id,
                  .qp = flow.destination_qp,
                  .first_psn = flow.first_psn,
                  .transport = flow.transport,
                  .source = source.address,
                  .ack_dscp = w.transport.ack_dscp,
                  .cnp_dscp = w.transport.cnp_dscp};
  if (dataplane::uses_cnps(flow.reliable.congestion_control)) sink.cnp_interval = w.transport.cnp_interval;
  sink.nic_delay = dataplane::nic_delay_of(flow.reliable.congestion_control);
  sink.echoes_ce = dataplane::uses_echo(flow.reliable.congestion_control);
  sink.echoes_telemetry = dataplane::uses_telemetry(flow.reliable.congestion_control);
  const bool answers = sink.transport == TransportKind::kReliable || sink.cnp_interval > Duration{};
  if (answers) sink.source_qp = flow.source_qp;
  return sink;
}

PlannedFlow planned(const Workload& w, HostPair pair, std::span<const TrafficHost> hosts, uint32_t id,
                    QpNumbers& numbers) {
  FlowConfig flow = flow_of(w);
  flow.id = id;
  flow.destination = hosts[pair.second].address;
  flow.source_qp = numbers.take(pair.first, w.qp_numbers);
  flow.destination_qp = numbers.take(pair.second, w.qp_numbers);
  flow.source_port = w.source_port != 0 ? w.source_port : rxe_source_port(flow.source_qp, flow.destination_qp);
  return {.workload = 0,
          .source = pair.first,
          .destination = pair.second,
          .flow = flow,
          .sink = sink_of(w, flow, hosts[pair.first])};
}

}  // namespace

std::vector<PlannedFlow> plan_flows(std::span<const Workload> workloads, std::span<const TrafficHost> hosts,
                                    uint64_t seed) {
  std::vector<PlannedFlow> plan;
  QpNumbers numbers{hosts.size(), seed};
  for (size_t i = 0; i < workloads.size(); ++i) {
    const Workload& w = workloads[i];
    Rng rng{seed, i};
    const std::vector<HostPair> pairs = drawn_or_given(w, hosts, rng);
    for (size_t p = 0; p < pairs.size(); ++p) {
      const HostPair& pair = pairs[p];
      SOFTSPINE_CHECK(std::max(pair.first, pair.second) < hosts.size(), pair.first, pair.second);
      numbers.begin_at(pair.first, w.first_qp);
      numbers.begin_at(pair.second, w.first_qp);
      for (uint32_t qp = 0; qp < w.qps; ++qp) {
        plan.push_back(planned(w, pair, hosts, static_cast<uint32_t>(plan.size()), numbers));
        plan.back().workload = static_cast<uint32_t>(i);
        scale(w, p, qp, plan.back().flow);
        if (is_listed(w.pattern)) take_from_list(w, p, plan.back());
      }
    }
  }
  return plan;
}

}  // namespace softspine::control
