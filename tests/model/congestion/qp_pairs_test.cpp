// SPDX-License-Identifier: Apache-2.0
// QpPairs against connections that the test knows: it tells what a NIC beside them would see.
#include "dataplane/congestion/qp_pairs.hpp"

#include <gtest/gtest.h>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

Ipv6Address address(uint8_t n) {
  Ipv6Address out{};
  out[10] = out[11] = 0xff;
  out[15] = n;
  return out;
}

struct Eyes {
  QpPairs pairs;
  Instant now;
  uint32_t made = 0;
  uint32_t forgotten = 0;

  uint16_t find(Way way, uint8_t peer, uint32_t qp) {
    now = now + Duration::ns(1);
    return pairs.find(
        way, address(peer), qp, now, [](uint16_t) { return false; },
        [&](uint16_t, bool was_another) {
          ++made;
          forgotten += was_another ? 1 : 0;
        });
  }
  void request(Way way, uint8_t peer, uint32_t qp, uint32_t psn) {
    pairs.saw_request(way, find(way, peer, qp), psn & bth::kMask24);
  }
  void response(Way way, uint8_t peer, uint32_t qp, uint32_t psn) {
    pairs.saw_response(way, find(way, peer, qp), psn & bth::kMask24);
  }
  // The partner's queue pair; 0: not known.
  uint32_t partner(Way way, uint8_t peer, uint32_t qp) const {
    const uint16_t stream = pairs.known(way, address(peer), qp);
    const uint16_t partner = stream == QpPairs::kNone ? QpPairs::kNone : pairs.partner(way, stream);
    return partner == QpPairs::kNone ? 0 : pairs.qp(way == Way::kToPeer ? Way::kFromPeer : Way::kToPeer, partner);
  }
};

TEST(QpPairs, LearnsFromAnAnswerWhoGoesWithWhom) {
  Eyes eyes;
  eyes.request(Way::kFromPeer, 1, 100, 5'000);
  eyes.request(Way::kFromPeer, 1, 101, 900'000);
  EXPECT_EQ(eyes.partner(Way::kFromPeer, 1, 100), 0U);
  eyes.response(Way::kToPeer, 1, 201, 899'990);  // acknowledges some of them
  EXPECT_EQ(eyes.partner(Way::kFromPeer, 1, 100), 0U);
  EXPECT_EQ(eyes.partner(Way::kFromPeer, 1, 101), 201U);
  EXPECT_EQ(eyes.partner(Way::kToPeer, 1, 201), 101U);
  eyes.response(Way::kToPeer, 1, 200, 5'000);
  EXPECT_EQ(eyes.partner(Way::kFromPeer, 1, 100), 200U);
}

TEST(QpPairs, AsksNoOtherPeer) {
  Eyes eyes;
  eyes.request(Way::kFromPeer, 1, 100, 5'000);
  eyes.response(Way::kToPeer, 2, 200, 5'000);
  EXPECT_EQ(eyes.partner(Way::kFromPeer, 1, 100), 0U);
}

TEST(QpPairs, KnowsThatSequenceNumbersGoRound) {
  Eyes eyes;
  eyes.request(Way::kToPeer, 1, 200, 3);
  eyes.response(Way::kFromPeer, 1, 100, 0xfffffe);
  EXPECT_EQ(eyes.partner(Way::kToPeer, 1, 200), 100U);
}

TEST(QpPairs, FindsNobodyBeyondItsReach) {
  Eyes eyes;
  eyes.request(Way::kToPeer, 1, 200, 10'000);
  eyes.response(Way::kFromPeer, 1, 100, 10'000 + QpPairs::kReach);
  EXPECT_EQ(eyes.partner(Way::kToPeer, 1, 200), 0U);
  eyes.response(Way::kFromPeer, 1, 100, 10'000 + QpPairs::kReach - 1);
  EXPECT_EQ(eyes.partner(Way::kToPeer, 1, 200), 100U);
}

TEST(QpPairs, LearnsAnewWhenANumberIsUsedByAnotherConnection) {
  Eyes eyes;
  eyes.request(Way::kFromPeer, 1, 100, 5'000);
  eyes.response(Way::kToPeer, 1, 200, 5'000);
  eyes.request(Way::kFromPeer, 1, 100, 700'000);  // now with 300 over there
  eyes.response(Way::kToPeer, 1, 300, 700'000);
  EXPECT_EQ(eyes.partner(Way::kFromPeer, 1, 100), 300U);
  EXPECT_EQ(eyes.partner(Way::kToPeer, 1, 200), 0U);
}

TEST(QpPairs, MakesRoomByForgettingThoseThatWereIdleForLongest) {
  Eyes eyes;
  for (uint32_t qp = 2; qp < 2 + 100'000; ++qp) eyes.request(Way::kToPeer, 1, qp, qp);
  EXPECT_EQ(eyes.made, 100'000U);
  EXPECT_EQ(eyes.forgotten, 100'000U - QpPairs::kStreams);
  // Of a set the last ones stay: those of the last kStreams / 8 are surely there, however they fell.
  for (uint32_t qp = 100'001 - 64; qp <= 100'001; ++qp) {
    EXPECT_NE(eyes.pairs.known(Way::kToPeer, address(1), qp), QpPairs::kNone) << qp;
  }
}

TEST(QpPairs, SparesThoseInUseAndSaysWhenThereIsNoRoom) {
  QpPairs pairs;
  Instant now;
  uint32_t refused = 0;
  for (uint32_t qp = 0; qp < 5'000; ++qp) {
    now = now + Duration::ns(1);
    const uint16_t found = pairs.find(
        Way::kToPeer, address(1), qp, now, [](uint16_t) { return true; },
        [](uint16_t, bool was_another) { EXPECT_FALSE(was_another); });
    refused += found == QpPairs::kNone ? 1 : 0;
  }
  EXPECT_EQ(refused, 5'000 - QpPairs::kStreams);
}

// Up to 60 connections with four peers at once, as rdma_rxe has them: random first numbers, 128 packets under way.
TEST(QpPairs, TellsTheConnectionsOfARandomHostApart) {
  struct Connection {
    uint8_t peer;
    uint32_t own;
    uint32_t theirs;
    uint32_t psn;
    bool host_asks;
  };
  const uint64_t seed = tests::seed();
  Rng rng{seed, 1};
  Eyes eyes;
  std::vector<Connection> all;
  uint32_t wrong = 0;
  uint32_t asked = 0;
  for (uint32_t step = 0; step < 200'000; ++step) {
    if (all.size() < 60 && (all.empty() || rng.below(1'000) == 0)) {
      all.push_back({static_cast<uint8_t>(rng.below(4)), 100 + step, 1'000'000 + step,
                     static_cast<uint32_t>(rng.below(1 << 24)), rng.below(2) == 0});
    }
    Connection& it = all[rng.below(all.size())];
    it.psn += 1 + static_cast<uint32_t>(rng.below(16));
    const Way asks = it.host_asks ? Way::kToPeer : Way::kFromPeer;
    const Way answers = it.host_asks ? Way::kFromPeer : Way::kToPeer;
    eyes.request(asks, it.peer, it.host_asks ? it.theirs : it.own, it.psn);
    eyes.response(answers, it.peer, it.host_asks ? it.own : it.theirs, it.psn - static_cast<uint32_t>(rng.below(128)));
    ++asked;
    wrong += eyes.partner(Way::kToPeer, it.peer, it.theirs) != it.own ? 1 : 0;
    wrong += eyes.partner(Way::kFromPeer, it.peer, it.own) != it.theirs ? 1 : 0;
  }
  // Two connections of one peer may come near each other: 15 others, 8192 of 2^24 each.
  EXPECT_LE(wrong, asked / 50) << "seed " << seed;
}

}  // namespace
}  // namespace softspine::dataplane
