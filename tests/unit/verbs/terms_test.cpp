// SPDX-License-Identifier: Apache-2.0
// What two ends tell each other: comes back as it was said, and nothing out of range is taken from a stranger.
#include "tools/verbs/terms.hpp"

#include <gtest/gtest.h>

namespace softspine::tools {
namespace {

Terms some_terms() {
  return {.spread = {.scaling = Scaling::kSplit, .queue_pairs = 3, .message_bytes = 100'000},
          .depth = 5,
          .mtu_bytes = 1024,
          .flow_label = 0x12345,
          .dscp = 3,
          .ack_timeout = 18,
          .seed = UINT64_MAX};
}

End some_end() {
  End end{.device = "rxe0", .mtu_bytes = 4096, .queue_pairs = {{17, 0xFFFFFF}, {0xFFFFFE, 0}}};
  end.gid[15] = 0xA1;
  end.address = 0xFFFF'0000'1234'5678;
  end.key = 0xCAFE;
  return end;
}

TEST(Terms, ComeBackAsTheyWereSaid) {
  const auto read = terms_from(Json::parse(to_json(some_terms()).dump()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(to_json(*read), to_json(some_terms()));
  EXPECT_EQ(read->spread.scaling, Scaling::kSplit);
  EXPECT_EQ(read->seed, UINT64_MAX);
  EXPECT_EQ(read->buffer_bytes(), 3u * 5 * 33'334);
}

TEST(Terms, AreRefusedOutOfRange) {
  const Json good = to_json(some_terms());
  ASSERT_TRUE(terms_from(Json::parse(good.dump())));
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, Json>>{{"softspine_verbs", 2},
                                                           {"scaling", "both"},
                                                           {"scaling", 1},
                                                           {"qps", 0},
                                                           {"qps", 33},
                                                           {"qps", "3"},
                                                           {"qps", -1},
                                                           {"message_bytes", 0},
                                                           {"message_bytes", 2},
                                                           {"message_bytes", (1ULL << 31) + 1},
                                                           {"depth", 0},
                                                           {"depth", 129},
                                                           {"mtu_bytes", 1000},
                                                           {"flow_label", 1 << 20},
                                                           {"dscp", 64},
                                                           {"ack_timeout", 32},
                                                           {"seed", nullptr}}) {
    Json bad = good;
    bad[key] = value;
    EXPECT_FALSE(terms_from(Json::parse(bad.dump()))) << key << " " << value;
    bad.erase(key);
    EXPECT_FALSE(terms_from(Json::parse(bad.dump()))) << "without " << key;
  }
  EXPECT_FALSE(terms_from(Json{}));
  EXPECT_FALSE(terms_from(Json::array({1, 2})));
}

TEST(Terms, NeedNoMoreMemoryThanAGibibyte) {
  Terms terms = some_terms();
  terms.spread = {.scaling = Scaling::kRoundRobin, .queue_pairs = 32, .message_bytes = 1 << 20};
  terms.depth = 32;
  EXPECT_EQ(validate(terms), "");
  terms.depth = 33;
  EXPECT_NE(validate(terms).find("1056 MiB"), std::string::npos) << validate(terms);
}

TEST(End, ComesBackAsItWasSaid) {
  const auto read = end_from(Json::parse(to_json(some_end()).dump()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(to_json(*read), to_json(some_end()));
  EXPECT_EQ(read->gid[15], 0xA1);
  EXPECT_EQ(read->queue_pairs.at(1).number, 0xFFFFFEu);
}

TEST(End, NamesItsDeviceAsATerminalPrintsIt) {
  Json words = to_json(some_end());
  words["device"] = "rxe\x1b[2J" + std::string(100, '0');
  EXPECT_EQ(end_from(Json::parse(words.dump()))->device, "rxe?[2J" + std::string(57, '0'));
}

TEST(End, IsRefusedOutOfRange) {
  const Json good = to_json(some_end());
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, Json>>{{"gid", "00"},
                                                           {"gid", std::string(32, 'g')},
                                                           {"gid", 5},
                                                           {"mtu_bytes", 128},
                                                           {"mtu_bytes", 1000},
                                                           {"address", -1},
                                                           {"key", 1ULL << 32},
                                                           {"queue_pairs", Json::array()},
                                                           {"queue_pairs", 7},
                                                           {"queue_pairs", Json::array({1})},
                                                           {"queue_pairs", Json::array({Json{{"qp", 1}, {"psn", 0}}})},
                                                           {"queue_pairs", Json::array({Json{{"qp", 2}}})}}) {
    Json bad = good;
    bad[key] = value;
    EXPECT_FALSE(end_from(Json::parse(bad.dump()))) << key << " " << value;
  }
  Json many = good;
  for (int i = 0; i < 33; ++i) many["queue_pairs"].push_back({{"qp", 17 + i}, {"psn", 0}});
  EXPECT_FALSE(end_from(Json::parse(many.dump())));
  EXPECT_FALSE(end_from(Json{}));
}

Verdict some_verdict() {
  return {.verified_bytes = 1'000'000, .wrong_bytes = 7, .misplaced_parts = 2, .counters = {{"rcvd_pkts", 250}}};
}

TEST(Verdict, ComesBackAsItWasSaid) {
  const auto read = verdict_from(Json::parse(to_json(some_verdict()).dump()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(to_json(*read), to_json(some_verdict()));
  EXPECT_EQ(read->counters.at("rcvd_pkts"), 250u);
  EXPECT_TRUE(verdict_from(Json::parse(to_json(Verdict{}).dump()))->counters.empty()) << "a device without counters";
}

TEST(Verdict, IsRightOnlyIfNothingIsWrongAndNothingMisplaced) {
  EXPECT_TRUE(Verdict{.verified_bytes = 5}.is_right());
  EXPECT_FALSE((Verdict{.verified_bytes = 5, .wrong_bytes = 1}.is_right()));
  EXPECT_FALSE((Verdict{.verified_bytes = 5, .misplaced_parts = 1}.is_right()));
  EXPECT_EQ(to_json(some_verdict())["verified"], false);
}

TEST(Verdict, IsOfAsManyBytesAsWereSent) {
  EXPECT_EQ(validate(some_verdict(), 1'000'000), "");
  for (const uint64_t sent : {999'999u, 1'000'001u}) {
    EXPECT_EQ(validate(some_verdict(), sent),
              "the other end has looked at 1000000 bytes, and " + std::to_string(sent) + " were sent");
  }
}

TEST(Verdict, NamesItsCountersAsATerminalPrintsThem) {
  Json words = to_json(some_verdict());
  words["peer_counters"] = {{"a\x1b[2J", 5u}, {std::string(100, 'x'), 6u}};
  const auto read = verdict_from(Json::parse(words.dump()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->counters, (DeviceCounters{{"a?[2J", 5}, {std::string(64, 'x'), 6}}));
}

TEST(Verdict, IsRefusedOutOfRange) {
  const Json good = to_json(some_verdict());
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, Json>>{{"verified_bytes", -1},
                                                           {"wrong_bytes", 1'000'001},
                                                           {"misplaced_parts", "none"},
                                                           {"peer_counters", nullptr},
                                                           {"peer_counters", 5},
                                                           {"peer_counters", Json::array({5})},
                                                           {"peer_counters", Json{{"rcvd_pkts", "many"}}}}) {
    Json bad = good;
    bad[key] = value;
    EXPECT_FALSE(verdict_from(Json::parse(bad.dump()))) << key << " " << value;
    bad.erase(key);
    EXPECT_FALSE(verdict_from(Json::parse(bad.dump()))) << "without " << key;
  }
}

}  // namespace
}  // namespace softspine::tools
