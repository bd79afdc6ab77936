// SPDX-License-Identifier: Apache-2.0
// LACP: LACPDUs by hand, and a port against the standard's tables over random partners, links and losses.
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/lacp/lacp_reference.hpp"

namespace softspine::dataplane {
namespace {

constexpr MacAddress kTor{0x00, 0x00, 0x5e, 0x00, 0x01, 0x01};
constexpr MacAddress kHost{0x02, 0x00, 0x00, 0x01, 0x00, 0x00};
constexpr Duration kTick = Duration::ms(100);
constexpr uint8_t kWilling = lacp::kActive | lacp::kAggregation;

LacpEnd tor_end(uint8_t state = kWilling | lacp::kShortTimeout) {
  return {.system_priority = 32'768, .system = kTor, .key = 1, .port_priority = 32'768, .port = 1025, .state = state};
}
LacpEnd host_end(uint8_t state = kWilling | lacp::kShortTimeout) {
  return {.system_priority = 65'535, .system = kHost, .key = 15, .port_priority = 255, .port = 1, .state = state};
}

using Frame = std::array<uint8_t, kLacpFrameBytes>;

Frame frame_of(const Lacpdu& pdu) {
  Frame frame;
  write_lacpdu(pdu, {0x02, 0, 0, 0, 0, 0x07}, frame);
  return frame;
}

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

TEST(Lacpdu, IsLaidOutAsTheStandardHasIt) {
  const Frame frame = frame_of({.actor = tor_end(0x3f), .partner = host_end(0x0f)});
  EXPECT_EQ(hex(frame),
            "0180c2000002"
            "020000000007"
            "8809"
            "0101"
            "0114"
            "8000"
            "00005e000101"
            "0001"
            "8000"
            "0401"
            "3f"
            "000000"
            "0214"
            "ffff"
            "020000010000"
            "000f"
            "00ff"
            "0001"
            "0f"
            "000000"
            "0310"
            "0000" +
                std::string(24, '0') + "0000" + std::string(100, '0'));
}

TEST(Lacpdu, IsReadAsItWasWritten) {
  Rng rng{tests::seed(), 1};
  for (int i = 0; i < 1000; ++i) {
    const auto any = [&rng] {
      LacpEnd end;
      end.system_priority = static_cast<uint16_t>(rng.next());
      for (uint8_t& byte : end.system) byte = static_cast<uint8_t>(rng.next());
      end.key = static_cast<uint16_t>(rng.next());
      end.port_priority = static_cast<uint16_t>(rng.next());
      end.port = static_cast<uint16_t>(rng.next());
      end.state = static_cast<uint8_t>(rng.next());
      return end;
    };
    const Lacpdu pdu{.actor = any(), .partner = any()};
    ASSERT_EQ(read_lacpdu(frame_of(pdu)), pdu);
  }
}

TEST(Lacpdu, OfALaterVersionWithOtherTlvsIsReadAsTheStandardAsks) {
  const Lacpdu pdu{.actor = tor_end(), .partner = host_end()};
  Frame frame = frame_of(pdu);
  frame[15] = 2;     // version
  frame[16] = 0x7f;  // type of the actor's TLV
  frame[33] = 1;     // reserved
  frame[72] = 0x04;  // in the terminator's place, another TLV
  frame[73] = 0x06;
  const auto read = read_lacpdu(frame);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->version, 2);
  EXPECT_EQ(read->actor, pdu.actor);
  EXPECT_EQ(read->partner, pdu.partner);
}

TEST(Lacpdu, IsRefusedWhenItsLengthsAreNotItsOwn) {
  const Frame good = frame_of({.actor = tor_end(), .partner = host_end()});
  for (const size_t at : {17U, 37U, 57U}) {
    Frame bad = good;
    ++bad[at];
    EXPECT_EQ(read_lacpdu(bad).error(), LacpduFault::kBadLength) << at;
  }
  for (size_t bytes = 0; bytes < 72; ++bytes) {
    EXPECT_EQ(read_lacpdu(std::span{good}.first(bytes)).error(), LacpduFault::kTruncated) << bytes;
  }
  EXPECT_TRUE(read_lacpdu(std::span{good}.first(72)));
  Frame marker = good;
  marker[14] = 2;
  EXPECT_EQ(read_lacpdu(marker).error(), LacpduFault::kOtherSubtype);
}

// The port and the reference, tick by tick.
class Both {
 public:
  explicit Both(const LacpEnd& actor) : port_(LacpConfig{.actor = actor}), reference_(actor) {}

  // What the port sends at this tick.
  std::optional<Lacpdu> tick(bool up, const std::optional<Lacpdu>& pdu) {
    now_ = now_ + kTick;
    if (port_.next_due() <= now_) port_.advance(now_);
    port_.set_link(up, now_);
    if (pdu) port_.receive(*pdu, now_);
    std::optional<Lacpdu> sent;
    if (port_.wants_to_send(now_)) sent = port_.take_pdu(now_);
    const auto expected = reference_.tick(up, pdu);
    EXPECT_EQ(sent, expected) << now_.count_ps();
    EXPECT_EQ(port_.actor(), reference_.actor) << now_.count_ps();
    EXPECT_EQ(port_.partner(), reference_.partner) << now_.count_ps();
    EXPECT_EQ(port_.is_distributing(), reference_.distributing()) << now_.count_ps();
    return sent;
  }
  const LacpPort& port() const { return port_; }

 private:
  LacpPort port_;
  LacpReference reference_;
  Instant now_;
};

TEST(LacpPort, TwoOfThemAgreeWithinThreeSeconds) {
  Both tor{tor_end()};
  Both host{host_end()};
  std::optional<Lacpdu> to_tor;
  std::optional<Lacpdu> to_host;
  for (int tick = 0; tick < 30; ++tick) {
    const auto from_tor = tor.tick(true, to_tor);
    to_tor = host.tick(true, to_host);
    to_host = from_tor;
  }
  EXPECT_TRUE(tor.port().is_distributing());
  EXPECT_TRUE(host.port().is_distributing());
  EXPECT_EQ(tor.port().partner().port, 1);
  EXPECT_EQ(host.port().partner().system, kTor);
}

// Two that have agreed long ago, and two that begin so: the same states, and from then on the same LACPDUs.
TEST(LacpPort, ThatBeginsAgreedIsAsOneThatHasAgreedLongAgo) {
  for (const uint8_t own : {uint8_t{kWilling}, uint8_t{kWilling | lacp::kShortTimeout}}) {
    LacpPort ports[4] = {LacpPort{{.actor = tor_end(own)}}, LacpPort{{.actor = host_end()}},
                         LacpPort{{.actor = tor_end(own)}}, LacpPort{{.actor = host_end()}}};
    const auto exchange = [](LacpPort& a, LacpPort& b, Instant now) {
      for (LacpPort* port : {&a, &b}) {
        if (port->next_due() <= now) port->advance(now);
      }
      uint32_t sent = 0;
      for (const auto& [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
        if (!from->wants_to_send(now)) continue;
        to->receive(from->take_pdu(now), now);
        ++sent;
      }
      return sent;
    };
    for (LacpPort& port : ports) {
      if (&port < ports + 2) port.set_link(true, Instant{});
    }
    const Instant begin = Instant::at(Duration::s(600));
    for (Instant now; now < begin; now = now + kTick) exchange(ports[0], ports[1], now);
    ports[2].begin_agreed(host_end(), begin);
    ports[3].begin_agreed(tor_end(own), begin);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(ports[2 + i].is_distributing());
      EXPECT_EQ(ports[2 + i].actor(), ports[i].actor());
      EXPECT_EQ(ports[2 + i].partner(), ports[i].partner());
      EXPECT_EQ(ports[2 + i].mux_state(), ports[i].mux_state());
      EXPECT_EQ(ports[2 + i].receive_state(), ports[i].receive_state());
    }
    uint32_t sent = 0;
    for (Instant now = begin; now < begin + Duration::s(300); now = now + kTick)
      sent += exchange(ports[2], ports[3], now);
    EXPECT_EQ(sent, (own & lacp::kShortTimeout) != 0 ? 2 * 299U : 299U + 9U)
        << "no news, only what the periods ask for";
    EXPECT_EQ(ports[2].counters().expiries + ports[3].counters().expiries, 0U);
    for (Instant now = begin + Duration::s(300); now < begin + Duration::s(400); now = now + kTick) {
      for (LacpPort* port : {&ports[2], &ports[3]}) {  // neither hears the other
        if (port->next_due() <= now) port->advance(now);
        if (port->wants_to_send(now)) port->take_pdu(now);
      }
    }
    EXPECT_FALSE(ports[2].is_distributing());
    EXPECT_FALSE(ports[3].is_distributing());
  }
}

// Three periods of a second after the last LACPDU, whatever the carrier says.
TEST(LacpPort, StopsDistributingThreeSecondsAfterItsPartnerFellSilent) {
  Both tor{tor_end()};
  const Lacpdu good{.actor = host_end(kWilling | lacp::kSynchronization),
                    .partner = tor_end(kWilling | lacp::kShortTimeout | lacp::kSynchronization)};
  for (int tick = 0; tick < 40; ++tick) tor.tick(true, good);
  ASSERT_TRUE(tor.port().is_distributing());
  for (int tick = 0; tick < 29; ++tick) tor.tick(true, std::nullopt);
  EXPECT_TRUE(tor.port().is_distributing());
  tor.tick(true, std::nullopt);
  EXPECT_FALSE(tor.port().is_distributing());
  EXPECT_EQ(tor.port().receive_state(), LacpPort::Receive::kExpired);
  EXPECT_EQ(tor.port().counters().expiries, 1U);
}

TEST(LacpPort, IsNotUsedWithoutAPartnerOrLoopedBackIntoItself) {
  Both alone{tor_end()};
  Both looped{tor_end()};
  std::optional<Lacpdu> own;
  for (int tick = 0; tick < 600; ++tick) {
    alone.tick(true, std::nullopt);
    own = looped.tick(true, own);
  }
  EXPECT_FALSE(alone.port().is_distributing());
  EXPECT_EQ(alone.port().receive_state(), LacpPort::Receive::kDefaulted);
  EXPECT_FALSE(looped.port().is_distributing());
  EXPECT_TRUE(looped.port().is_looped());
  // At once and each second until the partner that is not there is given up at 3 s; then every 30 s.
  EXPECT_EQ(alone.port().counters().sent, 4U);
  EXPECT_EQ(looped.port().counters().sent, 4U);
  EXPECT_EQ(looped.port().counters().loops, 4U);
}

// And no fewer while there is news.
TEST(LacpPort, SendsAtMostThreeLacpdusASecondWhateverItsPartnerDoes) {
  Both tor{tor_end()};
  std::deque<int> sent;
  for (int tick = 0; tick < 3000; ++tick) {
    LacpEnd changing = host_end();
    changing.key = static_cast<uint16_t>(tick);
    if (tor.tick(true, Lacpdu{.actor = changing, .partner = {}})) sent.push_back(tick);
    while (!sent.empty() && sent.front() <= tick - LacpReference::kSecond) sent.pop_front();
    ASSERT_LE(sent.size(), 3U) << tick;
    ASSERT_FALSE(tor.port().is_distributing());
  }
  EXPECT_GT(tor.port().counters().partner_changes, 2900U);
  EXPECT_EQ(tor.port().counters().sent, 3U * 300U);
}

// Not just in the seconds that a clock counts off, or that a LACPDU begins: 6.4.16 says any.
TEST(LacpPort, SendsAtMostThreeLacpdusInASecondWhereverItBegins) {
  Rng rng{tests::seed(), 2};
  Both tor{tor_end()};
  std::deque<int> sent;
  int seconds_of_three = 0;
  for (int tick = 0; tick < 3000; ++tick) {
    std::optional<Lacpdu> news;
    if (rng.below(4) == 0) news = Lacpdu{.actor = host_end(), .partner = {}};
    if (tor.tick(true, news)) sent.push_back(tick);
    while (!sent.empty() && sent.front() <= tick - LacpReference::kSecond) sent.pop_front();
    ASSERT_LE(sent.size(), 3U) << tick;
    seconds_of_three += sent.size() == 3 ? 1 : 0;
  }
  EXPECT_GT(seconds_of_three, 500) << "a limit that is never met is not tested";
}

// Partners that come, go, change, lie about us and reflect our own frames, over links that go down and lose.
class RandomPartner {
 public:
  RandomPartner(Rng& rng, const LacpEnd& us) : rng_(rng), us_(us) {}
  std::optional<Lacpdu> next() {
    if (rng_.below(8) != 0) return std::nullopt;
    if (rng_.below(60) == 0) them_.key = static_cast<uint16_t>(rng_.below(3));
    if (rng_.below(60) == 0) them_.port = static_cast<uint16_t>(rng_.below(3));
    if (rng_.below(20) == 0) them_.state = static_cast<uint8_t>(rng_.next());
    if (rng_.below(20) == 0) them_.state = kWilling | lacp::kSynchronization;
    Lacpdu pdu{.actor = them_, .partner = us_};
    if (rng_.below(20) == 0) pdu.partner.state = static_cast<uint8_t>(rng_.next());
    if (rng_.below(40) == 0) pdu.partner.key = 99;
    if (rng_.below(40) == 0) pdu.actor.system = kTor;
    return pdu;
  }
  void hear(const Lacpdu& pdu) { us_ = pdu.actor; }

 private:
  Rng& rng_;
  LacpEnd us_;
  LacpEnd them_ = host_end();
};

TEST(LacpPort, DoesWhatTheStandardsTablesSayOverRandomPartners) {
  uint64_t distributing = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    Rng rng{tests::seed(), round};
    const uint8_t own = round % 3 == 0   ? kWilling
                        : round % 3 == 1 ? kWilling | lacp::kShortTimeout
                                         : lacp::kAggregation;
    Both tor{tor_end(own)};
    RandomPartner partner{rng, tor_end(own)};
    bool up = true;
    for (int tick = 0; tick < 3000 && !testing::Test::HasFailure(); ++tick) {
      if (rng.below(200) == 0) up = !up;
      if (const auto sent = tor.tick(up, partner.next())) partner.hear(*sent);
      distributing += tor.port().is_distributing() ? 1 : 0;
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(distributing, 10'000U) << "a test of ports that never agree tests little";
}

// SONiC's retry count: the partner is given up after so many periods of what we ask for, 1 s or 30 s. An expired one
// then has the standard's 3 s.
TEST(LacpPort, WaitsForAsManyPeriodsAsItsRetryCountSays) {
  for (const uint8_t retry_count : {uint8_t{3}, uint8_t{5}, uint8_t{10}}) {
    for (const auto& [state, period] :
         {std::pair(uint8_t{kWilling | lacp::kShortTimeout}, Duration::s(1)), {kWilling, Duration::s(30)}}) {
      LacpPort port({.actor = tor_end(state), .retry_count = retry_count});
      port.begin_agreed(host_end(), Instant{});
      const Instant expires = Instant{} + period * int64_t{retry_count};
      while (port.next_due() < expires) {
        const Instant now = port.next_due();
        port.advance(now);
        if (port.wants_to_send(now)) port.take_pdu(now);
        ASSERT_EQ(port.receive_state(), LacpPort::Receive::kCurrent) << int{retry_count};
      }
      EXPECT_EQ(port.next_due(), expires);
      port.advance(expires);
      EXPECT_EQ(port.receive_state(), LacpPort::Receive::kExpired) << int{retry_count};
      EXPECT_EQ(port.counters().expiries, 1u);
      for (Instant now = expires; port.receive_state() == LacpPort::Receive::kExpired; port.advance(now)) {
        if (port.wants_to_send(now)) port.take_pdu(now);
        now = port.next_due();
        ASSERT_LE(now, expires + Duration::s(3)) << int{retry_count};
        if (now == expires + Duration::s(3)) break;
      }
      EXPECT_EQ(port.receive_state(), LacpPort::Receive::kExpired) << int{retry_count};
      port.advance(expires + Duration::s(3));
      EXPECT_EQ(port.receive_state(), LacpPort::Receive::kDefaulted) << int{retry_count};
    }
  }
}

}  // namespace
}  // namespace softspine::dataplane
