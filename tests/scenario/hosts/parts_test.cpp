// SPDX-License-Identifier: Apache-2.0
// The parts of a built-in host, each alone: no link, no engine.
#include <deque>
#include <set>
#include <utility>

#include "testbeds/hosts/host_flows.hpp"
#include "testbeds/hosts/host_sinks.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint8_t kPriority = 1;  // of DSCP 26
constexpr Rate kLine = Rate::gbps(100);

FlowConfig one_packet_messages() {
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.mtu = 1024;
  flow.message_bytes = 1024;
  flow.messages = 0;
  return flow;
}

// The sink of a reliable connection, and the port where its packets come in.
class OneSink {
 public:
  OneSink() {
    sinks_.add(host_config(2),
               {.id = 0,
                .qp = flow_.destination_qp,
                .transport = TransportKind::kReliable,
                .source = host_config(1).ipv4,
                .source_qp = flow_.source_qp},
               entry_);
  }
  ~OneSink() {
    while (port_.control.waiting() != 0) PacketPool::release(port_.control.pop_any());
    EXPECT_EQ(pool_.in_use(), 0u);
  }
  OneSink(const OneSink&) = delete;
  OneSink& operator=(const OneSink&) = delete;

  void receive(uint32_t psn) {
    const FrameTemplate frame = templates_of(host_config(1), flow_).front();
    Packet packet = pool_.make(kHostPacketBytes);
    packet.cut_to(frame.stored_bytes());
    frame.write(packet.data(), psn, 0);
    packet.meta().frame_bytes = frame.frame_bytes();
    packet.meta().born = Instant{};
    packet.meta().at = Instant::at(Duration::us(1));
    packet.set_flow(0);
    const auto read = read_roce({packet.data(), packet.stored_bytes(), packet.frame_bytes()});
    ASSERT_TRUE(read);
    sinks_.receive(packet, *read, entry_, port_, counters_);
    PacketPool::release(std::move(packet));
  }
  HostPort& port() { return port_; }
  const HostCounters& counters() const { return counters_; }
  const FlowReceived& received() const { return sinks_.received(entry_.sink); }
  const HostSinks& sinks() const { return sinks_; }

 private:
  PacketPool pool_{"sinks", 4095, kHostPacketBytes};
  FlowConfig flow_ = one_packet_messages();
  HostSinks sinks_{pool_};
  QpTable::Entry entry_;
  HostPort port_;
  HostCounters counters_;
};

TEST(HostParts, AnAcknowledgementWaitsAtThePortWhereItsPacketCameIn) {
  OneSink sink;
  sink.receive(0);
  EXPECT_EQ(sink.port().control.waiting(), 1 << kPriority);
  EXPECT_EQ(sink.port().beside, Instant::at(Duration::us(1))) << "it may leave at once";
  EXPECT_EQ(sink.received().messages, 1u);
  EXPECT_EQ(sink.counters().message_latency_ps.count(), 1u);
}

TEST(HostParts, APacketIsTakenThoughThereIsNoRoomForItsAcknowledgement) {
  OneSink sink;
  for (uint32_t psn = 0; psn < ControlQueue::kPacketLimit + 2; ++psn) sink.receive(psn);
  EXPECT_EQ(sink.received().messages, ControlQueue::kPacketLimit + 2);
  EXPECT_EQ(sink.counters().unanswered, 2u);
}

TEST(HostParts, WhoeverReadsLatenciesSeesThoseThatWait) {
  for (const bool reads_each : {true, false}) {
    OneSink sink;
    for (uint32_t psn = 0; psn < 3 * WaitingLatencies::kRoom - 1; ++psn) {
      sink.receive(psn);
      if (reads_each) {
        ASSERT_EQ(sink.sinks().latency().count(), psn + 1);
      }
    }
    EXPECT_EQ(sink.sinks().latencies().at(0).latency_ps.count(), 3 * WaitingLatencies::kRoom - 1);
  }
}

// To the last bit of the sum, which depends on the order.
TEST(HostParts, LatenciesThatWaitedMakeTheHistogramThatOthersMake) {
  Rng rng{tests::seed(), 0};
  Histogram waited;
  Histogram direct;
  WaitingLatencies waiting;
  for (int i = 0; i < 10'000; ++i) {
    const auto latency = static_cast<int64_t>(rng.next() >> (1 + rng.below(60)));
    if (!waiting.add(latency) || rng.below(20) == 0) waiting.flush(waited);
    direct.add(latency);
  }
  waiting.flush(waited);
  EXPECT_EQ(waited.count(), direct.count());
  EXPECT_EQ(waited.mean(), direct.mean());
  EXPECT_EQ(waited.min(), direct.min());
  EXPECT_EQ(waited.max(), direct.max());
  for (const double share : {0.01, 0.5, 0.99}) EXPECT_EQ(waited.quantile(share), direct.quantile(share));
}

// One flow in the ring, one that waits, and many of both: who is due goes in the order of instants, then of numbers,
// and who may go at once behind those that stand.
TEST(HostParts, QueuePairsTakeTurnsInTheOrderInWhichTheyMayGo) {
  Rng rng{tests::seed(), 1};
  for (uint32_t round = 0; round < 200; ++round) {
    const auto pairs = static_cast<uint32_t>(1 + rng.below(9));
    SendOrder order;
    std::deque<uint32_t> standing;
    std::set<std::pair<Instant, uint32_t>> waiting;
    const auto add = [&](uint32_t pair, Instant now) {
      const Instant eligible = Instant::at_ps(now.count_ps() + static_cast<int64_t>(rng.below(4)) - 1);
      order.add(pair, eligible, now);
      eligible <= now ? standing.push_back(pair) : void(waiting.emplace(eligible, pair));
    };
    for (uint32_t pair = 0; pair < pairs; ++pair) {
      order.reserve(pair + 1);
      add(pair, Instant::at_ps(1));
    }
    for (int64_t now = 2; now < 100; ++now) {
      const Instant at = Instant::at_ps(now);
      ASSERT_EQ(order.next(), standing.empty() ? waiting.begin()->first : Instant{});
      if (order.next() > at) continue;
      for (; !waiting.empty() && waiting.begin()->first <= at; waiting.erase(waiting.begin()))
        standing.push_back(waiting.begin()->second);
      ASSERT_EQ(order.take(at), standing.front()) << round << " at " << now;
      const uint32_t pair = standing.front();
      standing.pop_front();
      add(pair, at);
    }
  }
}

TEST(HostParts, AFlowWhosePriorityIsPausedIsParkedUntilThePauseEnds) {
  PacketPool pool{"flows", 4095, kHostPacketBytes};
  HostConfig host = host_config(1);
  host.links[0].parameters.pfc_response = Duration{};
  HostFlows flows{host, pool};
  HostPort port;
  port.plan_flow_control(host, 0, Instant{});
  port.make_room();
  port.order.add(flows.add(one_packet_messages(), kLine), Instant{}, Instant{});
  const Instant paused = Instant::at(Duration::us(1));
  port.flow_control.receive(PfcFrame::of(1 << kPriority, 1'000), kLine, paused);

  flows.send(port, paused);
  EXPECT_EQ(port.parked, std::vector<uint32_t>{0});
  EXPECT_EQ(flows.sent(0).packets, 0u);
  EXPECT_EQ(pool.in_use(), 0u);
  const Instant end = paused + pause_quantum(kLine) * 1'000;
  EXPECT_EQ(port.departure(), end) << "somebody waits for the end of the pause";
  port.reconsider(end);
  EXPECT_TRUE(port.parked.empty());
  EXPECT_LE(port.departure(), end) << "the flow's turn, at the host's own instant";
}

}  // namespace
}  // namespace softspine::testbeds
