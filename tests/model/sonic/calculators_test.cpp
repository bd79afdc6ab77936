// SPDX-License-Identifier: Apache-2.0
// Our headroom and pool sizes against SONiC's own calculators, on random switches.
#include <gtest/gtest.h>

#include "control/compile/dynamic_pools.hpp"
#include "control/compile/sonic_headroom.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/model/sonic/originals.hpp"

namespace softspine::control {
namespace {

using tests::kApplDb;
using tests::kConfigDb;
using tests::kStateDb;
using tests::RedisCase;

constexpr uint32_t kCases = 600;

std::string text(uint64_t value) {
  return std::to_string(value);
}

struct Switch {
  QosConfig config;
  std::vector<PortShape> ports;
};

class Drawn {
 public:
  explicit Drawn(uint64_t seed) : rng_(seed, 0) {}

  uint64_t below(uint64_t n) { return rng_.below(n); }
  bool sometimes() { return below(2) == 0; }
  template <size_t N>
  uint64_t one_of(const uint64_t (&values)[N]) {
    return values[below(N)];
  }

  // What the calculators have of the switch as a whole. The cells are those of Spectrum 1 to 4.
  void draw_switch(QosConfig& config) {
    static constexpr uint64_t kCells[] = {96, 144, 144, 192};
    const uint64_t generation = below(std::size(kCells));
    config.cell_bytes = static_cast<uint32_t>(kCells[generation]);
    config.spectrum4 = generation == 3;
    config.lossless_mtu = static_cast<uint32_t>(64 + below(9'000));
    config.small_packet_percentage = sometimes() ? 100 : static_cast<uint32_t>(below(101));
    config.over_subscribe_ratio = sometimes() ? 0 : static_cast<uint32_t>(1 + below(4));
  }

  PortShape draw_port(QosConfig& config, uint32_t number) {
    static constexpr uint64_t kSpeeds[] = {100,    1'000,   10'000,  20'000,  25'000,  40'000,
                                           50'000, 100'000, 200'000, 400'000, 800'000, 56'000};
    PortQos port;
    PortShape shape{.name = "Ethernet" + text(number * 4)};
    port.speed = dataplane::Rate::bps(one_of(kSpeeds) * 1'000'000);
    port.cable_micrometres = (sometimes() ? one_of({5, 40, 300}) : below(100'000)) * 1'000'000;
    port.eight_lanes = below(4) == 0;
    shape.largest_frame = static_cast<uint32_t>(kFrameOverhead + (sometimes() ? 9'100 : 1'000 + below(9'000)));
    config.ports.emplace_back(shape.name, port);
    return shape;
  }

 private:
  dataplane::Rng rng_;
};

void write_switch(const QosConfig& config, RedisCase& out) {
  const std::string generation = config.spectrum4 ? "4" : config.cell_bytes == 96 ? "1" : "3";
  // As sonic-buildimage's asic_table.j2 has these.
  out.databases[kStateDb]["ASIC_TABLE|MELLANOX-SPECTRUM-" + generation] = {{"cell_size", text(config.cell_bytes)},
                                                                           {"pipeline_latency", "19"},
                                                                           {"mac_phy_delay", "0.8"},
                                                                           {"peer_response_time", "3.8"}};
  auto& tables = out.databases[kConfigDb];
  tables["LOSSLESS_TRAFFIC_PATTERN|AZURE"] = {{"mtu", text(config.lossless_mtu)},
                                              {"small_packet_percentage", text(config.small_packet_percentage)}};
  tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE"] = {{"default_dynamic_th", "0"}};
  if (config.over_subscribe_ratio != 0)
    tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE"]["over_subscribe_ratio"] = text(config.over_subscribe_ratio);
}

std::string said(const Switch& it) {
  const PortQos& port = it.config.ports[0].second;
  return text(port.speed->count_bps() / 1'000'000) + " Mb/s, " + text(*port.cable_micrometres / 1'000'000) +
         " m, MTU " + text(it.ports[0].largest_frame - kFrameOverhead) + ", cell " + text(it.config.cell_bytes) +
         ", mtu " + text(it.config.lossless_mtu) + ", p " + text(it.config.small_packet_percentage);
}

TEST(SonicsHeadroom, IsWhatTheOriginalComputesForAnyPort) {
  constexpr const char* kScript = "buffer_headroom_mellanox.lua";
  if (const std::string why = tests::why_not(kScript); !why.empty()) GTEST_SKIP() << why;
  std::vector<Switch> switches(kCases);
  std::vector<RedisCase> cases(kCases);
  for (uint32_t i = 0; i < kCases; ++i) {
    Drawn drawn(i);
    QosConfig& config = switches[i].config;
    drawn.draw_switch(config);
    switches[i].ports.push_back(drawn.draw_port(config, 0));
    const uint64_t pool = drawn.below(3) == 0 ? 1 + drawn.below(1'000'000) : 0;
    config.pools.push_back({.name = "ingress_lossless_pool", .ingress = true, .xoff = pool});
    write_switch(config, cases[i]);
    if (pool != 0) cases[i].databases[kConfigDb]["BUFFER_POOL|ingress_lossless_pool"] = {{"xoff", text(pool)}};
    const PortQos& port = config.ports[0].second;
    cases[i].argv = {text(port.speed->count_bps() / 1'000'000), text(*port.cable_micrometres / 1'000'000) + "m",
                     text(switches[i].ports[0].largest_frame - kFrameOverhead), "0", port.eight_lanes ? "8" : "4"};
  }
  const auto wanted = tests::run_original(kScript, cases);
  ASSERT_EQ(wanted.size(), kCases);
  for (uint32_t i = 0; i < kCases; ++i) {
    SCOPED_TRACE("case " + text(i) + ": " + said(switches[i]));
    const SonicHeadroom found = sonic_headroom(switches[i].config, switches[i].ports[0]);
    EXPECT_EQ(found.xoff, wanted[i].at("xoff")[0]);
    EXPECT_EQ(found.xon, wanted[i].at("xon")[0]);
    EXPECT_EQ(found.size, wanted[i].at("size")[0]);
  }
}

// Pools, profiles and ports of a switch with the dynamic buffer model, in both shapes.
class PoolCase {
 public:
  explicit PoolCase(uint64_t seed) : drawn_(seed) {
    QosConfig& config = it.config;
    drawn_.draw_switch(config);
    config.memory_bytes = 60'000'000 + drawn_.below(200'000'000);
    add_pools(config);
    add_profiles(config);
    const auto ports = static_cast<uint32_t>(1 + drawn_.below(64));
    for (uint32_t i = 0; i < ports; ++i) it.ports.push_back(drawn_.draw_port(config, i));
    std::ranges::sort(config.ports, {}, [](const auto& port) { return port.first; });
    for (auto& [name, port] : config.ports) add_rows(port);
    write();
  }

  Switch it;
  RedisCase redis;

 private:
  void add_pools(QosConfig& config) {
    const uint64_t xoff = config.over_subscribe_ratio == 0 && drawn_.sometimes() ? 1'000 * drawn_.below(3'000) : 0;
    config.pools = {{.name = "ingress_lossless_pool", .ingress = true, .computed = drawn_.below(5) != 0, .xoff = xoff},
                    {.name = "egress_lossless_pool", .ingress = false, .size = config.memory_bytes},
                    {.name = "egress_lossy_pool", .ingress = false, .computed = true}};
    if (!config.pools[0].computed) config.pools[0].size = 20'000'000;
    if (drawn_.sometimes()) config.pools.push_back({.name = "ingress_lossy_pool", .ingress = true, .computed = true});
    for (BufferPoolConfig& pool : config.pools) {
      if (pool.computed && drawn_.below(4) == 0) pool.percentage = static_cast<uint32_t>(drawn_.below(101));
    }
  }

  void add_profiles(QosConfig& config) {
    const auto lossy_pool = static_cast<uint8_t>(config.pools.size() == 4 ? 3 : 0);
    const auto size = [&] { return drawn_.sometimes() ? 0 : 1'024 * drawn_.below(20); };
    config.profiles = {{.name = "calculated", .pool = 0, .lossless = true, .calculated = true},
                       {.name = "ingress_lossy", .pool = lossy_pool, .size = size()},
                       {.name = "egress_lossless", .pool = 1, .size = size()},
                       {.name = "egress_lossy", .pool = 2, .size = size()},
                       {.name = "ingress_lossless", .pool = 0, .size = size()}};
    BufferProfileConfig given{.name = "given", .pool = 0, .lossless = true};
    given.xon = 1'024 * (1 + drawn_.below(40));
    given.xoff = 1'024 * (1 + drawn_.below(200));
    given.size = given.xon + (drawn_.sometimes() ? given.xoff : 0);
    config.profiles.push_back(given);
  }

  void add_rows(PortQos& port) {
    if (drawn_.below(4) != 0) port.groups[0] = 1;
    if (drawn_.below(4) != 0) {
      const int16_t profile = drawn_.below(3) == 0 ? 5 : 0;
      for (uint64_t group = 3; group < 4 + drawn_.below(3); ++group) port.groups[group] = profile;
    }
    for (size_t queue = 0; queue < 8; ++queue) {
      if (drawn_.below(5) != 0) port.queues[queue] = queue == 3 || queue == 4 ? 2 : 3;
    }
    if (drawn_.sometimes()) port.ingress_profiles = {4, 1};
    if (drawn_.sometimes()) port.egress_profiles = {2, 3};
  }

  void write() {
    write_switch(it.config, redis);
    for (const BufferPoolConfig& pool : it.config.pools) {
      auto& row = redis.databases[kConfigDb]["BUFFER_POOL|" + pool.name];
      row = {{"type", pool.ingress ? "ingress" : "egress"}, {"mode", "dynamic"}};
      if (!pool.computed) row["size"] = text(pool.size);
      if (pool.percentage) row["percentage"] = text(*pool.percentage);
      if (pool.xoff != 0) row["xoff"] = text(pool.xoff);
    }
    for (const BufferProfileConfig& profile : it.config.profiles) {
      if (!profile.calculated) write_profile(profile);
    }
    for (const PortShape& shape : it.ports) write_port(shape);
  }

  void write_profile(const BufferProfileConfig& profile) {
    auto& row = redis.databases[kApplDb]["BUFFER_PROFILE_TABLE:" + profile.name];
    row = {{"pool", it.config.pools[profile.pool].name}, {"size", text(profile.size)}};
    if (!profile.lossless) return;
    row["xon"] = text(profile.xon);
    row["xoff"] = text(profile.xoff);
  }

  void write_port(const PortShape& shape) {
    const PortQos& port = it.config.port(shape.name);
    auto& row = redis.databases[kConfigDb]["PORT|" + shape.name];
    row = {{"lanes", port.eight_lanes ? "1,2,3,4,5,6,7,8" : "1,2,3,4"}, {"admin_status", "up"}};
    for (size_t i = 0; i < 8; ++i) {
      write_use("BUFFER_PG_TABLE", shape, i, port.groups[i]);
      write_use("BUFFER_QUEUE_TABLE", shape, i, port.queues[i]);
    }
    write_list("BUFFER_PORT_INGRESS_PROFILE_LIST_TABLE", shape, port.ingress_profiles);
    write_list("BUFFER_PORT_EGRESS_PROFILE_LIST_TABLE", shape, port.egress_profiles);
  }

  void write_use(const std::string& table, const PortShape& shape, size_t number, int16_t index) {
    if (index == PortQos::kNone) return;
    BufferProfileConfig profile = it.config.profiles[static_cast<size_t>(index)];
    if (profile.calculated) {
      profile = fitted(profile, it.config, shape);
      profile.name = "pg_lossless_" + shape.name;
      write_profile(profile);
    }
    redis.databases[kApplDb][table + ":" + shape.name + ":" + text(number)] = {{"profile", profile.name}};
  }

  void write_list(const std::string& table, const PortShape& shape, const std::vector<int16_t>& profiles) {
    if (profiles.empty()) return;
    std::string names;
    for (const int16_t index : profiles)
      names += (names.empty() ? "" : ",") + it.config.profiles[static_cast<size_t>(index)].name;
    redis.databases[kApplDb][table + ":" + shape.name] = {{"profile_list", names}};
  }

  Drawn drawn_;
};

TEST(DynamicPools, AreAsLargeAsTheOriginalMakesThemForAnySwitch) {
  constexpr const char* kScript = "buffer_pool_mellanox.lua";
  if (const std::string why = tests::why_not(kScript); !why.empty()) GTEST_SKIP() << why;
  std::vector<PoolCase> drawn;
  std::vector<RedisCase> cases;
  for (uint32_t i = 0; i < kCases; ++i) cases.push_back(drawn.emplace_back(i).redis);
  const auto wanted = tests::run_original(kScript, cases);
  ASSERT_EQ(wanted.size(), kCases);
  uint32_t compared = 0;
  for (uint32_t i = 0; i < kCases; ++i) {
    SCOPED_TRACE("case " + text(i));
    const QosConfig& config = drawn[i].it.config;
    const std::vector<PoolSizes> found = pool_sizes(config, drawn[i].it.ports);
    for (size_t pool = 0; pool < found.size(); ++pool) {
      const auto it = wanted[i].find(config.pools[pool].name);
      if (it == wanted[i].end() || !found[pool].fits) continue;
      EXPECT_EQ(found[pool].size, it->second.at(0)) << it->first;
      if (config.pools[pool].ingress) {
        EXPECT_EQ(found[pool].xoff, it->second.size() > 1 ? it->second[1] : 0) << it->first;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, kCases);
}

}  // namespace
}  // namespace softspine::control
