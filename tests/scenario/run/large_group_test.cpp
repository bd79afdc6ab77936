// SPDX-License-Identifier: Apache-2.0
// Groups that only routes show to be too large: refused with the line of what made them.
#include <fstream>

#include "control/compile/compile.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// The core reaches the only ToR over 300 aggregation switches with two links each; upwards no group is so large.
constexpr const char* kLargeHpn =
    "fabric: {kind: hpn, segments: 1, servers_per_segment: 1, rails: 1, planes: 1, aggregations_per_plane: 300,\n"
    "  cores: 1, core_uplinks: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n";

control::Errors complaints_about(const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("softspine-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << text;
  const auto testbed = control::load_testbed(path.string());
  control::Errors errors;
  if (testbed) {
    errors = control::unsupported_in(*testbed);
  } else {
    ADD_FAILURE() << to_string(testbed.error().front());
  }
  std::filesystem::remove(path);
  return errors;
}

TEST(LargeGroups, DownwardsAreRefusedWithTheFabricsLine) {
  const auto errors = complaints_about(std::string("name: large\n") + kLargeHpn);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].line, 2);
  EXPECT_EQ(errors[0].path, "fabric");
  EXPECT_NE(errors[0].message.find("would have a group of 600 members: at most 512"), std::string::npos);
}

TEST(LargeGroups, DownwardsAreRefusedWithTheLineOfTheirProfile) {
  const auto errors = complaints_about(std::string("name: large\n") + kLargeHpn +
                                       "profiles:\n"
                                       "  default: {}\n"
                                       "  cores:\n"
                                       "    hash: {seed: 3}\n"
                                       "    groups: {mode: hash}\n"
                                       "roles: {core: cores}\n");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].line, 8);
  EXPECT_EQ(errors[0].path, "profiles.cores.groups");
}

}  // namespace
}  // namespace softspine::testbeds
