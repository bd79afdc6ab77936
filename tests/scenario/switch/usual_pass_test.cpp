// SPDX-License-Identifier: Apache-2.0
// The pass over usual packets (usual_pass.hpp) against the stages: a switch that forwards alike, and has maps by port
// so that no packet is usual there, sends the same bytes at the same instants, and drops and counts the same.
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

struct NearlyUsualFrame {
  Instant at;
  uint16_t port;
  Bytes frame;
};

// Frames of which most are usual, and the others nearly.
class NearlyUsual {
 public:
  explicit NearlyUsual(uint64_t seed) : rng_(seed, 0) {}
  std::vector<NearlyUsualFrame> frames(int count) {
    std::vector<NearlyUsualFrame> out;
    for (int i = 0; i < count; ++i) {
      const Instant at = Instant::at_ps(static_cast<int64_t>(rng_.below(300) * 100'000));  // some at one instant
      const auto port = static_cast<uint16_t>(rng_.below(kBenchPorts));
      out.push_back({at, port, frame(port)});
    }
    return out;
  }

 private:
  bool rarely() { return rng_.below(12) == 0; }
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + rng_.below(choices.size()));
  }
  Bytes transport(uint8_t protocol) {
    const Bytes payload = counting(rarely() ? rng_.below(3) : rarely() ? 1470 + rng_.below(12) : rng_.below(300));
    if (protocol == 17 && rng_.below(2) == 0)
      return roce_datagram(static_cast<uint16_t>(rng_.below(64)), static_cast<uint32_t>(rng_.below(9)), payload);
    if (protocol == 17) return udp_datagram(static_cast<uint16_t>(rng_.below(64)), 9, payload);
    return join({be32(static_cast<uint32_t>(rng_.below(64))), payload});
  }
  Bytes packet() {
    Ipv4 ip{.from = ip4("10.9.0.7"), .to = {10, static_cast<uint8_t>(1 + rng_.below(4)), 0, 9}};
    if (rarely()) ip.from[0] = one_of<uint8_t>({0, 127, 224});
    if (rarely()) ip.to = one_of<Bytes>({ip4("10.0.10.5"), ip4("10.0.30.5"), ip4("10.255.0.1"), ip4("11.0.0.1")});
    ip.protocol = rarely() ? one_of<uint8_t>({1, 89}) : one_of<uint8_t>({6, 17, 17});
    ip.ttl = rarely() ? one_of<uint8_t>({0, 1, 2}) : uint8_t{64};
    ip.tos = static_cast<uint8_t>(rng_.below(256));
    if (rarely()) ip.fragment = one_of<uint16_t>({0x2000, 0x0005, 0x4000});
    if (rarely()) ip.options = Bytes(4 * (1 + rng_.below(3)), 1);
    Bytes whole = ipv4_packet(ip, transport(ip.protocol));
    if (rarely()) whole[rng_.below(20)] ^= static_cast<uint8_t>(1U << rng_.below(8));
    if (rarely()) whole.resize(20 + rng_.below(whole.size() - 19));
    if (rarely()) whole.resize(whole.size() + rng_.below(30));
    return whole;
  }
  Bytes frame(uint16_t port) {
    const Mac self = station(static_cast<uint8_t>(port + (rarely() ? 50 : 0)));
    const Mac from = rarely() ? Mac{0x03, 0, 0, 0, 0, 1} : self;
    const Mac to = rng_.below(3) != 0 ? kRouter
                   : rarely()         ? one_of<Mac>({kAll, Mac{0x01, 0x80, 0xc2, 0, 0, 9}, Mac{0x33, 0x33, 0, 0, 0, 1}})
                                      : station(static_cast<uint8_t>(rng_.below(kBenchPorts)));
    const uint16_t type = rarely() ? one_of<uint16_t>({0x86dd, 0x88b5, 0x0806}) : uint16_t{0x0800};
    if (port == 2 ? !rarely() : rarely()) {
      const auto tci = static_cast<uint16_t>(rng_.below(8) << 13 | one_of<uint16_t>({10, 10, 20, 20, 0, 30}));
      return tagged_frame(to, from, tci, type, packet());
    }
    return ethernet_frame(to, from, type, packet());
  }

  Rng rng_;
};

struct PassOutcome {
  std::vector<std::pair<Instant, Frame>> arrived;
  std::vector<PortCounters> counters;
  std::vector<uint16_t> learned;
  uint64_t floods = 0;
  friend bool operator==(const PassOutcome&, const PassOutcome&) = default;
};

template <typename Role>
PassOutcome forwarded_by(ForwardingState state, const std::vector<NearlyUsualFrame>& frames) {
  Bench<Role> bench{std::move(state)};
  for (uint16_t port = 0; port < 4; ++port)  // stations whose port is known
    bench.send(port, port == 2 ? tagged_frame(kAll, station(2), 10, 0x88b5, counting(60))
                               : ethernet_frame(kAll, station(static_cast<uint8_t>(port)), 0x88b5, counting(60)));
  bench.run_for(Duration::us(10));
  const Duration begin = bench.engine().now() - Instant{};
  for (const NearlyUsualFrame& each : frames) bench.send_at(each.at + begin, each.port, each.frame);
  (void)bench.run();
  PassOutcome out;
  for (uint16_t p = 0; p < kBenchPorts; ++p) {
    for (const Probe::Arrival& each : bench.arrivals(p)) out.arrived.push_back({each.at, {p, each.bytes}});
    out.counters.push_back(bench.counters(p));
    for (const uint16_t vlan : {uint16_t{10}, uint16_t{20}}) {
      out.learned.push_back(
          bench.node().tables().fdb.find(vlan, load48(station(static_cast<uint8_t>(p)).data()), bench.engine().now()));
    }
  }
  out.floods = bench.node().tables().unknown_floods;
  return out;
}

// All packets are the stages'.
ForwardingState by_stages(ForwardingState state) {
  state.port_qos.assign(kBenchPorts, state.qos);
  return state;
}
ForwardingState with_classes_by_pcp(ForwardingState state) {
  state.qos.pcp_flags = kIsTagged;
  state.qos.dot1p_to_tc = {1, 0, 5, 3, 4, 2, 6, 6};
  return state;
}

template <typename Role>
void expect_alike(const ForwardingState& state, uint64_t seed) {
  const auto frames = NearlyUsual{seed}.frames(600);
  ASSERT_TRUE(is_usual_switch(state));
  ASSERT_FALSE(is_usual_switch(by_stages(state)));
  const PassOutcome pass = forwarded_by<Role>(state, frames);
  EXPECT_TRUE(pass == forwarded_by<Role>(by_stages(state), frames)) << "seed " << seed;
}

using Findings = std::array<uint32_t, 9>;

Findings findings_of(const PacketMeta& meta) {
  const bool is_tagged = (meta.flags & kIsTagged) != 0;
  return {meta.ether_type,
          is_tagged ? meta.vlan : 0U,
          meta.l3_offset,
          meta.l4_offset,
          static_cast<uint32_t>(meta.verdict),
          static_cast<uint32_t>(meta.reason),
          meta.flags,
          meta.ip_protocol,
          meta.dscp_ecn};
}
Packet packet_with(const Bytes& frame) {
  Packet packet = packet_pool().make(static_cast<uint32_t>(frame.size()));
  std::ranges::copy(frame, packet.data());
  return packet;
}

// A burst's packets are read in fewer steps, and those that are sound not again.
TEST(UsualPass, ReadsOfAPacketWhatIsReadOfItByItself) {
  uint32_t sound = 0;
  for (const NearlyUsualFrame& each : NearlyUsual{seed()}.frames(static_cast<int>(to_repeat(20'000)))) {
    Packet alone = packet_with(each.frame);
    parse(alone);
    const Findings wanted = findings_of(alone.meta());
    const bool is_sound = (alone.meta().flags & kHasPorts) != 0 && alone.meta().reason == DropReason::kCount;
    PacketPool::release(std::move(alone));
    Burst burst;
    burst.push(packet_with(each.frame));
    for (int hop = 0; hop < 2; ++hop) {
      parse(burst);
      EXPECT_EQ(findings_of(burst[0].meta()), wanted);
      EXPECT_EQ(burst[0].meta().is_sound, is_sound);
      if (is_sound) burst[0].meta().verdict = Verdict::kForward;
    }
    sound += is_sound ? 1 : 0;
    PacketPool::release(std::move(burst[0]));
  }
  EXPECT_GT(sound, to_repeat(20'000) / 4);
}

// As behind a switch that has put a tag on it.
TEST(UsualPass, EndsASoundPacketThatHasBecomeTooLong) {
  Burst burst;
  burst.push(packet_with(data_frame(3, 1)));
  PacketMeta& meta = burst[0].meta();
  meta.frame_bytes = kMaxFrameBytes;
  parse(burst);
  ASSERT_TRUE(meta.is_sound);
  parse(burst);
  EXPECT_EQ(meta.verdict, Verdict::kContinue);
  meta.frame_bytes = kMaxFrameBytes + 1;
  parse(burst);
  EXPECT_EQ(meta.verdict, Verdict::kDrop);
  EXPECT_EQ(meta.reason, DropReason::kOversize);
  PacketPool::release(std::move(burst[0]));
}

TEST(UsualPass, DoesWithEachPacketWhatTheStagesDo) {
  for (uint64_t n = 0; n < to_repeat(20); ++n) {
    expect_alike<pipelines::Tor>(bench_state(), seed() + n);
    expect_alike<pipelines::Tor>(with_classes_by_pcp(bench_state()), seed() + n);
    expect_alike<pipelines::Aggregation>(bench_state(), seed() + n);
    expect_alike<pipelines::Core>(with_classes_by_pcp(bench_state()), seed() + n);
  }
}

}  // namespace
}  // namespace softspine::tests
