// SPDX-License-Identifier: Apache-2.0
// pg_profile_lookup.ini: the profiles that SONiC's buffermgrd gives to lossless groups, by speed and cable.
#include "control/load/pg_profile_lookup.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using tests::plan_of;
using tests::Planned;
using tests::with_fabric;

constexpr std::string_view kLines =
    "# PG lossless profiles.\n"
    "# speed cable size    xon  xoff    threshold xon_offset\n"
    " 100000   5m 1248    2288 165568    0  2288\n"
    " 400000  40m 1248    2288 400400   -1\n"
    "\n"
    " 400000  40m 1248    4160 416000   -2\n"
    " 100000 300m 1248    2288 268736    0  2288\n";

// A config_db.json of the small fabric's first ToR, and the platform's file beside it: Ethernet0 and Ethernet4 lead to
// hosts (100 Gb/s, 5 m), Ethernet8 to the spine (400 Gb/s, 40 m).
class Lookup : public testing::Test {
 protected:
  Lookup()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("softspine-lookup-") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Lookup() override { std::filesystem::remove_all(folder_); }

  std::string file(const char* name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string testbed(std::string_view lines, std::string_view profiles = "") const {
    const std::string tables = R"({
      "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}, "Ethernet8": {"speed": "400000"}},
      "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "8000000", "xoff": "4000000"},
                      "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "13945824"}},
      "BUFFER_PROFILE": {)" + std::string(profiles) +
                               R"(
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"}},
      "BUFFER_QUEUE": {"Ethernet0,Ethernet4,Ethernet8|3-4": {"profile": "egress_lossless_profile"}},
      "PORT_QOS_MAP": {"Ethernet0,Ethernet4,Ethernet8": {"pfc_enable": "3,4"}},
      "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m"}}})";
    return with_fabric("profiles: {tor: {config_db: \"" + file("config_db.json", tables) + "\", pg_profile_lookup: \"" +
                       file("pg_profile_lookup.ini", lines) + "\", platform: tomahawk2}}\nroles: {tor: tor}\n");
  }

  std::filesystem::path folder_;
};

TEST_F(Lookup, GivesLosslessGroupsTheProfileOfTheirSpeedAndCable) {
  const Planned planned = plan_of(testbed(kLines));
  ASSERT_NE(planned.plan, nullptr);
  const dataplane::PriorityGroupPlan& near = planned.group(0, 3);
  EXPECT_TRUE(near.lossless);
  EXPECT_EQ(near.reserved_cells, 1'248U / 208);
  EXPECT_EQ(near.headroom_cells, 165'568U / 208);
  EXPECT_EQ(near.xon_cells, 2'288U / 208);
  EXPECT_EQ(near.xon_offset_cells, 2'288U / 208);
  EXPECT_EQ(near.limit, dataplane::SharedLimit::dynamic(0));
  const dataplane::PriorityGroupPlan& far = planned.group(2, 4);
  EXPECT_EQ(far.headroom_cells, 416'000U / 208) << "of two lines for the same, the later one";
  EXPECT_EQ(far.xon_cells, 4'160U / 208);
  EXPECT_EQ(far.xon_offset_cells, 0U);
  EXPECT_EQ(far.limit, dataplane::SharedLimit::dynamic(-2));
}

TEST_F(Lookup, LeavesAProfileThatTheTablesHaveAsItIs) {
  const Planned planned = plan_of(testbed(
      kLines, R"("pg_lossless_100000_5m_profile": {"pool": "ingress_lossless_pool", "size": "2080", "xon": "2288",
                 "xoff": "208000", "dynamic_th": "-3"},)"));
  ASSERT_NE(planned.plan, nullptr);
  EXPECT_EQ(planned.group(0, 3).headroom_cells, 1'000U);
  EXPECT_EQ(planned.group(2, 3).headroom_cells, 416'000U / 208);
}

TEST_F(Lookup, NamesEachLineThatSaysSomethingElse) {
  const auto read = parse_testbed(testbed("# speed\n100000 5m 1248 2288\n100G 5m 1 2 3 0\n100000 five 1 2 3 0\n"
                                          "100000 5m 1 2 x 0\n100000 5m 1 2 3 0 y\n100000 40m 1248 2288 1 99\n"),
                                  "t.yaml");
  ASSERT_FALSE(read);
  std::vector<int> lines;
  for (const Error& error : read.error()) {
    EXPECT_NE(error.file.find("pg_profile_lookup.ini"), std::string::npos) << to_string(error);
    lines.push_back(error.line);
  }
  EXPECT_EQ(lines, (std::vector{2, 3, 4, 5, 6, 7})) << "the last by the check of every dynamic_th";
}

TEST(PgProfilesJson, NamesTheWordThatIsWrong) {
  const auto complaint = [](const std::string& line) {
    Errors errors;
    (void)pg_profiles_json(line + "\n", "static_th", "f", errors);
    return errors.empty() ? std::string() : errors[0].message;
  };
  EXPECT_EQ(complaint("100 5m 1 2 3 4 5"), "");
  EXPECT_EQ(complaint("x 5m 1 2 3 4"), "speed: expected Mb/s, such as 100000");
  EXPECT_EQ(complaint("100 5 1 2 3 4"), "cable: expected metres, such as 40m");
  EXPECT_EQ(complaint("100 5m x 2 3 4"), "size: expected bytes");
  EXPECT_EQ(complaint("100 5m 1 x 3 4"), "xon: expected bytes");
  EXPECT_EQ(complaint("100 5m 1 2 x 4"), "xoff: expected bytes");
  EXPECT_EQ(complaint("100 5m 1 2 3 x"), "threshold: expected an integer");
  EXPECT_EQ(complaint("100 5m 1 2 3 4 x"), "xon_offset: expected bytes");
}

TEST(PgProfilesJson, TakesNumbersOfUpTo18DigitsAndAThresholdBelowZero) {
  const auto is_good = [](const std::string& line) {
    Errors errors;
    (void)pg_profiles_json(line + "\n", "dynamic_th", "f", errors);
    return errors.empty();
  };
  const std::string digits(18, '9');
  EXPECT_TRUE(is_good("100 5m " + digits + " 2 3 4"));
  EXPECT_FALSE(is_good("100 5m " + digits + "9 2 3 4"));
  EXPECT_TRUE(is_good("100 5m 1 2 3 -4"));
  for (const char* threshold : {"-", "--4", "4-", "+4"})
    EXPECT_FALSE(is_good("100 5m 1 2 3 " + std::string(threshold)));
  EXPECT_FALSE(is_good("100 5m -1 2 3 4")) << "a size is none";
  EXPECT_FALSE(is_good("100 m 1 2 3 4"));
  EXPECT_FALSE(is_good("100 5mm 1 2 3 4"));
  EXPECT_FALSE(is_good("100 5m 1 2 3"));
  EXPECT_FALSE(is_good("100 5m 1 2 3 4 5 6"));
  EXPECT_TRUE(is_good("#100 5m 1 2 3"));
}

// Of the same speed and cable the last line counts; the others' lines stay empty, so that it is the third here, too.
TEST(PgProfilesJson, KeepsTheLastLineOfASpeedAndACable) {
  Errors errors;
  EXPECT_EQ(
      pg_profiles_json("100 5m 1 2 3 4\n100 5m 5 6 7 8 9\n100 5m 9 9 9 9\n200 5m 1 1 1 1\n", "dynamic_th", "f", errors),
      "{\"BUFFER_PROFILE\": {\n\n\"pg_lossless_100_5m_profile\": {\"pool\": \"ingress_lossless_pool\", \"size\": "
      "\"9\", \"xon\": \"9\", \"xoff\": \"9\", \"dynamic_th\": \"9\"}\n, \"pg_lossless_200_5m_profile\": {\"pool\": "
      "\"ingress_lossless_pool\", \"size\": \"1\", \"xon\": \"1\", \"xoff\": \"1\", \"dynamic_th\": \"1\"}\n}}");
  EXPECT_TRUE(errors.empty());
}

TEST_F(Lookup, IsAnErrorIfItIsNotThere) {
  std::string text = testbed(kLines);
  std::filesystem::remove(folder_ / "pg_profile_lookup.ini");
  const auto read = parse_testbed(text, "t.yaml");
  ASSERT_FALSE(read);
  EXPECT_NE(to_string(read.error().at(0)).find("pg_profile_lookup"), std::string::npos);
}

TEST(PgProfilesJson, KeepsEachRowOnTheLineThatItComesFrom) {
  Errors errors;
  EXPECT_EQ(pg_profiles_json("# a\n100 5m 1 2 3 4\n", "static_th", "f", errors),
            "{\"BUFFER_PROFILE\": {\n\"pg_lossless_100_5m_profile\": {\"pool\": \"ingress_lossless_pool\", \"size\": "
            "\"1\", \"xon\": \"2\", \"xoff\": \"3\", \"static_th\": \"4\"}\n}}");
  EXPECT_TRUE(errors.empty());
}

}  // namespace
}  // namespace softspine::control
