// SPDX-License-Identifier: Apache-2.0
// What NULL in BUFFER_PG stands for: a lossless profile that fits the port.
#include "control/load/fitting_profiles.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

QosConfig config_with(std::initializer_list<BufferPoolConfig> pools) {
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
      QosConfig config = config_with({pool("ingress_lossless_pool", true)});
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
    QosConfig config = config_with(pools);
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
  QosConfig config = config_with({pool("ingress_lossless_pool", true)});
  Reader reader;
  FittingProfiles fitting(reader, config);
  EXPECT_EQ(fitting.automatic(rows, {}), 0);
  EXPECT_EQ(fitting.automatic(rows, {}), 0);
  ASSERT_EQ(config.profiles.size(), 1U);
  EXPECT_EQ(config.profiles[0].dynamic_th, -2);
  EXPECT_EQ(config.profiles[0].name, "NULL");
}

// A port of 100 Gb/s with a cable of 5 m, whose priorities 3 and 4 are lossless, and profiles by their names.
class FittingGroups : public testing::Test {
 protected:
  FittingGroups() {
    rows_.cable_length.items.emplace_back();
    port_.speed = dataplane::Rate::gbps(100);
    port_.cable_micrometres = 5'000'000;
    port_.pfc_enable = 0x18;
  }
  void add_profile(const std::string& name, bool lossless = true) {
    rows_.buffer_profile.items.emplace_back();
    config_.profiles.push_back({.name = name, .lossless = lossless, .place = {}});
  }
  // The profiles of groups 3 and 4; "" for none.
  std::string added() {
    FittingProfiles::Ports ports{{"Ethernet0", port_}};
    Reader reader;
    QosConfig config = config_;
    FittingProfiles(reader, config).add_groups(rows_, ports);
    std::string out;
    for (size_t group = 0; group < 8; ++group) {
      const int16_t profile = ports.at("Ethernet0").groups[group];
      const bool is_added = (ports.at("Ethernet0").added_groups >> group & 1) != 0;
      if (profile == PortQos::kNone) continue;
      out += (out.empty() ? "" : " ") + std::to_string(group) + (is_added ? "+" : "=") +
             config.profiles[static_cast<size_t>(profile)].name;
    }
    return out;
  }

  QosRows rows_;
  QosConfig config_ = config_with({pool("ingress_lossless_pool", true)});
  PortQos port_;
};

TEST_F(FittingGroups, GetTheProfileOfTheirSpeedAndCable) {
  add_profile("pg_lossless_100000_40m_profile");
  add_profile("pg_lossless_400000_5m_profile");
  EXPECT_EQ(added(), "3+NULL 4+NULL") << "neither fits";
  add_profile("pg_lossless_100000_5m_profile");
  EXPECT_EQ(added(), "3+pg_lossless_100000_5m_profile 4+pg_lossless_100000_5m_profile");
  port_.cable_micrometres = 40'000'000;
  EXPECT_EQ(added(), "3+pg_lossless_100000_40m_profile 4+pg_lossless_100000_40m_profile");
}

TEST_F(FittingGroups, OfAPortWithoutSpeedGetTheOnlyProfileForTheirCable) {
  port_.speed.reset();
  port_.pfc_enable = 0x08;
  add_profile("pg_lossless_100000_40m_profile");
  add_profile("pg_lossless_25000_5m_profile", false);
  add_profile("other_5m_profile");
  EXPECT_EQ(added(), "3+NULL");
  add_profile("pg_lossless_400000_5m_profile");
  EXPECT_EQ(added(), "3+pg_lossless_400000_5m_profile");
  add_profile("pg_lossless_100000_5m_profile");
  EXPECT_EQ(added(), "3+NULL") << "there are two";
}

TEST_F(FittingGroups, AreAddedWhereThePortIsUpAndItsCableIsKnown) {
  EXPECT_EQ(added(), "3+NULL 4+NULL");
  port_.admin_up = false;
  EXPECT_EQ(added(), "");
  port_.admin_up = true;
  port_.cable_micrometres = 0;
  EXPECT_EQ(added(), "") << "0m";
  port_.cable_micrometres.reset();
  EXPECT_EQ(added(), "");
  port_.cable_micrometres = 5'000'000;
  add_profile("own");
  port_.groups[4] = 0;
  EXPECT_EQ(added(), "3+NULL 4=own") << "a row of BUFFER_PG goes first";
  config_.pools[0].ingress = false;
  EXPECT_EQ(added(), "4=own") << "no pool for them";
  config_.pools[0].ingress = true;
  rows_.cable_length.items.clear();
  EXPECT_EQ(added(), "4=own") << "no CABLE_LENGTH";
}

}  // namespace
}  // namespace softspine::control
