// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/rank_links.hpp"

#include <tuple>
#include <utility>

#include "control/traffic/flow.hpp"

namespace softspine::testbeds {

using control::RankTraffic;

namespace {

QueuePairScaling scaling_of(control::Scaling scaling) {
  switch (scaling) {
    case control::Scaling::kSplit: return QueuePairScaling::kSplit;
    case control::Scaling::kLeastOutstanding: return QueuePairScaling::kLeastOutstanding;
    default: return QueuePairScaling::kRoundRobin;
  }
}

}  // namespace

// By rank, peer and channel.
class RankLinks::ConnectionTable {
 public:
  explicit ConnectionTable(size_t ranks) : found_(ranks) {}

  RankConnection& at(uint32_t rank, uint32_t peer, uint32_t channel) {
    RankConnection& out = found_[rank][{peer, channel}];
    out.peer = peer;
    out.channel = channel;
    out.depth = control::kPostedMessages;
    out.clear_depth = control::kPostedMessages;
    return out;
  }
  void move_to(std::vector<RankConfig>& configs) {
    for (size_t rank = 0; rank < found_.size(); ++rank) {
      for (auto& [key, connection] : found_[rank]) configs[rank].connections.push_back(std::move(connection));
    }
  }

 private:
  std::vector<std::map<std::pair<uint32_t, uint32_t>, RankConnection>> found_;
};

RankLinks::RankLinks(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows)
    : testbed_(testbed), nodes_(nodes), flows_(flows), scale_up_(testbed) {}

void RankLinks::start() {
  nodes_.for_each_host([](uint32_t, const RoceHost& host) {
    if (ScaleUpPort* const port = host.scale_up()) port->number_from(host.flow_count(), host.sink_count());
  });
}

std::vector<RankConfig> RankLinks::configs_of(const RankTraffic& traffic) {
  const QueuePairScaling scaling = scaling_of(testbed_.workloads[traffic.workload].scaling);
  std::vector<RankConfig> out(traffic.hosts.size());
  for (RankConfig& config : out) {
    config.reduce_bytes_per_second = static_cast<uint64_t>(traffic.reduce_rate.count_bps()) / 8;
    config.costs.post = traffic.post_cost;
    config.scaling = scaling;
    config.clear_bytes = control::kClearBytes;
  }
  ConnectionTable table(traffic.hosts.size());
  connect_by_fabric(traffic, table);
  connect_by_scale_up(traffic, table);
  table.move_to(out);
  return out;
}

size_t RankLinks::first_flow_of(uint32_t workload) const {
  size_t out = 0;
  while (flows_.plan(out).workload != workload) ++out;
  return out;
}

// A pair's flows stand one behind the other, in the order of the pairs.
void RankLinks::connect_by_fabric(const RankTraffic& traffic, ConnectionTable& table) const {
  if (traffic.channel.empty()) return;
  const size_t first = first_flow_of(traffic.workload);
  const size_t first_clear = traffic.clears ? first_flow_of(*traffic.clears) : 0;
  const uint32_t qps = testbed_.workloads[traffic.workload].qps;
  for (size_t pair = 0; pair < traffic.channel.size(); ++pair) {
    const auto& [from, to, channel] = std::tie(traffic.from_rank[pair], traffic.to_rank[pair], traffic.channel[pair]);
    if (traffic.clears) {
      const size_t flow = first_clear + pair;
      if (const auto& source = flows_.source(flow)) table.at(to, from, channel).clear_flow = source->number;
      if (const auto& sink = flows_.sink(flow)) table.at(from, to, channel).clear_sink = sink->number;
    }
    for (uint32_t qp = 0; qp < qps; ++qp) {
      const size_t flow = first + pair * qps + qp;
      if (const auto& source = flows_.source(flow)) table.at(from, to, channel).flows.push_back(source->number);
      if (const auto& sink = flows_.sink(flow)) table.at(to, from, channel).sinks.push_back(sink->number);
    }
  }
}

// A sink's index at its host follows from the plan alone, so that a sender knows it wherever the sink is.
void RankLinks::connect_by_scale_up(const RankTraffic& traffic, ConnectionTable& table) {
  const auto connect = [&](uint32_t from, uint32_t to, auto&& flow_is, auto&& sink_is) {
    const uint32_t sender = traffic.hosts[from];
    const uint32_t receiver = traffic.hosts[to];
    const uint32_t sink = scale_up_sinks_[receiver]++;
    if (ScaleUpPort* const port = scale_up_of(sender)) flow_is(port->add_flow(scale_up_.port(sender, receiver), sink));
    if (ScaleUpPort* const port = scale_up_of(receiver)) sink_is(port->add_sink());
  };
  for (const auto& [from, to, channel] : traffic.scale_up) {
    RankConnection& out = table.at(from, to, channel);
    RankConnection& in = table.at(to, from, channel);
    out.is_scale_up = in.is_scale_up = true;
    connect(
        from, to, [&](uint32_t flow) { out.flows.push_back(flow); }, [&](uint32_t sink) { in.sinks.push_back(sink); });
    if (!traffic.clears) continue;
    connect(to, from, [&](uint32_t flow) { in.clear_flow = flow; }, [&](uint32_t sink) { out.clear_sink = sink; });
  }
}

ScaleUpPort* RankLinks::scale_up_of(uint32_t node) const {
  RoceHost* const host = nodes_.host_at(node);
  return host == nullptr ? nullptr : host->scale_up();
}

}  // namespace softspine::testbeds
