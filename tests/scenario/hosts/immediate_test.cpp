// SPDX-License-Identifier: Apache-2.0
// Immediate data of posted messages: the receiver hears each message's own, whatever is lost on the way.
#include "dataplane/units/rng.hpp"
#include "testbeds/hosts/roce_reader.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

using Immediates = std::vector<uint32_t>;

class Listener final : public WorkEvents {
 public:
  explicit Listener(const RoceHost& host) : host_(host) {}
  void completed(uint32_t, uint64_t, Instant) noexcept override {}
  void received(uint32_t, uint64_t number, Instant) noexcept override {
    EXPECT_EQ(number, heard.size());
    heard.push_back(host_.sinks().immediate());
  }
  Immediates heard;

 private:
  const RoceHost& host_;
};

FlowConfig sends(control::TransportKind transport) {
  FlowConfig flow = flow_config();
  flow.verb = control::Verb::kSend;
  flow.has_immediates = true;
  flow.queue_depth = 64;
  flow.mtu = 256;
  flow.transport = transport;
  return flow;
}

RoceFrame frame_of(const Packet& packet) {
  return *read_roce({packet.data(), packet.stored_bytes(), packet.meta().frame_bytes});
}

TEST(Immediates, ReachTheReceiverWithTheirMessages) {
  TwoHosts hosts;
  Listener listener{hosts.b()};
  hosts.b().listen(listener);
  hosts.flow(sends(control::TransportKind::kReliable));
  // Two of one size, one of no bytes, one of many packets; what is above 32 bits stays at the sender.
  for (const auto& [bytes, tag] : {std::pair{100u, 7ull}, {100u, 9ull}, {0u, 0xffffffffull}, {5'000u, 1ull << 32 | 5}})
    EXPECT_TRUE(hosts.a().post(0, bytes, tag, Instant{}));
  hosts.run();
  EXPECT_EQ(listener.heard, (Immediates{7, 9, 0xffffffff, 5}));
  EXPECT_EQ(hosts.b().received(0).bytes, 5'200u);
}

// Of 257 bytes by 256: FIRST, or ONLY, carries nothing.
TEST(Immediates, StandInTheLastPacketAlone) {
  std::vector<std::pair<uint8_t, uint32_t>> seen;
  TwoHosts hosts{{.meddle = [&](Meddler& meddler, Packet packet) {
    const RoceFrame frame = frame_of(packet);
    if (!frame.is_response) seen.emplace_back(frame.opcode, frame.immediate());
    meddler.pass(std::move(packet));
  }}};
  hosts.flow(sends(control::TransportKind::kOpenLoop));
  EXPECT_TRUE(hosts.a().post(0, 257, 42, Instant{}));
  EXPECT_TRUE(hosts.a().post(0, 3, 43, Instant{}));
  hosts.run();
  EXPECT_EQ(seen, (std::vector<std::pair<uint8_t, uint32_t>>{
                      {bth::kSendFirst, 0}, {bth::kSendLastImmediate, 42}, {bth::kSendOnlyImmediate, 43}}));
}

TEST(Immediates, AreThoseOfTheirMessagesAfterLosses) {
  Rng rng{tests::seed(), 1};
  TwoHosts hosts{{.meddle = [&](Meddler& meddler, Packet packet) {
    if (rng.below(10) == 0) return PacketPool::release(std::move(packet));
    meddler.pass(std::move(packet));
  }}};
  Listener listener{hosts.b()};
  hosts.b().listen(listener);
  FlowConfig flow = sends(control::TransportKind::kReliable);
  flow.reliable.ack_timeout = 8;
  hosts.flow(flow);
  Immediates sent;
  for (uint32_t i = 0; i < 64; ++i) {
    sent.push_back(static_cast<uint32_t>(rng.below(1ULL << 32)));
    EXPECT_TRUE(hosts.a().post(0, rng.below(1'500), sent.back(), Instant{}));
  }
  hosts.run();
  EXPECT_EQ(listener.heard, sent) << "seed " << tests::seed();
  EXPECT_GT(hosts.a().sent(0).reliable.retransmitted_packets, 0u);
}

}  // namespace
}  // namespace softspine::testbeds
