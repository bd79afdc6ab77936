// SPDX-License-Identifier: Apache-2.0
// Parameters as nobody should write them: each ends in an error at its place, or in a fabric of the size that was
// judged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "control/rows/tables.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

struct Kind {
  const char* word;
  std::vector<const char*> counts;
  std::vector<const char*> links;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"star", {"hosts"}, {"host_link"}},
      {"crossbar", {"inputs", "outputs"}, {"host_link"}},
      {"leaf-spine", {"tors", "spines", "hosts_per_tor", "links_per_spine"}, {"host_link", "fabric_link"}},
      {"clos", {"m", "n", "r"}, {"host_link", "fabric_link"}},
      {"fat-tree", {"k", "hosts_per_tor"}, {"host_link", "fabric_link", "core_link"}},
      {"2-ary-fat-tree", {"levels"}, {"host_link", "fabric_link"}},
      {"hpn",
       {"pods", "segments", "servers_per_segment", "rails", "planes", "aggregations_per_plane", "cores",
        "core_uplinks"},
       {"host_link", "fabric_link", "core_link"}},
      {"ai-zone",
       {"zones", "racks", "servers_per_rack", "nics_per_server", "ctsws", "links_per_ctsw", "atsws"},
       {"host_link", "fabric_link", "zone_link"}},
      {"dcn-plus",
       {"pods", "segments", "servers_per_segment", "nics_per_server", "aggregations", "links_per_aggregation", "cores",
        "core_uplinks"},
       {"host_link", "fabric_link", "core_link"}},
      {"front-end",
       {"pods", "segments", "servers_per_segment", "nics_per_server", "aggregations", "links_per_aggregation", "cores",
        "core_uplinks"},
       {"host_link", "fabric_link", "core_link"}}};
  return all;
}

class Drawn {
 public:
  explicit Drawn(uint64_t seed) : rng_(seed, 41) {}

  // Mostly small, so that many are good; sometimes none, or far too many.
  std::string fabric(const Kind& kind) {
    std::string out = fmt::format("kind: {}", kind.word);
    for (const char* key : kind.counts) {
      if (below(6) != 0) out += fmt::format(", {}: {}", key, count());
    }
    for (const char* key : kind.links) {
      if (below(12) != 0) out += fmt::format(", {}: {{rate: {}}}", key, below(2) == 0 ? "100Gbps" : "400Gbps");
    }
    if (std::string_view(kind.word) == "ai-zone") {
      if (below(3) == 0) out += fmt::format(", uplinks: {}", ratio());
      if (below(3) == 0) out += fmt::format(", zone_uplinks: {}", ratio());
    }
    if (std::string_view(kind.word) == "hpn") {
      if (below(3) == 0) out += ", tier2: rail-only";
      if (below(3) == 0) out += ", planes_meet: core";
    }
    return out;
  }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t count() {
    constexpr std::array<uint64_t, 6> kOdd{0, 4'096, 4'097, 65'536, 4'294'967'295, 4'294'967'296};
    return below(12) == 0 ? kOdd[below(kOdd.size())] : 1 + below(8);
  }
  const char* ratio() {
    constexpr std::array kAll{"1:1",    "1:2",    "7:1",      "1:1.125", "0:1", "1:0.001",
                              "1000:1", "1:1000", "1:1.0001", "1",       "a:b"};
    return kAll[below(kAll.size())];
  }
  dataplane::Rng rng_;
};

TEST(DrawnParameters, EndInAnErrorAtTheirPlaceOrInAFabricOfTheSizeThatWasJudged) {
  const uint64_t seed = tests::seed();
  Drawn drawn(seed);
  size_t good = 0;
  for (int i = 0; i < 4'000; ++i) {
    const Kind& kind = kinds()[static_cast<size_t>(i) % kinds().size()];
    const std::string parameters = drawn.fabric(kind);
    SCOPED_TRACE(parameters);
    Reader reader{"t.yaml"};
    FabricSpec spec;
    const bool read = Format<FabricSpec>::read(reader, reader.open("{" + parameters + "}", "t.yaml"), spec);
    const Errors errors = reader.finish();
    ASSERT_EQ(read, errors.empty());
    for (const Error& error : errors) ASSERT_GT(error.line, 0) << to_string(error);
    if (!read) continue;
    const Size size = std::visit([](const auto& s) { return size_of(s); }, spec);
    ASSERT_LE(size.nodes, kMaxNodes);
    ASSERT_LE(size.links, kMaxLinks);
    ASSERT_LE(size.ports, dataplane::kMaxPorts);
    if (size.nodes > 3'000 || size.links > 10'000) continue;
    ++good;
    Draft draft_of;
    std::visit([&](const auto& s) { draft(s, draft_of); }, spec);
    ASSERT_EQ(static_cast<double>(draft_of.nodes.size()), size.nodes);
    ASSERT_EQ(static_cast<double>(draft_of.links.size()), size.links);
    ASSERT_EQ(draft_of.by_name.size(), draft_of.nodes.size()) << "a name twice";
    std::vector<size_t> ports(draft_of.nodes.size(), 0);
    for (const DraftLink& link : draft_of.links) {
      for (const DraftEnd* end : {&link.a, &link.b}) ++ports[end->node];
    }
    size_t most = 0;
    for (size_t n = 0; n < ports.size(); ++n) {
      if (draft_of.nodes[n].kind == NodeKind::kSwitch) most = std::max(most, ports[n]);
    }
    ASSERT_EQ(static_cast<double>(most), size.ports);
  }
  EXPECT_GT(good, 200u) << "seed " << seed;
}

struct Refused {
  const char* fabric;
  const char* why;
};
class TooLarge : public testing::TestWithParam<Refused> {};

constexpr const char* kLinksAndEnd = ", host_link: {rate: 100Gbps}, fabric_link: {rate: 400Gbps}}";

TEST_P(TooLarge, IsRefusedWithWhatIsTooMuch) {
  const auto testbed = parse_testbed("name: t\nfabric: {" + std::string(GetParam().fabric) + kLinksAndEnd, "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_EQ(testbed.error().size(), 1u);
  EXPECT_EQ(testbed.error()[0].line, 2);
  EXPECT_NE(to_string(testbed.error()[0]).find(GetParam().why), std::string::npos) << to_string(testbed.error()[0]);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, TooLarge,
    testing::Values(
        Refused{"kind: hpn, size: published, pods: 40", "too large: 628816 nodes, at most 500000"},
        Refused{"kind: hpn, size: published, cores: 15", "must be even: each plane has cores of its own"},
        Refused{"kind: hpn, size: published, planes: 1, planes_meet: core", "needs 'planes: 2'"},
        Refused{"kind: hpn, size: publishd", "'publishd' is not one of published, published-segment: did you mean"},
        Refused{"kind: ai-zone, size: published, racks: 5000", "too large: 5000 ports on one switch, at most 4096"},
        Refused{"kind: ai-zone, size: published, uplinks: 1:1.01",
                "gives 4.04 uplinks of a switch: not a whole number"},
        Refused{"kind: ai-zone, size: published, uplinks: 1:2, ctsws: 5",
                "gives an RTSW 8 uplinks for 5 CTSWs to share"},
        Refused{"kind: ai-zone, size: published, uplinks: '1:0'", "expected a ratio such as 1:1.125"},
        Refused{"kind: ai-zone, racks: 2", "needs 'ctsws' or 'uplinks'"},
        Refused{"kind: ai-zone, racks: 2, ctsws: 2, links_per_ctsw: 8, uplinks: 1:1", "say already"},
        Refused{"kind: ai-zone, size: published, atsws: 4, zone_uplinks: 7:1", "is what 'atsws' says already"},
        Refused{"kind: dcn-plus, size: published, aggregations: 7",
                "would give a ToR 32 uplinks, which 7 cannot share"},
        Refused{"kind: front-end, segments: 1, servers_per_segment: 3, aggregations: 1", "0.75 uplinks of a switch"},
        Refused{"kind: fat-tree, k: 128", "too large: 544768 nodes, at most 500000"},
        Refused{"kind: 2-ary-fat-tree, levels: 4", "must be at most 3"},
        Refused{"kind: clos, m: 4097, n: 1, r: 1", "too large: 4098 ports on one switch"},
        Refused{"kind: clos, m: 0, n: 1, r: 1", "must be at least 1"}));

TEST(SeveralFabrics, AreRefusedIfTheyAreTooLargeTogether) {
  std::string text = "name: t\nfabrics:\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("  f{}: {{kind: hpn, size: published}}\n", i);
  const auto testbed = parse_testbed(text, "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_EQ(testbed.error().size(), 1u);
  EXPECT_NE(to_string(testbed.error()[0]).find("with the fabrics before it more than 500000 nodes"), std::string::npos);
}

// Few switches with many links: each has 256 times 2,048 on either side of its middle stage.
TEST(SeveralFabrics, AreRefusedIfTheyHaveTooManyLinksTogether) {
  std::string text = "name: t\nfabrics:\n";
  for (int i = 0; i < 3; ++i)
    text += fmt::format(
        "  f{}: {{kind: clos, m: 2048, n: 1, r: 256, host_link: {{rate: 1Gbps}}, fabric_link: {{rate: 1Gbps}}}}\n", i);
  const auto testbed = parse_testbed(text, "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_EQ(testbed.error().size(), 1u);
  const std::string said = to_string(testbed.error()[0]);
  EXPECT_NE(said.find("t.yaml:4:"), std::string::npos)
      << "two of 1,048,832 links each are more than 2,000,000: " << said;
  EXPECT_NE(said.find("or 2000000 links"), std::string::npos) << said;
}

}  // namespace
}  // namespace softspine::control
