// SPDX-License-Identifier: Apache-2.0
// Closed formulas: how long a packet is under way, how much a link carries, which member a flow takes.
#include <algorithm>
#include <bit>

#include "tests/model/forwarding/slow_crc32c.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

struct Hop {
  Rate rate;
  Duration propagation;
};

// Two stations with switches of the three roles in turn between them, a link of its own kind each.
class Chain {
 public:
  explicit Chain(const std::vector<Hop>& links) : engine_(clock_, Engine::Config{}) {
    ForwardingState state = bench_state();
    state.adjacencies[0].destination = kRouter;
    state.adjacencies[0].port = 1;
    state.ports.assign(2, {});
    state.vlans.clear();
    state.qos.queue_limit_bytes.fill(1 << 30);
    const auto shared = std::make_shared<const ForwardingState>(std::move(state));
    const NodeId first = engine_.add(std::make_unique<Probe>(packet_pool()), 0);
    NodeId before = first;
    for (size_t i = 0; i + 1 < links.size(); ++i) {
      const NodeId node = add_switch(i, shared);
      engine_.connect({before, PortNo{static_cast<uint16_t>(before == first ? 0 : 1)}}, {node, PortNo{0}},
                      links[i].rate, links[i].propagation);
      before = node;
    }
    const NodeId last = engine_.add(std::make_unique<Probe>(packet_pool()), 0);
    engine_.connect({before, PortNo{1}}, {last, PortNo{0}}, links.back().rate, links.back().propagation);
    from_ = static_cast<Probe*>(&engine_.node(first));
    to_ = static_cast<Probe*>(&engine_.node(last));
  }
  ~Chain() {
    for (const auto* node : switches_) expect_at_rest(*node);
    engine_.drain();
  }
  Probe& from() { return *from_; }
  const std::vector<Probe::Arrival>& run() {
    EXPECT_EQ(engine_.run(Instant::never()), RunEnd::kIdle);
    return to_->arrivals();
  }

 private:
  NodeId add_switch(size_t i, const std::shared_ptr<const ForwardingState>& state) {
    std::unique_ptr<pipelines::Switch> node;
    if (i % 3 == 0) node = std::make_unique<pipelines::Tor>("tor", 2, packet_pool());
    if (i % 3 == 1) node = std::make_unique<pipelines::Aggregation>("aggregation", 2, packet_pool());
    if (i % 3 == 2) node = std::make_unique<pipelines::Core>("core", 2, packet_pool());
    node->publish(state);
    switches_.push_back(node.get());
    return engine_.add(std::move(node), 0);
  }
  VirtualClock clock_;
  Engine engine_;
  std::vector<const pipelines::Switch*> switches_;
  Probe* from_ = nullptr;
  Probe* to_ = nullptr;
};

Bytes frame_of(size_t payload) {
  return ethernet_frame(kRouter, station(1), 0x0800,
                        ipv4_packet({.from = ip4("10.9.0.1"), .to = ip4("10.1.0.1")}, Bytes(payload)));
}

// (bytes + 24) × 8 × 10^12 / rate, rounded to the nearest picosecond, with integers only.
int64_t wire_ps(uint64_t bytes, uint64_t bps) {
  const uint64_t bits = (std::max<uint64_t>(bytes, 60) + 24) * 8;
  return static_cast<int64_t>((bits * 1'000'000'000'000 + bps / 2) / bps);
}

TEST(Timing, APacketTakesTheSumOfItsLinksToThePicosecond) {
  const std::vector<Hop> all{{Rate::gbps(100), Duration::ns(25)},  {Rate::gbps(400), Duration::ps(5'051)},
                             {Rate::gbps(800), Duration::ns(1)},   {Rate::gbps(25), Duration::us(3)},
                             {Rate::gbps(10), Duration::ps(777)},  {Rate::gbps(40), Duration::ns(100)},
                             {Rate::gbps(200), Duration::ns(1515)}};
  for (size_t links = 2; links <= all.size(); ++links) {
    for (const size_t payload : {size_t{0}, size_t{26}, size_t{27}, size_t{1472}, size_t{1900}}) {
      const std::vector<Hop> used{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(links)};
      Chain chain{used};
      const Instant start = Instant::at(Duration::ps(123'457));
      const Bytes frame = frame_of(payload);
      chain.from().send_at(start, frame);
      int64_t expected = start.count_ps();
      for (const Hop& hop : used) expected += wire_ps(frame.size(), hop.rate.count_bps()) + hop.propagation.count_ps();
      ASSERT_EQ(chain.run().size(), 1u);
      EXPECT_EQ(chain.run()[0].at.count_ps(), expected) << links << " links, " << payload << " bytes";
    }
  }
}

// Behind the slowest link frames come at its rate, one right behind the other.
TEST(Timing, TheSlowestLinkSetsThePace) {
  const std::vector<Hop> links{
      {Rate::gbps(100), Duration::ns(500)}, {Rate::gbps(10), Duration::ns(500)}, {Rate::gbps(100), Duration::ns(500)}};
  Chain chain{links};
  constexpr int kFrames = 5'000;
  for (int i = 0; i < kFrames; ++i) chain.from().send_at(Instant{}, frame_of(300));
  const auto& arrivals = chain.run();
  ASSERT_EQ(arrivals.size(), size_t{kFrames});
  const int64_t step = wire_ps(334, 10'000'000'000);
  for (int i = 1; i < kFrames; ++i) ASSERT_EQ((arrivals[i].at - arrivals[i - 1].at).count_ps(), step) << i;
  const double seconds = (arrivals.back().at - arrivals.front().at).seconds();
  EXPECT_NEAR((kFrames - 1) * (334 + 24) * 8 / seconds, 10e9, 10e9 * 0.001);
}

// The members of the bench's group, and how a key's bytes are laid out: the manual of hash_key.hpp.
struct Flow {
  Bytes from;
  Bytes to;
  uint16_t source_port;
  uint32_t qp;
};
uint32_t slow_hash(const HashConfig& config, const Flow& flow, bool with_ports, bool with_qp, uint8_t protocol = 17) {
  Bytes key = join(
      {flow.from, flow.to, with_ports ? be16(flow.source_port) : be16(0), be16(with_ports ? 4791 : 0), {protocol}});
  const Bytes qp = be32(flow.qp);
  key.insert(key.end(), qp.begin() + 1, qp.end());
  if (!with_qp) std::fill(key.end() - 3, key.end(), uint8_t{0});
  return std::rotr(slow_crc32c(key, config.seed), config.offset);
}

HashConfig with_qp(HashConfig config) {
  config.fields.push_back(HashField::kRdmaBthDestQp);
  return config;
}

ForwardingState group_of(uint32_t members, const HashConfig& config) {
  ForwardingState state = bench_state();
  state.members.clear();
  for (uint32_t i = 0; i < members; ++i) state.members.push_back(i % 2);
  state.groups[0].count = members;
  state.hash = EcmpHash{config};
  return state;
}

using Core = Bench<pipelines::Core>;

uint16_t port_of(Core& bench, const Flow& flow, uint16_t fragment = 0) {
  const Bytes datagram = roce_datagram(flow.source_port, flow.qp, counting(8));
  const bool is_ipv6 = flow.from.size() == 16;
  const Bytes packet = is_ipv6 ? ipv6_packet({.from = flow.from, .to = flow.to}, datagram)
                               : ipv4_packet({.from = flow.from, .to = flow.to, .fragment = fragment}, datagram);
  const Frames out = bench.exchange(6, ethernet_frame(kRouter, station(6), is_ipv6 ? 0x86dd : 0x0800, packet));
  return out.size() == 1 ? out[0].port : uint16_t{0xffff};
}

// What a capture says of a frame that leaves: the instant of its last bit, as of one that comes in.
class Stamps final : public Tap {
 public:
  void frame(Direction direction, const Packet&, Instant at, const char*) noexcept override {
    EXPECT_EQ(direction, Direction::kTransmitted);
    stamps.push_back(at);
  }
  std::vector<Instant> stamps;
};
TEST(Timing, ATransmittedFrameIsStampedWhenItsLastBitHasLeft) {
  Bench<pipelines::Core> bench;
  Stamps tap;
  bench.node().transmitter(PortNo{4}).set_tap(&tap);
  for (const size_t payload : {10, 100, 1000}) {
    const Bytes packet = ipv4_packet({.from = ip4("10.0.30.2"), .to = ip4("10.1.0.1")}, counting(payload));
    bench.exchange(6, ethernet_frame(kRouter, station(6), 0x0800, packet));
  }
  ASSERT_EQ(bench.arrivals(4).size(), 3u);
  ASSERT_EQ(tap.stamps.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(tap.stamps[i], bench.arrivals(4)[i].at - kBenchPropagation);
  bench.node().transmitter(PortNo{4}).set_tap(nullptr);
}

TEST(EcmpShares, EachFlowTakesTheMemberThatTheDocumentedKeyGives) {
  Rng rng{7, 0};
  HashConfig with_udf{.seed = 8, .offset = 1};
  with_udf.udfs = {destination_qp_udf()};
  for (const HashConfig& config :
       {HashConfig{}, HashConfig{.seed = 10, .offset = 10}, with_qp({.seed = 77, .offset = 3}), with_udf}) {
    Core bench{group_of(7, config)};
    for (int i = 0; i < 150; ++i) {
      const auto host = static_cast<uint16_t>(rng.next());
      const Flow flow{i % 2 == 0 ? Bytes{10, 0, 30, static_cast<uint8_t>(2 + rng.below(200))} : ip6(0x30, host),
                      i % 2 == 0 ? Bytes{10, 2, static_cast<uint8_t>(host >> 8), 9} : ip6(0x102, host),
                      static_cast<uint16_t>(0xc000 | rng.below(0x4000)), static_cast<uint32_t>(rng.below(1 << 24))};
      const uint32_t member = slow_hash(config, flow, true, config.fields.size() == 6 || !config.udfs.empty()) % 7;
      ASSERT_EQ(port_of(bench, flow), 4 + member % 2) << i;
      ASSERT_EQ(port_of(bench, flow), 4 + member % 2) << "the same again";
    }
  }
}

TEST(EcmpShares, TcpPortsCountAndTheBytesBehindThemDoNot) {
  const HashConfig config = with_qp({.seed = 6});
  Core bench{group_of(7, config)};
  for (uint8_t i = 2; i < 60; ++i) {
    const Flow flow{{10, 0, 30, i}, {10, 2, 0, i}, static_cast<uint16_t>(1000 + i), 0x123456};
    const Bytes segment = roce_datagram(flow.source_port, flow.qp, counting(8));  // its ports stand where TCP's do
    for (const uint8_t protocol : {uint8_t{6}, uint8_t{132}}) {
      const Bytes packet = ipv4_packet({.from = flow.from, .to = flow.to, .protocol = protocol}, segment);
      const Frames out = bench.exchange(6, ethernet_frame(kRouter, station(6), 0x0800, packet));
      ASSERT_EQ(out.size(), 1u);
      EXPECT_EQ(out[0].port, 4 + slow_hash(config, flow, protocol == 6, false, protocol) % 7 % 2) << int{i};
    }
  }
}

// The first fragment has ports and the others not: all go by addresses and protocol, so they stay together.
TEST(EcmpShares, FragmentsOfOneDatagramStayTogether) {
  const HashConfig config = with_qp({.seed = 5});
  Core bench{group_of(7, config)};
  for (uint8_t i = 2; i < 60; ++i) {
    const Flow flow{{10, 0, 30, i}, {10, 2, 0, i}, static_cast<uint16_t>(1000 + i), i};
    const auto expected = static_cast<uint16_t>(4 + slow_hash(config, flow, false, false) % 7 % 2);
    for (const uint16_t fragment : {uint16_t{0x2000}, uint16_t{0x2001}, uint16_t{0x0010}}) {
      ASSERT_EQ(port_of(bench, flow, fragment), expected) << int{i};
    }
  }
}

TEST(EcmpShares, TwoMembersHalveAThousandFlows) {
  Core bench;
  Rng rng{9, 0};
  int first = 0;
  constexpr int kFlows = 1'000;
  for (int i = 0; i < kFlows; ++i) {
    const Flow flow{{10, 0, 30, 2}, {10, 2, 0, static_cast<uint8_t>(i)}, static_cast<uint16_t>(rng.next()), 1};
    first += port_of(bench, flow) == 4 ? 1 : 0;
  }
  EXPECT_NEAR(first, kFlows / 2, 5 * 0.5 * 31.7) << "five deviations of a fair coin";
}

}  // namespace
}  // namespace softspine::tests
