// SPDX-License-Identifier: Apache-2.0
#include "control/format/quantity.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/harness/seed.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::with_fabric;

struct Case {
  std::string_view text;
  int64_t count;
};

TEST(Quantity, ReadsEveryUnitExactly) {
  for (const auto& [text, count] : {Case{"1bps", 1},
                                    {"1kbps", 1'000},
                                    {"1Mbps", 1'000'000},
                                    {"400Gbps", 400'000'000'000},
                                    {"1.6Tbps", 1'600'000'000'000},
                                    {"2.5 Gbps", 2'500'000'000}}) {
    EXPECT_EQ(parse_quantity(text, kRateQuantity), count) << text;
  }
  for (const auto& [text, count] : {Case{"1mm", 1'000}, {"1cm", 10'000}, {"40m", 40'000'000}, {"2km", 2'000'000'000}}) {
    EXPECT_EQ(parse_quantity(text, kLengthQuantity), count) << text;
  }
  for (const auto& [text, count] : {Case{"1B", 1},
                                    {"1KB", 1'000},
                                    {"96KiB", 98'304},
                                    {"1MB", 1'000'000},
                                    {"1MiB", 1'048'576},
                                    {"1GB", 1'000'000'000},
                                    {"1GiB", 1'073'741'824},
                                    {"0.5KiB", 512}}) {
    EXPECT_EQ(parse_quantity(text, kBytesQuantity), count) << text;
  }
  for (const auto& [text, count] : {Case{"1ps", 1},
                                    {"1.28ns", 1'280},
                                    {"50us", 50'000'000},
                                    {"2ms", 2'000'000'000},
                                    {"1s", 1'000'000'000'000},
                                    {"1min", 60'000'000'000'000}}) {
    EXPECT_EQ(parse_quantity(text, kDurationQuantity), count) << text;
  }
  EXPECT_EQ(parse_quantity("12.5%", kShareQuantity), 125'000);
}

TEST(Quantity, RefusesWhatIsNotAWholeNumberOfTheBaseUnit) {
  EXPECT_EQ(parse_quantity("1.5ps", kDurationQuantity).error(), "'1.5ps' is not a whole number of picoseconds");
  EXPECT_EQ(parse_quantity("0.1B", kBytesQuantity).error(), "'0.1B' is not a whole number of bytes");
  EXPECT_TRUE(parse_quantity("1.50000000000000000000000000000000000000us", kDurationQuantity).has_value());
  EXPECT_FALSE(parse_quantity("1.00000000000000000000000000000000000001us", kDurationQuantity).has_value());
}

TEST(Quantity, RefusesWhatDoesNotFitSixtyThreeBits) {
  EXPECT_EQ(parse_quantity("9223372036854775807B", kBytesQuantity), INT64_MAX);
  EXPECT_EQ(parse_quantity("9223372036854775808B", kBytesQuantity).error(), "'9223372036854775808B' is too large");
  EXPECT_FALSE(parse_quantity("9223372036854775807.5KiB", kBytesQuantity).has_value());
  EXPECT_FALSE(parse_quantity("99999999999999999999999999999999999999999999999999Tbps", kRateQuantity).has_value());
}

TEST(Quantity, RefusesNumbersOfOtherShapes) {
  for (const std::string_view text : {"", " ", "Gbps", ".5Gbps", "5.Gbps", "1e3Gbps", "0x10Gbps", "1,5Gbps", "5  Gbps",
                                      " 5Gbps", "5Gbps ", "five Gbps", "--5Gbps", "5gbps", "5GBPS", "5Gb/s"}) {
    EXPECT_FALSE(parse_quantity(text, kRateQuantity).has_value()) << text;
  }
  EXPECT_EQ(parse_quantity("-5Gbps", kRateQuantity).error(), "'-5Gbps' must not be negative");
}

TEST(Quantity, PrintsWhatReadsBackAsTheSame) {
  EXPECT_EQ(print_quantity(100'000'000'000, kRateQuantity), "100Gbps");
  EXPECT_EQ(print_quantity(2'500, kDurationQuantity), "2.5ns");
  EXPECT_EQ(print_quantity(5'400'000'000'000'000, kDurationQuantity), "1.5h");
  EXPECT_EQ(print_quantity(1 << 20, kBytesQuantity), "1MiB");
  EXPECT_EQ(print_quantity(0, kDurationQuantity), "0ps");
  EXPECT_EQ(print_quantity(1, kShareQuantity), "0.0001%");
  EXPECT_EQ(print_quantity(25'500, kShareQuantity), "2.55%");
  std::mt19937_64 random(tests::seed());
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<int64_t>(random() >> (1 + random() % 63));
    for (const QuantityKind* kind :
         {&kRateQuantity, &kBytesQuantity, &kDurationQuantity}) {  // the others' base unit has no name
      ASSERT_EQ(parse_quantity(print_quantity(value, *kind), *kind), value) << print_quantity(value, *kind);
    }
  }
}

TEST(Quantity, LightTakesFivePicosecondsForAMillimetre) {
  EXPECT_EQ(propagation_of(Length::metres(198)), dataplane::Duration::us(1));
  EXPECT_EQ(propagation_of(Length{1'000}), dataplane::Duration::ps(5));  // 5.05
  EXPECT_EQ(propagation_of({0}), dataplane::Duration::ps(1));
}

TEST(Quantity, ABareNumberIsAnErrorThatNamesTheUnits) {
  EXPECT_EQ(
      complaints_about(with_fabric("run: {duration: 20}\n")),
      (Complaints{"4 run.duration: '20' has no unit: expected a duration such as 2ms (ps, ns, us, ms, s, min, h)"}));
}

TEST(Quantity, AUnitOfAnotherKindIsAnErrorThatNamesTheRightOnes) {
  EXPECT_EQ(
      complaints_about(with_fabric("run: {duration: 20m}\n")),
      (Complaints{"4 run.duration: expected a duration such as 2ms, found '20m' (units: ps, ns, us, ms, s, min, h)"}));
}

TEST(Quantity, EveryPlaceThatNeedsAUnitRefusesABareNumber) {
  EXPECT_EQ(complaints_about("name: t\n"
                             "fabric:\n"
                             "  kind: leaf-spine\n"
                             "  tors: 1\n"
                             "  spines: 1\n"
                             "  hosts_per_tor: 2\n"
                             "  host_link: {rate: 100, length: 5}\n"
                             "  fabric_link: {rate: 400Gbps}\n"
                             "convergence: 3\n"
                             "profiles: {default: {queue_limit: 1000}}\n"
                             "workload: [{name: w, pattern: ring, message: 4096, rate: 5, start: 1}]\n"
                             "faults: [{at: 5, node: tor1, set: down}]\n")
                .size(),
            8u);
}

}  // namespace
}  // namespace softspine::control
