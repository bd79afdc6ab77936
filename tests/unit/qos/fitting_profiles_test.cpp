// SPDX-License-Identifier: Apache-2.0
// What NULL in BUFFER_PG stands for: a lossless profile that fits the port.
#include "control/load/fitting_profiles.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

QosConfig with_pools(std::initializer_list<BufferPoolConfig> pools) {
  QosConfig out;
  out.pools = pools;
  return out;
}
BufferPoolConfig pool(const char* name, bool ingress) {
  return {.name = name, .ingress = ingress, .place = {}};
}

// SONiC computes it on Spectrums only. The rows say a platform, and then none any more.
TEST(FittingProfile, IsThatOfSonicsCalculatorOnASpectrumElseThatOfTheFormula) {
  QosRows rows;
  for (const PlatformRow& chip : kPlatforms) {
    for (const bool is_said : {true, false}) {
      rows.platform = chip.platform;
      if (!is_said) rows.platform.reset();
      QosConfig config = with_pools({pool("ingress_lossless_pool", true)});
      Reader reader;
      const int16_t index = FittingProfiles(reader, config).automatic(rows, {});
      ASSERT_EQ(index, 0);
      const bool is_spectrum = is_said && std::string(chip.word).starts_with("spectrum");
      EXPECT_EQ(config.profiles[0].calculated, is_spectrum) << chip.word;
      EXPECT_EQ(config.profiles[0].automatic, !is_spectrum) << chip.word;
      EXPECT_TRUE(config.profiles[0].lossless);
    }
  }
}

TEST(FittingProfile, IsOfTheLosslessPoolElseOfTheFirstIngressPool) {
  const auto pool_of = [](std::initializer_list<BufferPoolConfig> pools) {
    QosConfig config = with_pools(pools);
    Reader reader;
    const int16_t index = FittingProfiles(reader, config).automatic({}, {});
    EXPECT_EQ(index == PortQos::kNone, !reader.finish().empty());
    return index == PortQos::kNone ? std::string() : config.pools[config.profiles[0].pool].name;
  };
  const BufferPoolConfig out = pool("out", false);
  EXPECT_EQ(pool_of({out, pool("a", true), pool("ingress_lossless_pool", true)}), "ingress_lossless_pool");
  EXPECT_EQ(pool_of({out, pool("a", true), pool("b", true)}), "a");
  EXPECT_EQ(pool_of({out}), "");
}

TEST(FittingProfile, IsOneForAllPortsAndHasTheThresholdOfTheParameters) {
  QosRows rows;
  rows.lossless_parameter.items.emplace_back();
  rows.lossless_parameter.items.back().row.default_dynamic_th.emplace().value = -2;
  QosConfig config = with_pools({pool("ingress_lossless_pool", true)});
  Reader reader;
  FittingProfiles fitting(reader, config);
  EXPECT_EQ(fitting.automatic(rows, {}), 0);
  EXPECT_EQ(fitting.automatic(rows, {}), 0);
  ASSERT_EQ(config.profiles.size(), 1U);
  EXPECT_EQ(config.profiles[0].dynamic_th, -2);
  EXPECT_EQ(config.profiles[0].name, "NULL");
}

}  // namespace
}  // namespace softspine::control
