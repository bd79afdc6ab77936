// SPDX-License-Identifier: Apache-2.0
// The profile that is written is the hash that was found, when a testbed reads it.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/identify/families.hpp"
#include "analysis/identify/identify_report.hpp"
#include "control/load/load.hpp"
#include "control/rows/row_formats.hpp"

namespace softspine::tests {
namespace {

using namespace std::string_literals;

using analysis::Identification;
using dataplane::HashConfig;

Identification identified(const HashConfig& config) {
  Identification out{.verdict = analysis::IdentifyVerdict::kIdentified, .links = {"a", "b"}, .members = 3, .flows = 64};
  out.classes.push_back({{{config, {.agreeing = 63, .of_bucket = {1, analysis::kUnknownLink, 0}}}}});
  out.chance = -100;
  return out;
}

HashConfig loaded(const std::string& profile) {
  const auto testbed = control::parse_testbed(
      "name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
      "fabric_link: "
      "{rate: 100Gbps}}\nroles: {tor: mine}\n" +
          profile,
      "t.yaml");
  if (!testbed) {
    ADD_FAILURE() << to_string(testbed.error().front()) << "\n" << profile;
    return {};
  }
  const auto found = std::ranges::find(testbed->profiles, "mine", &control::Profile::name);
  return found->hash;
}

TEST(IdentifyReport, WritesAProfileThatATestbedReadsAsTheSameHash) {
  size_t read = 0;
  for (const auto& [word, model] : control::Words<dataplane::HashModel>::all) {
    if (model == dataplane::HashModel::kLinux || model == dataplane::HashModel::kOvs) continue;  // model/identify
    for (const dataplane::HashAlgorithmRow& row : dataplane::kHashAlgorithms) {
      if (!row.is_in(model) || row.is_drawn) continue;
      for (const auto& fields : analysis::field_sets(analysis::FieldTier::kLikely, {}, false)) {
        HashConfig config{
            .model = model, .algorithm = row.algorithm, .fields = fields, .seed = 4'000'000'000, .offset = 9};
        if (model == dataplane::HashModel::kRtag7) {
          config.rtag7.emplace();
          config.rtag7->a.pre_processing = true;
        }
        const HashConfig again = loaded(profile_yaml(identified(config), "mine"));
        EXPECT_EQ(again.model, model);
        EXPECT_EQ(again.algorithm, row.algorithm);
        EXPECT_EQ(again.fields, fields);
        EXPECT_EQ(again.seed, config.seed);
        EXPECT_EQ(again.offset, 9);
        EXPECT_EQ(again.rtag7.has_value() && again.rtag7->a.pre_processing, config.rtag7.has_value());
        ++read;
      }
    }
  }
  EXPECT_GT(read, 100u);
}

// Eight others at most are shown; the rest is a number.
TEST(IdentifyReport, TellsWhichHashesAreTheSameForSuchFlows) {
  Identification found = identified({.algorithm = dataplane::HashAlgorithm::kXxh3, .seed = 9});
  EXPECT_EQ(identification_text(found).find("for such flows the same"), std::string::npos);
  auto& all = found.classes.front().hypotheses;
  const auto lines = [&] {
    const std::string text = identification_text(found);
    EXPECT_NE(text.find("  for such flows the same:\n"), std::string::npos);
    std::string out;
    for (size_t at = text.find("\n    "); at != std::string::npos; at = text.find("\n    ", at + 1))
      out += text.substr(at + 5, 1) == "\u2026"s.substr(0, 1) ? "+" : ".";
    return out;
  };
  const auto others = [&](size_t count) {
    while (all.size() < count + 1) {
      all.push_back(all.front());
      all.back().config.seed = static_cast<uint32_t>(all.size());
    }
    return lines();
  };
  EXPECT_EQ(others(1), ".");
  EXPECT_EQ(others(8), "........");
  EXPECT_EQ(others(9), "........+");
  EXPECT_NE(identification_text(found).find("\u2026 1 more\n"), std::string::npos);
}

// What was found before is neither sure nor for lack of flows, and what was not found may be there.
TEST(IdentifyReport, TellsThatAnInterruptedSearchIsNotOver) {
  Identification found = identified({.algorithm = dataplane::HashAlgorithm::kXxh3, .seed = 9});
  found.verdict = analysis::IdentifyVerdict::kIndistinguishable;
  found.is_ended = true;
  EXPECT_TRUE(identification_text(found).starts_with(
      "interrupted: not all hashes were tried\nindistinguishable: one hash fits, and others may\n  so far SAI XXH3"))
      << identification_text(found);
  found.chance = 0;
  EXPECT_NE(identification_text(found).find("64 flows are too few: chance explains as much"), std::string::npos);
  found.classes.clear();
  found.verdict = analysis::IdentifyVerdict::kNothingFits;
  EXPECT_EQ(identification_text(found),
            "interrupted: not all hashes were tried\nnothing has fitted 64 flows on a group of 3\n");
  found.is_ended = false;
  EXPECT_TRUE(identification_text(found).starts_with("nothing fits 64 flows on a group of 3: another hash, "));
}

TEST(IdentifyReport, TellsTheHashTheMembersAndWhatIsNotKnown) {
  Identification found = identified({.algorithm = dataplane::HashAlgorithm::kCrc32Lo, .seed = 7, .offset = 2});
  found.constant = {analysis::FlowPart::kVlan};
  const std::string text = identification_text(found);
  EXPECT_NE(text.find("identified: 63 of 64 flows agree; by chance less often than once in 10^30"), std::string::npos)
      << text;
  EXPECT_NE(text.find("SAI CRC_32LO, seed 7, offset 2, of SRC_IP, DST_IP, IP_PROTOCOL"), std::string::npos) << text;
  EXPECT_NE(text.find("members by bucket: b ? a  (?: 1 that no flow has met)"), std::string::npos) << text;
  EXPECT_NE(text.find("whether VLAN_ID counts"), std::string::npos) << text;
  const control::Json json = identification_json(found);
  EXPECT_EQ(json["verdict"], "identified");
  EXPECT_EQ(json["classes"][0]["members"].dump(), R"(["b",null,"a"])");
  EXPECT_EQ(json["classes"][0]["hash"]["seed"], 7);
  EXPECT_EQ(json["did_not_vary"].dump(), R"(["VLAN_ID"])");
}

TEST(IdentifyReport, TellsWhetherFlowsOneWayShowThatAHashIsSymmetric) {
  constexpr const char* kNotTold = "whether the hash is symmetric";
  Identification found = identified({});
  EXPECT_EQ(identification_text(found).find(kNotTold), std::string::npos);
  found.one_way = true;
  EXPECT_NE(identification_text(found).find(kNotTold), std::string::npos);
  found.classes.front().hypotheses.push_back(found.classes.front().hypotheses.front());
  found.classes.front().hypotheses.front().config.symmetric = true;
  EXPECT_NE(identification_text(found).find(kNotTold), std::string::npos);
  found.classes.front().hypotheses.back().config.symmetric = true;
  EXPECT_EQ(identification_text(found).find(kNotTold), std::string::npos);
}

TEST(IdentifyReport, TellsWhyItIsNotSure) {
  Identification found = identified({});
  found.verdict = analysis::IdentifyVerdict::kIndistinguishable;
  found.chance = -3;
  EXPECT_NE(identification_text(found).find("too few"), std::string::npos);
  found.classes.push_back(found.classes.front());
  EXPECT_NE(identification_text(found).find("2 kinds of hashes fit"), std::string::npos);
  found.classes.clear();
  found.verdict = analysis::IdentifyVerdict::kNothingFits;
  EXPECT_NE(identification_text(found).find("nothing fits 64 flows on a group of 3"), std::string::npos);
}

}  // namespace
}  // namespace softspine::tests
