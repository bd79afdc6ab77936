// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/ranks/rank_fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/dpdk/eal.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr uint8_t kClearDscp = 40;

// Rank r's host is at port r.
class Crossbar final : public Node {
 public:
  explicit Crossbar(uint32_t ports) : Node("crossbar", ports), free_at_(ports) {}

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) {
      Packet packet = inbox().take_first();
      reach(packet.meta().at);
      constexpr size_t kLastBytesOfIpv4Destination = ethernet::kBytes + 18;
      const uint32_t to =
          packet.data()[kLastBytesOfIpv4Destination] * 256U + packet.data()[kLastBytesOfIpv4Destination + 1];
      packet.data()[4] = static_cast<uint8_t>(to >> 8);
      packet.data()[5] = static_cast<uint8_t>(to);
      const Instant start = std::max(packet.meta().at, free_at_[to]);
      free_at_[to] = transmitter(PortNo{static_cast<uint16_t>(to)}).send(std::move(packet), start);
    }
    return inbox().next();
  }

 private:
  std::vector<Instant> free_at_;
};

HostConfig host_of(uint32_t rank) {
  HostConfig host;
  host.name = "rank" + std::to_string(rank);
  host.mac = {2, 0, 0, 0, static_cast<uint8_t>(rank >> 8), static_cast<uint8_t>(rank)};
  host.gateway = {2, 0, 0, 0, 0xff, 0xff};
  host.ipv4 = 0x0a000000U + rank;
  return host;
}

FlowConfig flow_of(uint32_t from_qp, uint32_t to, uint32_t to_qp, const RankSetup& setup) {
  FlowConfig flow;
  flow.id = from_qp << 1;
  flow.destination = host_of(to).ipv4;
  flow.source_qp = from_qp;
  flow.destination_qp = to_qp;
  flow.source_port = control::rxe_source_port(from_qp, to_qp);
  flow.transport = setup.transport;
  flow.mtu = setup.mtu;
  flow.queue_depth = setup.depth;
  flow.reliable.ack_timeout = setup.ack_timeout;
  flow.has_immediates = setup.rank.scaling == QueuePairScaling::kLeastOutstanding;
  if (flow.has_immediates) flow.verb = control::Verb::kSend;
  return flow;
}

SinkConfig sink_of(const FlowConfig& flow, uint32_t from) {
  SinkConfig sink{.id = flow.id, .qp = flow.destination_qp};
  sink.transport = flow.transport;
  sink.source = host_of(from).ipv4;
  if (flow.transport == TransportKind::kReliable) sink.source_qp = flow.source_qp;
  return sink;
}

Engine::Config threads(const RankSetup& setup) {
  return {.workers = setup.workers,
          .seed = 1,
          .on_worker_start = [](uint32_t) { register_worker_thread(); },
          .on_worker_stop = [](uint32_t) { unregister_worker_thread(); }};
}

}  // namespace

ScriptLines::ScriptLines(const Script& script) : lines_(1) {
  for (const ScriptedOperation& each : script) {
    if (each.line >= lines_.size()) lines_.resize(each.line + 1);
    lines_[each.line].operations.push_back(&each);
  }
}

control::WorkLines::Answer ScriptLines::next(uint32_t line, control::Operation& out) noexcept {
  Line& from = lines_[line];
  if (from.given == from.operations.size()) return Answer::kEnded;
  const ScriptedOperation& it = *from.operations[from.given];
  if (!std::ranges::all_of(it.needs, [this](uint64_t need) { return is_given(need); })) return Answer::kLater;
  ++from.given;
  out = {it.kind, it.peer, it.channel, it.bytes, it.time, it.needs, it.after_all, it.line};
  return Answer::kGiven;
}

const DoneOperation& DoneList::of(uint64_t number) const {
  const auto at = std::ranges::find(list_, number, &DoneOperation::number);
  SOFTSPINE_CHECK(at != list_.end(), number, list_.size());
  return *at;
}

RankFabric::RankFabric(std::vector<Script> scripts, const RankSetup& setup)
    : scripts_(std::move(scripts)),
      pool_("ranks", 16383, kHostPacketBytes),
      engine_(clock_, threads(setup)),
      connections_(scripts_.size()) {
  const auto ranks = static_cast<uint32_t>(scripts_.size());
  for (uint32_t r = 0; r < ranks; ++r) {
    HostConfig host = host_of(r);
    host.scale_up_ports = static_cast<uint16_t>(setup.scale_up.is_zero() ? 0 : ranks - 1);
    host.parameters.scale_up_rate = setup.scale_up;
    const NodeId id = engine_.add(std::make_unique<RoceHost>(host, pool_), r % setup.workers);
    hosts_.push_back(&static_cast<RoceHost&>(engine_.node(id)));
  }
  const NodeId middle = engine_.add(std::make_unique<Crossbar>(ranks), 0);
  for (uint32_t r = 0; r < ranks; ++r) {
    const PortRef end{hosts_[r]->id(), PortNo{0}};
    engine_.connect(end, {middle, PortNo{static_cast<uint16_t>(r)}}, setup.rate, setup.propagation);
    if (setup.lost_share != 0)
      hosts_[r]->transmitter(PortNo{0}).set_fault(std::make_unique<LinkFault>(setup.lost_share, 0, Rng{7, r}));
  }
  if (!setup.scale_up.is_zero()) join_hosts(setup);
  std::vector<std::vector<bool>> used(ranks, std::vector<bool>(size_t{ranks} * setup.channels));
  for (uint32_t r = 0; r < ranks; ++r) {
    for (const ScriptedOperation& op : scripts_[r]) {
      if (op.kind != control::OperationKind::kSend && op.kind != control::OperationKind::kReceive) continue;
      used[std::min(r, op.peer)][std::max(r, op.peer) * setup.channels + op.channel] = true;
    }
  }
  for (uint32_t a = 0; a < ranks; ++a) {
    for (uint32_t i = 0; i < ranks * setup.channels; ++i) {
      if (!used[a][i]) continue;
      setup.scale_up.is_zero() ? connect(a, i / setup.channels, i % setup.channels, setup)
                               : connect_beside(a, i / setup.channels, i % setup.channels, setup);
    }
  }
  for (uint32_t r = 0; r < ranks; ++r) {
    RankConfig config = setup.rank;
    config.connections = connections_[r];
    lines_.push_back(std::make_unique<ScriptLines>(scripts_[r]));
    config.further_windows.resize(lines_.back()->lines() - 1, config.window);
    done_.push_back(std::make_unique<DoneList>());
    programs_.push_back(std::make_unique<RankProgram>(config, *hosts_[r], *lines_[r], done_[r].get()));
    programs_.back()->start_at(Instant{});
  }
}

// Both ways: what tells the sender that it may send goes back on the first queue pair of the messages.
void RankFabric::connect(uint32_t a, uint32_t b, uint32_t channel, const RankSetup& setup) {
  RankConnection of[2]{{.peer = b, .channel = channel, .depth = setup.depth, .clear_depth = setup.depth},
                       {.peer = a, .channel = channel, .depth = setup.depth, .clear_depth = setup.depth}};
  const uint32_t ranks[2]{a, b};
  for (uint32_t way = 0; way < 2; ++way) {
    RoceHost& from = *hosts_[ranks[way]];
    RoceHost& to = *hosts_[ranks[1 - way]];
    for (uint32_t i = 0; i < setup.queue_pairs; ++i) {
      const uint32_t qp = next_qp_++;
      const FlowConfig flow = flow_of(qp, ranks[1 - way], qp, setup);
      of[way].flows.push_back(from.add_flow(flow));
      of[1 - way].sinks.push_back(to.add_sink(sink_of(flow, ranks[way])));
      if (!setup.admission || i > 0) continue;
      FlowConfig clear = flow_of(qp, ranks[way], qp, setup);
      clear.id = flow.id + 1;
      clear.dscp = kClearDscp;
      of[1 - way].clear_flow = to.add_flow(clear);
      of[way].clear_sink = from.add_sink(sink_of(clear, ranks[1 - way]));
    }
  }
  connections_[a].push_back(of[0]);
  connections_[b].push_back(of[1]);
}

// Host r's port to host p, behind the one to the crossbar.
PortNo port_to(uint32_t r, uint32_t p) {
  return PortNo{static_cast<uint16_t>(p < r ? 1 + p : p)};
}

void RankFabric::join_hosts(const RankSetup& setup) {
  scale_up_sinks_.resize(hosts_.size());
  for (uint32_t a = 0; a < hosts_.size(); ++a) {
    hosts_[a]->scale_up()->number_from(0, 0);
    for (uint32_t b = a + 1; b < hosts_.size(); ++b)
      engine_.connect({hosts_[a]->id(), port_to(a, b)}, {hosts_[b]->id(), port_to(b, a)}, setup.scale_up,
                      setup.scale_up_latency);
  }
}

// As connect().
void RankFabric::connect_beside(uint32_t a, uint32_t b, uint32_t channel, const RankSetup& setup) {
  RankConnection of[2]{{.peer = b, .channel = channel, .depth = setup.depth, .clear_depth = setup.depth},
                       {.peer = a, .channel = channel, .depth = setup.depth, .clear_depth = setup.depth}};
  const uint32_t ranks[2]{a, b};
  const auto join = [&](uint32_t way, uint32_t& flow, uint32_t& sink) {
    const uint32_t from = ranks[way];
    const uint32_t to = ranks[1 - way];
    flow = hosts_[from]->scale_up()->add_flow(port_to(from, to), scale_up_sinks_[to]++);
    sink = hosts_[to]->scale_up()->add_sink();
  };
  for (uint32_t way = 0; way < 2; ++way) {
    of[way].is_scale_up = true;
    join(way, of[way].flows.emplace_back(), of[1 - way].sinks.emplace_back());
    if (setup.admission) join(1 - way, of[1 - way].clear_flow, of[way].clear_sink);
  }
  connections_[a].push_back(of[0]);
  connections_[b].push_back(of[1]);
}

RankFabric::~RankFabric() {
  engine_.drain();
  EXPECT_EQ(pool_.in_use(), 0u);
}

void RankFabric::run_to_the_end() {
  run();
  for (uint32_t r = 0; r < programs_.size(); ++r) {
    EXPECT_EQ(programs_[r]->state(), RankProgram::State::kEnded) << "rank " << r;
    EXPECT_TRUE(programs_[r]->unfinished().empty());
    EXPECT_EQ(programs_[r]->unclaimed_messages(), 0u);
  }
}

Instant RankFabric::end() const {
  Instant last;
  for (const auto& each : programs_) last = std::max(last, each->counters().ended);
  return last;
}

// Ethernet, IPv4, UDP, BTH and ICRC are 58 bytes, RETH is 16; without FCS.
uint32_t RankFabric::frame_bytes(uint32_t payload, bool is_first) {
  return 58 + (is_first ? 16U : 0U) + (payload + 3) / 4 * 4;
}

}  // namespace softspine::testbeds
