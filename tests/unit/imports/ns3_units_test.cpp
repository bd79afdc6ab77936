// SPDX-License-Identifier: Apache-2.0
// ns-3's DataRate and Time, where a unit stands and where none does.
#include "control/imports/ns3_units.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace softspine::control {
namespace {

// k and K are 1,000, Ki is 1,024; B is eight bits.
TEST(Ns3Rates, AreBitsASecondByPrefixAndUnit) {
  for (const auto& [text, bps] : {std::pair{"0", uint64_t{0}},
                                  {"100", 100},
                                  {"1e3", 1'000},
                                  {"1b/s", 1},
                                  {"1bps", 1},
                                  {"1B/s", 8},
                                  {"1Bps", 8},
                                  {"3kb/s", 3'000},
                                  {"3Kbps", 3'000},
                                  {"3kB/s", 24'000},
                                  {"3Kib/s", 3 * 1'024},
                                  {"3KiBps", 3 * 1'024 * 8},
                                  {"5Mbps", 5'000'000},
                                  {"5MB/s", 40'000'000},
                                  {"5Mib/s", 5 << 20},
                                  {"7Gbps", 7'000'000'000},
                                  {"1GiB/s", uint64_t{8} << 30},
                                  {"1Tb/s", 1'000'000'000'000},
                                  {"1Tibps", uint64_t{1} << 40},
                                  {"0.5Kib/s", 512},
                                  {"0.125B/s", 1}}) {
    EXPECT_EQ(ns3_rate(text), std::optional(bps)) << text;
  }
  for (const char* wrong : {"", "bps", "ps", "1ps", "1/s", "1b", "1B", "1Gb", "1kbit/s", "1 bps", "1bps ", "1gbps",
                            "1mbps", "1Pbps", "-1bps", "nan", "inf"}) {
    EXPECT_FALSE(ns3_rate(wrong)) << wrong;
  }
}

// A tenth of 1,024 bits is no whole number of them; 2.4414062 of 1,024 are 2,500, but for a hundred-millionth.
TEST(Ns3Rates, AreWholeBitsToAMillionth) {
  for (const char* part : {"1.5bps", "0.5", "0.1Kib/s", "1e-9", "0.1B/s", "100.001"})
    EXPECT_FALSE(ns3_rate(part)) << part;
  EXPECT_EQ(ns3_rate("2.4414062Kib/s"), std::optional(uint64_t{2'500}));
  EXPECT_EQ(ns3_rate("100.00001"), std::optional(uint64_t{100}));
}

TEST(Ns3Rates, AreNoneBeyondWhatADoubleHoldsExactly) {
  EXPECT_EQ(ns3_rate("9e15"), std::optional(uint64_t{9'000'000'000'000'000}));
  EXPECT_EQ(ns3_rate("9000Tbps"), std::optional(uint64_t{9'000'000'000'000'000}));
  EXPECT_FALSE(ns3_rate("9.1e15"));
  EXPECT_FALSE(ns3_rate("9001Tbps"));
}

TEST(Ns3Times, AreSecondsWhereNoUnitStands) {
  for (const auto& [text, ps] : {std::pair{"0", int64_t{0}},
                                 {"2", 2'000'000'000'000},
                                 {"0.000001", 1'000'000},
                                 {"2.000017439", 2'000'017'439'000},
                                 {"2s", 2'000'000'000'000},
                                 {"0.001ms", 1'000'000},
                                 {"25us", 25'000'000},
                                 {"1234.567ns", 1'234'567},
                                 {"7ps", 7}}) {
    EXPECT_EQ(ns3_time(text), std::optional(ps)) << text;
  }
  for (const char* wrong : {"", ".", "x", "s", "-1", "0.0000000000001", "0.5ps", "1.2.3", "1hours"})
    EXPECT_FALSE(ns3_time(wrong)) << wrong;
}

}  // namespace
}  // namespace softspine::control
