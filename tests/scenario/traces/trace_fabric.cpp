// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/traces/trace_fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "control/traffic/rxe_source_port.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// Rank r's host is at port r.
class Exchange final : public Node {
 public:
  explicit Exchange(uint32_t ports) : Node("exchange", ports), free_at_(ports) {}

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) {
      Packet packet = inbox().take_first();
      reach(packet.meta().at);
      constexpr size_t kLastByteOfIpv4Destination = ethernet::kBytes + 19;
      const uint8_t to = packet.data()[kLastByteOfIpv4Destination];
      packet.data()[5] = to;
      const Instant start = std::max(packet.meta().at, free_at_[to]);
      free_at_[to] = transmitter(PortNo{to}).send(std::move(packet), start);
    }
    return inbox().next();
  }

 private:
  std::vector<Instant> free_at_;
};

HostConfig traced_host(uint32_t rank) {
  HostConfig host;
  host.name = "rank" + std::to_string(rank);
  host.mac = {2, 0, 0, 0, 0, static_cast<uint8_t>(rank)};
  host.gateway = {2, 0, 0, 0, 0, 0xff};
  host.ipv4 = 0x0a000000U + rank;
  return host;
}

}  // namespace

class TraceFabric::Stream final : public control::TraceStream {
 public:
  explicit Stream(const TracedRank& operations) : operations_(operations) {}
  bool next(control::TraceOperation& out) noexcept override {
    if (position_ == operations_.size()) return false;
    const TracedOperation& it = operations_[position_++];
    out = {};
    out.kind = it.kind;
    out.peer = it.peer;
    out.tag = it.tag;
    out.cpu = it.cpu;
    out.bytes = it.bytes;
    out.time = it.time;
    out.needs = it.needs;
    out.needs_started = it.needs_started;
    return true;
  }

 private:
  const TracedRank& operations_;
  size_t position_ = 0;
};

TraceFabric::TraceFabric(std::vector<TracedRank> traced, uint32_t window, const TraceCosts& costs, uint32_t depth)
    : ranks_(std::move(traced)), pool_("traces", 16383, kHostPacketBytes), engine_(clock_, {.workers = 1, .seed = 1}) {
  const auto ranks = static_cast<uint32_t>(ranks_.size());
  for (uint32_t r = 0; r < ranks; ++r) {
    const NodeId id = engine_.add(std::make_unique<RoceHost>(traced_host(r), pool_), 0);
    hosts_.push_back(&static_cast<RoceHost&>(engine_.node(id)));
  }
  const NodeId middle = engine_.add(std::make_unique<Exchange>(ranks), 0);
  for (uint32_t r = 0; r < ranks; ++r) {
    const PortRef end{hosts_[r]->id(), PortNo{0}};
    engine_.connect(end, {middle, PortNo{static_cast<uint16_t>(r)}}, Rate::gbps(100), Duration::ns(500));
  }
  std::vector<std::vector<TraceConnection>> connections(ranks);
  uint32_t qp = 100;
  for (uint32_t from = 0; from < ranks; ++from) {
    for (uint32_t to = 0; to < ranks; ++to, ++qp) {
      if (from == to) continue;
      FlowConfig flow;
      flow.id = qp;
      flow.destination = traced_host(to).ipv4;
      flow.source_qp = flow.destination_qp = qp;
      flow.source_port = control::rxe_source_port(qp, qp);
      flow.transport = control::TransportKind::kReliable;
      flow.verb = control::Verb::kSend;
      flow.has_immediates = true;
      flow.queue_depth = depth;
      const SinkConfig sink{
          .id = qp, .qp = qp, .transport = flow.transport, .source = traced_host(from).ipv4, .source_qp = qp};
      connections[from].push_back({.peer = to, .flow = hosts_[from]->add_flow(flow), .depth = depth});
      connections[to].push_back({.peer = from, .sink = hosts_[to]->add_sink(sink)});
    }
  }
  for (uint32_t r = 0; r < ranks; ++r) {
    std::ranges::sort(connections[r], {}, [](const TraceConnection& it) { return std::pair(it.peer, it.flow); });
    uint32_t cpus = 1;
    for (const TracedOperation& op : ranks_[r]) cpus = std::max(cpus, op.cpu + 1);
    streams_.push_back(std::make_unique<Stream>(ranks_[r]));
    logs_.push_back(std::make_unique<TraceLog>());
    const TraceRankConfig config{
        .rank = r, .window = window, .cpus = cpus, .costs = costs, .connections = connections[r]};
    programs_.push_back(std::make_unique<TraceProgram>(config, *hosts_[r], *streams_[r], logs_[r].get()));
    programs_.back()->start_at(Instant{});
  }
}

TraceFabric::~TraceFabric() {
  engine_.drain();
  EXPECT_EQ(pool_.in_use(), 0u);
}

}  // namespace softspine::testbeds
