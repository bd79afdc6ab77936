// SPDX-License-Identifier: Apache-2.0
// What `explain` says of a field by algebra, against packets with each value that the field can have.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analysis/explain/explanation.hpp"
#include "analysis/explain/probe.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::analysis {
namespace {

using dataplane::Rng;

constexpr size_t kL4 = 14 + 20;

// A ToR with so many uplinks.
control::Testbed leaf_spine(uint32_t spines, const std::string& profile) {
  const auto testbed = control::parse_testbed(
      fmt::format("name: tree\nfabric: {{kind: leaf-spine, tors: 2, spines: {}, hosts_per_tor: 1, host_link: {{rate: "
                  "100Gbps}}, fabric_link: {{rate: 100Gbps}}}}\nprofiles: {{default: {{{}}}}}\n",
                  spines, profile),
      "test.yaml");
  if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
  return *testbed;
}

// A ToR with one LAG of so many links.
control::Testbed with_a_lag(uint32_t links, const std::string& profile) {
  std::string text = fmt::format(
      "name: lag\nfabric: {{kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {{rate: 100Gbps}}, "
      "fabric_link: {{rate: 100Gbps}}}}\nprofiles: {{default: {{{}}}}}\ntopology:\n  links:\n",
      profile);
  for (uint32_t i = 1; i < links; ++i) text += "    - {endpoints: [tor1, spine1], rate: 100Gbps}\n";
  const auto testbed =
      control::parse_testbed(text + "  lags:\n    - {name: up, between: [tor1, spine1]}\n", "test.yaml");
  if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
  return *testbed;
}

class OneWay {
 public:
  explicit OneWay(control::Testbed testbed, bool is_ipv6 = false)
      : testbed_(std::move(testbed)),
        walker_(testbed_, std::vector<bool>(testbed_.fabric.links.size(), true)),
        probe_(ends_of(testbed_.fabric)) {
    probe_.is_ipv6 = is_ipv6;
    const control::LinkEnd sender{probe_.from, 0};
    frame_ = frame_of(testbed_.fabric, probe_, walker_.router_mac(testbed_.fabric.peer_of(sender).node));
  }

  Path path() { return walker_.walk(frame_, static_cast<uint32_t>(frame_.size()), {probe_.from, 0}); }
  // How many of the values that so many bytes at `at` can have go by each uplink.
  std::map<uint16_t, uint32_t> counted(size_t at, uint32_t bytes) {
    std::map<uint16_t, uint32_t> out;
    for (uint32_t value = 0; value < 1U << 8 * bytes; ++value) {
      if (bytes == 2) dataplane::store16(frame_.data() + at, static_cast<uint16_t>(value));
      if (bytes == 1) frame_[at] = static_cast<uint8_t>(value);
      ++out[path().hops.front().out_port];
    }
    return out;
  }
  // Of a part of the key.
  control::Json alone(const std::string& field) { return alone_in(json()["hops"][0]["hash"], field); }
  control::Json alone_in_lag(const std::string& field) { return alone_in(json()["hops"][0]["lag"]["hash"], field); }
  control::Json json() { return path_json(walker_, path(), PathDetail::kFields); }
  std::string text() { return path_text(walker_, path(), PathDetail::kFields); }

 private:
  static control::Json alone_in(const control::Json& hash, const std::string& field) {
    for (const control::Json& part : hash["fields"]) {
      if (part["field"] == field && part.contains("alone")) return part["alone"];
    }
    throw std::runtime_error(hash.dump(2));
  }
  static Probe ends_of(const control::Fabric& fabric) {
    const auto named = [&fabric](const char* name) {
      return static_cast<uint32_t>(std::ranges::find(fabric.nodes, name, &control::FabricNode::name) -
                                   fabric.nodes.begin());
    };
    return {.from = named("h1"), .to = named("h2")};
  }

  control::Testbed testbed_;
  Walker walker_;
  Probe probe_;
  std::vector<uint8_t> frame_;
};

std::string drawn_hash(Rng& rng) {
  constexpr const char* kLinear[] = {"algorithm: CRC",
                                     "algorithm: XOR",
                                     "algorithm: TOEPLITZ",
                                     "algorithm: CRC_32LO",
                                     "algorithm: CRC_CCITT",
                                     "algorithm: CRC_XOR",
                                     "algorithm: CRC_ETHERNET_HI",
                                     "model: RTAG7, algorithm: CRC_XOR1",
                                     "model: RTAG7, algorithm: CRC_KOOPMAN_LO",
                                     "model: RTAG7, algorithm: XOR"};
  return fmt::format("hash: {{{}, seed: {}, offset: {}, fields: [SRC_IP, L4_SRC_PORT, RDMA_BTH_OPCODE]}}",
                     kLinear[rng.below(std::size(kLinear))], rng.below(65'536), rng.below(16));
}
std::string drawn_groups(Rng& rng, uint32_t spines) {
  return rng.below(3) == 0 ? fmt::format(", groups: {{kind: resilient, buckets: {}}}", spines * (1 + rng.below(9)) + 1)
                           : "";
}

void expect_counted(const control::Json& alone, const std::map<uint16_t, uint32_t>& counted, uint32_t spines,
                    bool are_equal) {
  EXPECT_EQ(alone["links"], spines);
  EXPECT_EQ(alone["links_reached"], counted.size());
  if (!are_equal) return;  // buckets for each link
  uint32_t least = counted.size() < spines ? 0 : counted.begin()->second;
  uint32_t most = 0;
  double values = 0;
  for (const auto& [port, count] : counted) {
    least = std::min(least, count);
    most = std::max(most, count);
    values += count;
  }
  EXPECT_NEAR(alone["least_load"].get<double>(), least * spines / values, 1e-9);
  EXPECT_NEAR(alone["most_load"].get<double>(), most * spines / values, 1e-9);
}

TEST(FieldReach, IsThatOfPacketsWithAllValues) {
  Rng rng{tests::seed(), 91};
  uint32_t not_all = 0;
  const uint32_t drawn = tests::to_draw(120);
  for (uint32_t i = 0; i < drawn; ++i) {
    const auto spines = static_cast<uint32_t>(std::array{2, 3, 4, 6, 8, 12, 16}[rng.below(7)]);
    const std::string groups = drawn_groups(rng, spines);
    const std::string profile = drawn_hash(rng) + groups;
    SCOPED_TRACE(fmt::format("{} uplinks, {}", spines, profile));
    OneWay way{leaf_spine(spines, profile)};
    const auto by_opcode = way.counted(kL4 + 8, 1);
    expect_counted(way.alone("RDMA_BTH_OPCODE"), by_opcode, spines, groups.empty());
    not_all += by_opcode.size() < spines ? 1 : 0;
    if (i % 10 == 0) expect_counted(way.alone("L4_SRC_PORT"), way.counted(kL4, 2), spines, groups.empty());
  }
  // Of few drawn ones, each may reach all links.
  EXPECT_TRUE(not_all > 0 || drawn < 30);
}

TEST(FieldReach, OfALagIsThatOfItsOwnHashAndLinks) {
  Rng rng{tests::seed(), 92};
  for (uint32_t i = 0; i < tests::to_draw(40); ++i) {
    const auto links = static_cast<uint32_t>(2 + rng.below(7));
    const std::string profile = "lag_" + drawn_hash(rng) + ", hash: {algorithm: CRC, seed: 3}";
    SCOPED_TRACE(fmt::format("a LAG of {} links, {}", links, profile));
    OneWay way{with_a_lag(links, profile)};
    expect_counted(way.alone_in_lag("RDMA_BTH_OPCODE"), way.counted(kL4 + 8, 1), links, true);
  }
}

TEST(FieldReach, IsToldOfAFieldThatSpreadsNothing) {
  // 8 bits, as they are, in the lower half of the hash; turned by 8, in the upper half.
  OneWay way{leaf_spine(8, "hash: {algorithm: XOR, offset: 8, fields: [SRC_IP, L4_SRC_PORT, RDMA_BTH_OPCODE]}")};
  EXPECT_THAT(way.text(),
              testing::HasSubstr("    RDMA_BTH_OPCODE alone reaches 1 of these 8 links: XOR is linear, and the "
                                 "field's 8 bits change 0 independent bits of the hash modulo 8\n"));
  EXPECT_THAT(way.text(), testing::Not(testing::HasSubstr("L4_SRC_PORT alone")));
  // 256 values over 48 links: five or six for each.
  OneWay uneven{leaf_spine(48, "hash: {algorithm: XOR, fields: [RDMA_BTH_OPCODE, IP_PROTOCOL]}")};
  EXPECT_THAT(uneven.text(), testing::Not(testing::HasSubstr("alone")));
  OneWay few{leaf_spine(150, "hash: {algorithm: XOR, fields: [RDMA_BTH_OPCODE, IP_PROTOCOL]}")};
  EXPECT_THAT(few.text(),
              testing::HasSubstr("    RDMA_BTH_OPCODE alone loads these 150 links with 59 to 117 % of their "
                                 "share: XOR is linear, and the field's 8 bits change 8 independent bits of "
                                 "the hash\n"));
}

// Masked bits never vary, nor do those that a label of 20 bits has not.
TEST(FieldReach, IsOfTheBitsThatAPacketCanSet) {
  OneWay masked{leaf_spine(16,
                           "hash: {algorithm: XOR, fields: [SRC_IP], udf: [{base: L4, offset: 8, length: 1, mask: "
                           "\"03\", match: {l4_dst_port: 4791}}]}")};
  const auto by_opcode = masked.counted(kL4 + 8, 1);
  EXPECT_EQ(by_opcode.size(), 4u);
  EXPECT_EQ(masked.alone("udf[0]")["independent_bits"], 2);
  EXPECT_EQ(masked.alone("udf[0]")["links_reached"], 4);
  OneWay labelled{leaf_spine(12, "hash: {algorithm: CRC, fields: [IPV6_FLOW_LABEL, SRC_IP]}"), true};
  EXPECT_EQ(labelled.alone("IPV6_FLOW_LABEL")["independent_bits"], 20);
}

// More independent bits than all of whose sums are taken.
TEST(FieldReach, OfAWholeAddressIsEvenOverAnyNumberOfLinks) {
  OneWay way{leaf_spine(12, "hash: {algorithm: CRC, fields: [SRC_IP, L4_SRC_PORT]}")};
  const control::Json address = way.alone("SRC_IP");
  EXPECT_EQ(address["independent_bits"], 32);
  EXPECT_EQ(address["links_reached"], 12);
  EXPECT_NEAR(address["least_load"].get<double>(), 1, 0.08);
  EXPECT_NEAR(address["most_load"].get<double>(), 1, 0.08);
}

TEST(FieldReach, SaysNothingWhereNoAlgebraDoes) {
  for (const char* hash : {"algorithm: XXH3", "algorithm: RANDOM", "model: LINUX, seed: 7", "model: OVS",
                           "algorithm: CRC, symmetric: true", "model: RTAG7, rtag7: {output: B0}"}) {
    OneWay way{leaf_spine(4, fmt::format("hash: {{{}}}", hash))};
    EXPECT_THAT(way.json().dump(), testing::Not(testing::HasSubstr("alone"))) << hash;
    EXPECT_THAT(way.text(), testing::Not(testing::HasSubstr("alone"))) << hash;
  }
}

}  // namespace
}  // namespace softspine::analysis
