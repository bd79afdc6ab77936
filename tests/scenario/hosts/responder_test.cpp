// SPDX-License-Identifier: Apache-2.0
// What a built-in host answers beside its queue pairs: ARP, neighbour solicitations, echoes; frames built by hand.
#include "tests/scenario/hosts/puppet.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::testbeds {
namespace {

namespace t = softspine::tests;

constexpr t::Mac kHost{2, 0, 0, 0, 0, 1};  // host_config(1): 10.0.0.1, fd00::1
constexpr t::Mac kAsker{2, 0, 0, 0, 0, 2};
const Bytes kHost4 = t::ip4("10.0.0.1");
const Bytes kAsker4 = t::ip4("10.0.0.2");
const Bytes kHost6 = t::ip6(0, 1);
const Bytes kAsker6 = t::ip6(0, 2);

// The frames that come back for one, without what a MAC pads.
std::vector<Bytes> answers_to(const Bytes& frame, size_t bytes) {
  HostAndPuppet pair;
  pair.puppet().say(Instant::at(Duration::us(1)), frame);
  pair.run();
  std::vector<Bytes> out;
  for (const Heard& heard : pair.puppet().heard()) {
    out.push_back(heard.frame);
    out.back().resize(std::min(bytes, out.back().size()));
  }
  return out;
}
std::vector<Bytes> only(const Bytes& frame) {
  return {frame};
}

TEST(HostResponder, AnswersArpForItsAddressAndNoOther) {
  const auto question = [](const Bytes& target) {
    return t::ethernet_frame(t::kAll, kAsker, 0x0806, t::arp_packet(1, kAsker, kAsker4, t::Mac{}, target));
  };
  EXPECT_EQ(answers_to(question(kHost4), 42),
            only(t::ethernet_frame(kAsker, kHost, 0x0806, t::arp_packet(2, kHost, kHost4, kAsker, kAsker4))));
  EXPECT_TRUE(answers_to(question(t::ip4("10.0.0.3")), 42).empty());
}

TEST(HostResponder, AnswersAnEcho) {
  const Bytes body = t::counting(40);
  const Bytes request =
      t::ethernet_frame(kHost, kAsker, 0x0800,
                        t::ipv4_packet({.from = kAsker4, .to = kHost4, .protocol = 1, .ttl = 9, .tos = 3 << 2},
                                       t::icmp4(8, 0, 77, body)));
  const Bytes reply =
      t::ethernet_frame(kAsker, kHost, 0x0800,
                        t::ipv4_packet({.from = kHost4, .to = kAsker4, .protocol = 1, .ttl = 64, .tos = 3 << 2},
                                       t::icmp4(0, 0, 77, body)));
  EXPECT_EQ(answers_to(request, reply.size()), only(reply));
}

TEST(HostResponder, AnswersAnEchoOfIpv6) {
  const Bytes body = t::counting(40);
  const Bytes request =
      t::ethernet_frame(kHost, kAsker, 0x86dd,
                        t::ipv6_packet({.from = kAsker6, .to = kHost6, .next_header = 58, .hop_limit = 9},
                                       t::icmp6(kAsker6, kHost6, 128, 0, 77, body)));
  const Bytes reply = t::ethernet_frame(
      kAsker, kHost, 0x86dd,
      t::ipv6_packet({.from = kHost6, .to = kAsker6, .next_header = 58}, t::icmp6(kHost6, kAsker6, 129, 0, 77, body)));
  EXPECT_EQ(answers_to(request, reply.size()), only(reply));
}

TEST(HostResponder, AdvertisesItsAddressAndNoOther) {
  const auto question = [](const Bytes& target) {
    return t::ethernet_frame(t::solicited_mac(target), kAsker, 0x86dd,
                             t::solicitation(kAsker6, t::solicited_group(target), target, kAsker));
  };
  // Solicited, and to override what was known; no router.
  const Bytes answer = t::ethernet_frame(kAsker, kHost, 0x86dd, t::advertisement(kHost6, kAsker6, kHost6, kHost, 0x60));
  EXPECT_EQ(answers_to(question(kHost6), answer.size()), only(answer));
  EXPECT_TRUE(answers_to(question(t::ip6(0, 3)), 100).empty());
}

// Duplicate address detection asks from nobody: all are told.
TEST(HostResponder, DefendsItsAddressAgainstAProbe) {
  const Bytes nobody(16, 0);
  const Bytes group = t::solicited_group(kHost6);
  const Bytes body = t::join({kHost6});
  const Bytes probe = t::ethernet_frame(
      t::solicited_mac(kHost6), kAsker, 0x86dd,
      t::ipv6_packet({.from = nobody, .to = group, .next_header = 58, .hop_limit = 255, .flow_label = 0},
                     t::icmp6(nobody, group, 135, 0, 0, body)));
  const Bytes all = t::join({t::be32(0xff020000), t::be32(0), t::be32(0), t::be32(1)});
  const Bytes answer =
      t::ethernet_frame({0x33, 0x33, 0, 0, 0, 1}, kHost, 0x86dd, t::advertisement(kHost6, all, kHost6, kHost, 0x20));
  EXPECT_EQ(answers_to(probe, answer.size()), only(answer));
}

}  // namespace
}  // namespace softspine::testbeds
