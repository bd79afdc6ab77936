// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "dataplane/congestion/algorithms.hpp"
#include "dataplane/units/rng.hpp"
#include "testbeds/hosts/qp_numbers.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::Pattern;
using control::Scaling;
using control::Workload;

namespace {

using Route = std::pair<uint32_t, uint32_t>;  // source, destination
using Hosts = std::vector<uint32_t>;

void shuffle(Hosts& hosts, Rng& rng) {
  for (size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[rng.below(i)]);
}

// Which hosts may not talk to each other: those of one rack, or only each with itself.
class Groups {
 public:
  Groups(std::span<const Endpoint> endpoints, bool by_rack) : endpoints_(endpoints), by_rack_(by_rack) {}
  uint32_t of(uint32_t host) const { return by_rack_ ? endpoints_[host].rack : host; }
  size_t largest(const Hosts& hosts) const {
    std::map<uint32_t, size_t> sizes;
    size_t largest = 0;
    for (const uint32_t host : hosts) largest = std::max(largest, ++sizes[of(host)]);
    return largest;
  }

 private:
  std::span<const Endpoint> endpoints_;
  bool by_rack_;
};

// Sorted by group and shifted by the largest group's size, nobody meets their own group; then random
// exchanges that keep it so. 32 a host leave nothing of the start to be seen.
std::vector<Route> permutation(Hosts hosts, const Groups& groups, Rng& rng) {
  constexpr uint64_t kExchangesPerHost = 32;
  shuffle(hosts, rng);
  std::ranges::stable_sort(hosts, {}, [&groups](uint32_t host) { return groups.of(host); });
  const size_t shift = groups.largest(hosts);
  std::vector<Route> routes;
  for (size_t i = 0; i < hosts.size(); ++i) routes.emplace_back(hosts[i], hosts[(i + shift) % hosts.size()]);
  for (uint64_t n = kExchangesPerHost * hosts.size(); n > 0; --n) {
    Route& a = routes[rng.below(routes.size())];
    Route& b = routes[rng.below(routes.size())];
    if (groups.of(a.first) != groups.of(b.second) && groups.of(b.first) != groups.of(a.second)) {
      std::swap(a.second, b.second);
    }
  }
  std::ranges::sort(routes);
  return routes;
}

std::vector<Route> routes_of(const Workload& w, std::span<const Endpoint> endpoints, Rng& rng) {
  const Groups groups{endpoints, w.cross_rack};
  std::vector<Route> routes;
  switch (w.pattern) {
    case Pattern::kPermutation: return permutation(w.hosts, groups, rng);
    case Pattern::kIncast:
      for (const uint32_t from : w.from) routes.emplace_back(from, w.to[0]);
      break;
    case Pattern::kPairs:
      for (size_t i = 0; i < w.from.size(); ++i) routes.emplace_back(w.from[i], w.to[i]);
      break;
    case Pattern::kRing:
      for (size_t i = 0; i < w.hosts.size(); ++i) routes.emplace_back(w.hosts[i], w.hosts[(i + 1) % w.hosts.size()]);
      break;
    case Pattern::kAllToAll:
      for (const uint32_t a : w.hosts) {
        for (const uint32_t b : w.hosts) {
          if (a != b) routes.emplace_back(a, b);
        }
      }
      break;
  }
  return routes;
}

// All that would keep a workload from becoming flows.
class Examination {
 public:
  explicit Examination(std::span<const Endpoint> endpoints) : endpoints_(endpoints) {}

  void examine(size_t index, const Workload& w) {
    index_ = index;
    claim(w.qps > 0, "qps: 0");
    claim(w.scaling != Scaling::kSplit || w.message_bytes >= w.qps, "scaling: fewer bytes in a message than QPs");
    claim(w.scaling != Scaling::kRoundRobin || w.messages >= w.qps, "scaling: fewer messages than QPs");
    claim(w.rate.is_zero() || w.rate.count_bps() / std::max(w.qps, 1u) >= Rate::min().count_bps(),
          "rate: below 1 Mb/s for each queue pair");
    for (const Hosts* hosts : {&w.hosts, &w.from, &w.to}) {
      claim(std::ranges::all_of(*hosts, [this](uint32_t host) { return host < endpoints_.size(); }), "no such host");
    }
    if (w.pattern == Pattern::kIncast || w.pattern == Pattern::kPairs) {
      examine_ends(w);
    } else if (errors_.empty()) {
      examine_hosts(w);
    }
  }
  std::vector<std::string> errors() && { return std::move(errors_); }

 private:
  void claim(bool holds, const char* text) {
    if (!holds) errors_.push_back(fmt::format("workload {}: {}", index_, text));
  }
  void examine_ends(const Workload& w) {
    claim(!w.from.empty() && !w.to.empty(), "needs `from` and `to`");
    if (w.pattern == Pattern::kIncast) {
      claim(w.to.size() == 1, "an incast has one destination");
      claim(w.to.empty() || std::ranges::count(w.from, w.to[0]) == 0, "a host would send to itself");
      return;
    }
    claim(w.from.size() == w.to.size(), "`from` and `to` differ in length");
    for (size_t i = 0; i < std::min(w.from.size(), w.to.size()); ++i) {
      claim(w.from[i] != w.to[i], "a host would send to itself");
    }
  }
  void examine_hosts(const Workload& w) {
    Hosts sorted = w.hosts;
    std::ranges::sort(sorted);
    claim(std::ranges::adjacent_find(sorted) == sorted.end(), "a host is named twice");
    claim(w.hosts.size() >= 2, "needs two hosts");
    const size_t largest = Groups{endpoints_, w.cross_rack}.largest(w.hosts);
    if (w.pattern == Pattern::kPermutation) {
      claim(2 * largest <= w.hosts.size(), "cross_rack: one rack holds more than half of the hosts");
    }
  }

  std::span<const Endpoint> endpoints_;
  std::vector<std::string> errors_;
  size_t index_ = 0;
};

struct Ends {
  const Endpoint& source;
  const Endpoint& destination;
};

// QP `qp`'s part of what its flow sends.
void scale(const Workload& w, uint32_t qp, FlowConfig& flow) {
  const auto part = [&](uint64_t whole) { return whole / w.qps + (qp < whole % w.qps ? 1 : 0); };
  if (w.scaling == Scaling::kSplit) flow.message_bytes = part(w.message_bytes);
  if (w.scaling == Scaling::kRoundRobin) flow.messages = part(w.messages);
}

FlowConfig flow_of(const Workload& w) {
  const control::TransportConfig& transport = w.transport;
  return {.dscp = w.dscp,
          .verb = transport.verb,
          .message_bytes = w.message_bytes,
          .messages = w.messages,
          .mtu = w.mtu,
          .rate = Rate::bps(w.rate.count_bps() / w.qps),
          .start = w.start,
          .transport = transport.kind,
          .reliable = {.window = transport.window,
                       .ack_every = transport.ack_every,
                       .ack_timeout = transport.ack_timeout,
                       .retries = transport.retries,
                       .adaptive_retransmission = transport.adaptive_retransmission,
                       .congestion_control = transport.congestion_control}};
}

SinkConfig sink_of(const Workload& w, const FlowConfig& flow, const Endpoint& source) {
  SinkConfig sink{.id = flow.id,
                  .qp = flow.destination_qp,
                  .first_psn = flow.first_psn,
                  .transport = flow.transport,
                  .source = source.address,
                  .ack_dscp = w.transport.ack_dscp,
                  .cnp_dscp = w.transport.cnp_dscp};
  if (uses_cnps(flow.reliable.congestion_control)) sink.cnp_interval = w.transport.cnp_interval;
  sink.nic_delay = nic_delay_of(flow.reliable.congestion_control);
  const bool answers = sink.transport == TransportKind::kReliable || sink.cnp_interval > Duration{};
  if (answers) sink.source_qp = flow.source_qp;
  return sink;
}

PlannedFlow planned(const Workload& w, Route route, Ends ends, uint32_t id, QpNumbers& numbers) {
  FlowConfig flow = flow_of(w);
  flow.id = id;
  flow.destination = ends.destination.address;
  flow.source_qp = numbers.take(route.first, w.qp_numbers);
  flow.destination_qp = numbers.take(route.second, w.qp_numbers);
  flow.source_port = w.source_port != 0 ? w.source_port : rxe_source_port(flow.source_qp, flow.destination_qp);
  return {.workload = 0,
          .source = route.first,
          .destination = route.second,
          .flow = flow,
          .sink = sink_of(w, flow, ends.source)};
}

}  // namespace

std::expected<std::vector<PlannedFlow>, std::vector<std::string>> plan_flows(std::span<const Workload> workloads,
                                                                             std::span<const Endpoint> endpoints,
                                                                             uint64_t seed) {
  Examination examination{endpoints};
  for (size_t i = 0; i < workloads.size(); ++i) examination.examine(i, workloads[i]);
  if (auto errors = std::move(examination).errors(); !errors.empty()) return std::unexpected{std::move(errors)};

  std::vector<PlannedFlow> plan;
  QpNumbers numbers{endpoints.size(), seed};
  for (size_t i = 0; i < workloads.size(); ++i) {
    const Workload& w = workloads[i];
    Rng rng{seed, i};
    for (const Route& route : routes_of(w, endpoints, rng)) {
      numbers.begin_at(route.first, w.first_qp);
      numbers.begin_at(route.second, w.first_qp);
      for (uint32_t qp = 0; qp < w.qps; ++qp) {
        const Ends ends{endpoints[route.first], endpoints[route.second]};
        plan.push_back(planned(w, route, ends, static_cast<uint32_t>(plan.size()), numbers));
        plan.back().workload = static_cast<uint32_t>(i);
        scale(w, qp, plan.back().flow);
      }
    }
  }
  return plan;
}

}  // namespace softspine::testbeds
