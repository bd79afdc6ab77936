// SPDX-License-Identifier: Apache-2.0
// Reliable connections over a path that loses, doubles and reorders, in both directions: everything arrives, once and
// in order, and the counters say what has happened.
#include <deque>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

struct Weather {
  uint32_t lose_permille = 0;
  uint32_t twice_permille = 0;
  uint32_t hold_permille = 0;  // a packet that others of its direction overtake
};

// What the path did, kept apart from what the hosts say.
struct Path {
  Rng rng{0, 0};
  Weather weather;
  PacketPool* pool = nullptr;
  Packet held[2];
  uint32_t overtakes[2]{};
  uint64_t in[2]{};
  uint64_t lost[2]{};
  uint64_t doubled[2]{};

  bool happens(uint32_t permille) { return rng.below(1000) < permille; }
  void handle(Meddler& self, Packet packet) {
    const uint16_t from = packet.meta().in_port;
    ++in[from];
    const Instant now = packet.meta().at;
    if (happens(weather.lose_permille)) {
      ++lost[from];
      return PacketPool::release(std::move(packet));
    }
    if (happens(weather.twice_permille)) {
      ++doubled[from];
      Packet copy = pool->copy(packet);
      self.pass(std::move(copy));
    }
    if (!held[from] && happens(weather.hold_permille)) {
      held[from] = std::move(packet);
      overtakes[from] = 1 + static_cast<uint32_t>(rng.below(6));
      return;
    }
    self.pass(std::move(packet));
    if (!held[from] || --overtakes[from] > 0) return;
    held[from].meta().at = now;
    self.pass(std::move(held[from]));
  }
  // What was held when nobody came to overtake it is lost.
  void end() {
    for (int from : {0, 1}) {
      if (!held[from]) continue;
      ++lost[from];
      PacketPool::release(std::move(held[from]));
    }
  }
  uint64_t passed(int from) const { return in[from] - lost[from] + doubled[from]; }
};

struct Case {
  const char* name;
  Weather weather;
  Verb verb;
  uint64_t message_bytes;
  uint64_t messages;
  uint32_t first_psn;
};

void run_case(const Case& c, uint64_t seed) {
  SCOPED_TRACE(c.name);
  SCOPED_TRACE(seed);
  Path path{.rng = Rng{seed, 1}, .weather = c.weather};
  TwoHosts hosts{{.meddle = [&path](Meddler& self, Packet packet) { path.handle(self, std::move(packet)); }}};
  path.pool = &hosts.pool();
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.verb = c.verb;
  flow.mtu = 1024;
  flow.message_bytes = c.message_bytes;
  flow.messages = c.messages;
  flow.first_psn = c.first_psn;
  flow.reliable = {.window = 64, .ack_every = 8, .ack_timeout = 4};
  hosts.flow(flow);
  EXPECT_EQ(hosts.run(), RunEnd::kIdle);
  path.end();

  const FlowSent& sent = hosts.a().sent(0);
  const FlowReceived& received = hosts.b().received(0);
  const uint64_t packets = c.messages * packets_per_message(flow);
  ASSERT_EQ(sent.reliable.retry_exceeded_err, 0u);
  EXPECT_EQ(received.bytes, c.messages * c.message_bytes);
  EXPECT_EQ(received.messages, c.messages);
  EXPECT_EQ(sent.messages, c.messages);
  EXPECT_EQ(sent.reliable.completed_messages, c.messages);
  EXPECT_EQ(hosts.a().counters().completion_ps.count(), c.messages);
  EXPECT_EQ(sent.packets - sent.reliable.retransmitted_packets, packets) << "each for the first time once";
  EXPECT_EQ(received.packets, path.passed(0));
  EXPECT_EQ(received.packets, packets + received.reliable.out_of_sequence + received.reliable.duplicate_request)
      << "each taken once";
  EXPECT_EQ(sent.responses, path.passed(1));
  EXPECT_EQ(received.reliable.acks_sent + received.gaps, path.in[1]);
  EXPECT_LE(sent.reliable.packet_seq_err, received.gaps + path.doubled[1]);
  EXPECT_EQ(received.skipped + received.behind, 0u);
  EXPECT_EQ(hosts.a().sender(0)->under_way(), 0u);
  if (c.weather.lose_permille > 0) {
    EXPECT_GT(sent.reliable.retransmitted_packets, 0u);
  } else if (c.weather.hold_permille == 0) {
    EXPECT_EQ(sent.reliable.retransmitted_packets, 0u);
  }
}

TEST(LossyPath, EverythingArrivesOnceAndInOrder) {
  const uint64_t seed = tests::seed();
  const std::vector<Case> cases{
      {"clean", {}, Verb::kWrite, 10'000, 200, 0},
      {"doubled", {.twice_permille = 50}, Verb::kWrite, 10'000, 200, 0},
      {"lossy", {.lose_permille = 20}, Verb::kWrite, 10'000, 200, 0},
      {"very lossy", {.lose_permille = 150}, Verb::kSend, 5'000, 100, 0},
      {"reordered", {.hold_permille = 30}, Verb::kSend, 10'000, 200, 0},
      {"everything, over the wrap", {20, 20, 20}, Verb::kWrite, 10'000, 200, 0xffff80},
      {"messages of one packet", {20, 20, 20}, Verb::kWrite, 64, 2'000, 0xfffff0},
      {"one long message", {10, 10, 10}, Verb::kWrite, 2'000'003, 1, 0xffffff},
  };
  for (uint64_t round = 0; round < 6; ++round) {
    for (const Case& c : cases) run_case(c, seed * 1000 + round);
  }
}

TEST(LossyPath, ALostTailCostsATimeout) {
  for (const bool lose_ack : {false, true}) {
    uint32_t lost = 0;
    TwoHosts hosts{{.meddle = [&](Meddler& self, Packet packet) {
      const bool is_last = load24(packet.data() + 14 + 20 + 8 + bth::kPsn) == 9;
      if (is_last && lost == 0 && packet.meta().in_port == (lose_ack ? 1 : 0)) {
        ++lost;
        return PacketPool::release(std::move(packet));
      }
      self.pass(std::move(packet));
    }}};
    FlowConfig flow = flow_config();
    flow.transport = TransportKind::kReliable;
    flow.mtu = 1024;
    flow.message_bytes = 10 * 1024;
    flow.reliable.ack_timeout = 3;
    hosts.flow(flow);
    hosts.run();
    EXPECT_EQ(hosts.a().sent(0).reliable.completed_messages, 1u);
    EXPECT_EQ(hosts.a().sent(0).reliable.local_ack_timeout_err, 1u);
    // Nothing was acknowledged before the last packet, so all of it goes again.
    EXPECT_EQ(hosts.a().sent(0).reliable.retransmitted_packets, 10u);
    EXPECT_EQ(hosts.b().received(0).reliable.duplicate_request, lose_ack ? 10u : 9u);
    EXPECT_GE(hosts.a().counters().completion_ps.max(), static_cast<uint64_t>(Duration::ns(4096 * 8).count_ps()));
  }
}

TEST(LossyPath, TheSameSeedIsTheSameRunForAnyNumberOfWorkers) {
  std::vector<std::vector<uint64_t>> outcomes;
  for (const uint32_t workers : {1u, 2u}) {
    Path path{.rng = Rng{5, 1}, .weather = {10, 10, 10}};
    TwoHosts hosts{{.workers = workers,
                    .meddle = [&path](Meddler& self, Packet packet) { path.handle(self, std::move(packet)); }}};
    path.pool = &hosts.pool();
    for (uint32_t i = 0; i < 20; ++i) {
      FlowConfig flow = flow_config(i);
      flow.transport = TransportKind::kReliable;
      flow.messages = 20;
      flow.message_bytes = 30'000;
      flow.reliable.ack_timeout = 4;
      flow.reliable.congestion_control = ReactionParameters::connectx();
      hosts.flow(flow);
    }
    hosts.run();
    path.end();
    std::vector<uint64_t>& all = outcomes.emplace_back();
    for (uint32_t i = 0; i < 20; ++i) {
      const FlowSent& sent = hosts.a().sent(i);
      EXPECT_EQ(sent.reliable.completed_messages, 20u);
      for (const uint64_t n :
           {sent.packets, sent.reliable.retransmitted_packets, sent.reliable.packet_seq_err,
            sent.reliable.local_ack_timeout_err, static_cast<uint64_t>(sent.last_completed.count_ps())}) {
        all.push_back(n);
      }
    }
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

TEST(LossyPath, AnEmptyPoolDelaysAndLosesNothing) {
  TwoHosts hosts{{.rate = Rate::gbps(400), .propagation = Duration::us(2), .packets = 15}};
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.reliable.ack_timeout = 6;
  hosts.flow(flow);
  ASSERT_EQ(hosts.run(), RunEnd::kIdle);
  EXPECT_EQ(hosts.pool().made(), 15u) << "all that it may have";
  EXPECT_EQ(hosts.a().sent(0).reliable.completed_messages, 1u);
}

}  // namespace
}  // namespace softspine::testbeds
