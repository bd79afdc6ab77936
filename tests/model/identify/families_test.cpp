// SPDX-License-Identifier: Apache-2.0
// The hashes among which the search chooses, against lists that are written out: which sets of fields there are, which
// hashes of a set, and which of them a sample cannot tell apart.
#include "analysis/identify/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/identify/identify_report.hpp"
#include "analysis/identify/probes.hpp"
#include "control/rows/row_formats.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/identify/switch_under_test.hpp"

namespace softspine::tests {
namespace {

using analysis::Family;
using analysis::FieldList;
using analysis::FieldTier;
using analysis::FlowPart;
using dataplane::HashConfig;
using dataplane::HashField;
using dataplane::HashModel;
using dataplane::Rng;
using enum HashField;

const FieldList kFiveTuple{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol};
const FieldList kOfLinux{kSrcIp, kDstIp, kIpProtocol, kIpv6FlowLabel};
const std::set<HashField> kUsual{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kRdmaBthDestQp};
const std::set<HashField> kAddresses{kSrcIp, kDstIp, kSrcIpv4, kDstIpv4, kSrcIpv6, kDstIpv6};

std::set<HashField> as_set(const FieldList& list) {
  return {list.begin(), list.end()};
}

// All six sets of usual fields: 63. Further ones: addresses of any or of one version, 3 · 3 ways, four usual fields
// more, 2^4, without the empty set; with none, one or two of n others; but not the 63, and not Linux's.
TEST(FieldSets, AreAllOnceEachInOneTier) {
  size_t others = 0;
  for (const auto& [word, field] : control::Words<HashField>::all)
    others += !kUsual.contains(field) && !kAddresses.contains(field) ? 1 : 0;
  ASSERT_GE(others, 7u);
  for (const bool is_ipv6 : {false, true}) {
    std::map<FieldTier, size_t> counts;
    std::set<std::set<HashField>> all;
    for (const FieldTier tier : analysis::kFieldTiers) {
      for (const FieldList& set : field_sets(tier, {}, is_ipv6)) {
        EXPECT_EQ(as_set(set).size(), set.size()) << "a field stands twice";
        EXPECT_TRUE(all.insert(as_set(set)).second) << "a set is tried twice";
        EXPECT_FALSE(as_set(set).contains(is_ipv6 ? kSrcIpv4 : kSrcIpv6));
        EXPECT_FALSE(as_set(set).contains(is_ipv6 ? kDstIpv4 : kDstIpv6));
        ++counts[tier];
      }
    }
    // The 5-tuple, with the QP, and without one of its five fields; of IPv6 also Linux's.
    EXPECT_EQ(counts[FieldTier::kLikely], is_ipv6 ? 8u : 7u);
    EXPECT_EQ(counts[FieldTier::kLikely] + counts[FieldTier::kUsual], is_ipv6 ? 64u : 63u);
    EXPECT_EQ(counts[FieldTier::kFurther], (3 * 3 * 16 - 1) * (1 + others + others * (others - 1) / 2) - 63 - 1);
    EXPECT_EQ(all.contains(as_set(kOfLinux)), is_ipv6);
    for (const auto& [field, only] : {std::pair{kVlanId, false}, std::pair{is_ipv6 ? kSrcIpv6 : kSrcIpv4, true}}) {
      std::set<HashField> set = as_set(kFiveTuple);
      if (only) set.erase(kSrcIp);
      set.insert(field);
      EXPECT_TRUE(all.contains(set));
    }
  }
}

TEST(FieldSets, ComeWithTheMostUsualFirst) {
  for (const bool is_ipv6 : {false, true}) {
    for (const FieldTier tier : analysis::kFieldTiers) {
      uint32_t before = 0;
      for (const FieldList& set : field_sets(tier, {}, is_ipv6)) {
        const uint32_t now = analysis::rarity(HashConfig{.fields = set});
        EXPECT_GE(now, before);
        before = now;
      }
    }
  }
  EXPECT_EQ(as_set(field_sets(FieldTier::kLikely, {}, false).front()), as_set(kFiveTuple));
}

// Who is told of a part takes it by any of its names, or in a symmetric hash its counterpart.
TEST(FieldSets, TakeWhatIsProven) {
  struct Case {
    FlowPart part;
    std::set<HashField> fields;
  };
  const std::set<HashField> addresses{kSrcIp, kDstIp, kSrcIpv4, kDstIpv4};
  std::map<FieldTier, std::vector<FieldList>> all;
  for (const FieldTier tier : analysis::kFieldTiers) all[tier] = field_sets(tier, {}, false);
  for (const auto& [part, fields] :
       {Case{FlowPart::kSource, addresses}, Case{FlowPart::kDestination, addresses},
        Case{FlowPart::kSourcePort, {kL4SrcPort, kL4DstPort}},
        Case{FlowPart::kDestinationPort, {kL4SrcPort, kL4DstPort}}, Case{FlowPart::kProtocol, {kIpProtocol}},
        Case{FlowPart::kQp, {kRdmaBthDestQp}}, Case{FlowPart::kOpcode, {kRdmaBthOpcode}},
        Case{FlowPart::kFlowLabel, {kIpv6FlowLabel}}, Case{FlowPart::kInPort, {kInPort}},
        Case{FlowPart::kVlan, {kVlanId}}}) {
    for (const FieldTier tier : analysis::kFieldTiers) {
      std::vector<FieldList> expected = all[tier];
      std::erase_if(expected, [&](const FieldList& set) {
        return std::ranges::none_of(set, [&](HashField field) { return fields.contains(field); });
      });
      EXPECT_EQ(field_sets(tier, {part}, false), expected) << static_cast<int>(part);
    }
  }
}

TEST(Rarity, AddsUpWhatIsUnusual) {
  EXPECT_EQ(analysis::rarity({}), 0u);
  EXPECT_EQ(analysis::rarity({.seed = 9}), 1u);
  EXPECT_EQ(analysis::rarity({.offset = 9}), 1u);
  EXPECT_EQ(analysis::rarity({.symmetric = true}), 12u);
  const auto of_fields = [](FieldList fields) { return analysis::rarity({.fields = std::move(fields)}); };
  EXPECT_EQ(of_fields({kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kRdmaBthDestQp}), 4u);
  for (const HashField field : kFiveTuple) {
    FieldList without = kFiveTuple;
    std::erase(without, field);
    EXPECT_EQ(of_fields(without), 8u);
  }
  EXPECT_EQ(of_fields({kSrcIpv4, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}), 4u);
  EXPECT_EQ(of_fields({kSrcIpv6, kDstIpv6, kL4SrcPort, kL4DstPort, kIpProtocol}), 8u);
  EXPECT_EQ(of_fields({kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kVlanId}), 12u);
  for (int options = 0; options < 8; ++options) {
    HashConfig rtag7{.model = HashModel::kRtag7, .rtag7 = dataplane::Rtag7Config{}};
    rtag7.rtag7->a.pre_processing = (options & 1) != 0;
    rtag7.rtag7->a.symmetric = (options & 2) != 0;
    rtag7.rtag7->a.low_ipv6 = (options & 4) != 0;
    EXPECT_EQ(analysis::rarity(rtag7), 8u + 4 * static_cast<uint32_t>(std::popcount(static_cast<uint32_t>(options))));
  }
  EXPECT_EQ(analysis::rarity({.model = HashModel::kOvs, .algorithm = dataplane::HashAlgorithm::kOvsL4}), 6u);
}

// What a profile may say of hashes of these fields, as its lines.
class AllHashes {
 public:
  AllHashes(FieldList fields, bool is_ipv6, uint32_t members) : fields_(std::move(fields)), is_ipv6_(is_ipv6) {
    for (const dataplane::HashAlgorithmRow& row : dataplane::kHashAlgorithms) {
      if (row.is_drawn) continue;
      add_of_chips(row);
      // Open vSwitch deals 256 values out at most: to 256 members.
      if (row.is_in(HashModel::kOvs) && is({kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}) && members <= 256)
        add({.model = HashModel::kOvs, .algorithm = row.algorithm}, true);
    }
    // Policies 0 and 2 take the addresses (of IPv6 what Linux makes of a flow), 1 the 5-tuple, 3 what it is told.
    const bool is_of_nought = is_ipv6 ? is(kOfLinux) : is({kSrcIp, kDstIp});
    const auto is_told = [](HashField field) { return as_set(kFiveTuple).contains(field) || field == kIpv6FlowLabel; };
    for (const auto& [policy, fits] :
         {std::pair{0, is_of_nought}, std::pair{1, is(kFiveTuple)}, std::pair{2, is_of_nought},
          std::pair{3, std::ranges::all_of(fields_, is_told)}}) {
      if (!fits) continue;
      add({.model = HashModel::kLinux,
           .algorithm = dataplane::HashAlgorithm::kSiphash,
           .linux_policy = static_cast<uint8_t>(policy)},
          true);
    }
  }
  // Lines of those that are symmetric, or of all.
  std::multiset<std::string> lines(bool symmetric_only) const {
    std::multiset<std::string> out;
    for (const auto& [line, is_symmetric] : lines_) {
      if (!symmetric_only || is_symmetric) out.insert(line);
    }
    return out;
  }

 private:
  bool is(const FieldList& fields) const { return as_set(fields_) == as_set(fields); }
  void add(HashConfig config, bool is_symmetric) {
    config.fields = fields_;
    lines_.emplace_back(analysis::hash_yaml(config), is_symmetric);
  }
  void add_of_chips(const dataplane::HashAlgorithmRow& row) {
    const auto is_usual = [](HashField field) { return kUsual.contains(field); };
    if (row.is_in(HashModel::kSai)) {
      add({.algorithm = row.algorithm}, false);
      if (std::ranges::all_of(fields_, is_usual)) add({.algorithm = row.algorithm, .symmetric = true}, true);
    }
    for (uint32_t options = 0; row.is_in(HashModel::kRtag7) && options < (is_ipv6_ ? 8u : 4u); ++options) {
      HashConfig rtag7{.model = HashModel::kRtag7, .algorithm = row.algorithm};
      if (options != 0) rtag7.rtag7.emplace();
      if (options != 0) rtag7.rtag7->a.pre_processing = (options & 1) != 0;
      if (options != 0) rtag7.rtag7->a.symmetric = (options & 2) != 0;
      if (options != 0) rtag7.rtag7->a.low_ipv6 = (options & 4) != 0;
      add(rtag7, (options & 2) != 0);
    }
  }

  FieldList fields_;
  bool is_ipv6_;
  std::vector<std::pair<std::string, bool>> lines_;
};

analysis::Sample sample_of_probes(bool is_ipv6, uint32_t members) {
  Rng rng{seed(), 61};
  analysis::Observations seen{.links = {"a", "b"}, .flows = {}};
  for (analysis::Flow flow : analysis::first_probes(40, {}, 1)) {
    flow.vlan = static_cast<uint16_t>(rng.below(4));
    flow.is_ipv6 = is_ipv6;
    if (is_ipv6) flow.flow_label = static_cast<uint32_t>(rng.below(1 << 20));
    for (size_t i = 4; is_ipv6 && i < 16; ++i) flow.source[i] = static_cast<uint8_t>(rng.below(256));
    seen.flows.push_back({flow, static_cast<uint32_t>(rng.below(2))});
  }
  return analysis::sample_of(seen, members);
}

std::multiset<std::string> lines_of(const std::vector<Family>& families) {
  std::multiset<std::string> out;
  for (const Family& family : families) {
    for (const HashConfig& config : family.configs) out.insert(analysis::hash_yaml(config));
  }
  return out;
}

const std::vector<FieldList> kSomeSets{
    kFiveTuple, {kSrcIp, kDstIp}, {kDstIp, kL4SrcPort}, {kSrcIp, kRdmaBthDestQp}, {kSrcIp, kDstIp, kVlanId}, kOfLinux};

TEST(Families, AreOfAllHashesThatTakeTheFields) {
  for (const bool is_ipv6 : {false, true}) {
    for (const FieldList& set : kSomeSets) {
      for (const uint32_t members : {8U, 256U, 257U}) {
        const auto found = families_of(sample_of_probes(is_ipv6, members), {set}, {});
        EXPECT_EQ(lines_of(found), AllHashes(set, is_ipv6, members).lines(false)) << members << is_ipv6 << set.size();
      }
    }
  }
}

TEST(Families, OfFieldsOfTheOtherDirectionAreSymmetric) {
  const analysis::Sample sample = sample_of_probes(false, 8);
  const AllHashes all{{kSrcIp, kL4SrcPort}, false, 8};
  for (const FlowPart part : {FlowPart::kSource, FlowPart::kSourcePort})
    EXPECT_EQ(lines_of(families_of(sample, {{kSrcIp, kL4SrcPort}}, {part})), all.lines(false));
  for (const FlowPart part : {FlowPart::kDestination, FlowPart::kDestinationPort})
    EXPECT_EQ(lines_of(families_of(sample, {{kSrcIp, kL4SrcPort}}, {part})), all.lines(true));
  EXPECT_TRUE(families_of(sample, {{kSrcIp, kL4SrcPort}}, {FlowPart::kProtocol}).empty());
}

// What a sample sees of a hash: of a linear one what each flow's differs from the first's by, of others the keys.
std::vector<uint64_t> seen_of(const analysis::Sample& sample, const HashConfig& config) {
  const auto& row = dataplane::row_of(config.algorithm);
  const dataplane::EcmpHash hash{config};
  std::vector<uint64_t> out{row.bits_in(config.model)};
  const bool mixes = row.seed == dataplane::SeedEffect::kMixing;
  if (mixes) {
    out.push_back(static_cast<uint64_t>(config.algorithm) * 8 + static_cast<uint64_t>(config.model));
    out.push_back(config.linux_policy == 3);
  }
  uint64_t first = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    dataplane::HashKey key;
    hash.build(sample.frames[i].view(), key);
    if (i == 0 && !mixes) first = hash.raw(key);
    if (mixes) out.insert(out.end(), key.words.begin(), key.words.begin() + key.count);
    if (!mixes) out.push_back(hash.raw(key) ^ first);
  }
  return out;
}

TEST(Families, AreOfHashesThatTheSampleCannotTellApart) {
  const analysis::Sample sample = sample_of_probes(false, 8);
  const auto families = families_of(sample, kSomeSets, {});
  std::set<std::vector<uint64_t>> all;
  size_t shared = 0;
  for (const Family& family : families) {
    const auto seen = seen_of(sample, family.configs.front());
    EXPECT_TRUE(all.insert(seen).second) << analysis::hash_yaml(family.configs.front());
    for (const HashConfig& config : family.configs)
      EXPECT_EQ(seen_of(sample, config), seen) << analysis::hash_yaml(config);
    shared += family.configs.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(shared, 3u) << "XOR, at least, is blind to the order of fields";
}

// And which flows share what their hash is computed of, so that no seed parts them.
TEST(Families, TellWhichFlowsShareAHashOrKey) {
  const analysis::Sample sample = sample_of_probes(false, 8);
  for (const Family& family : families_of(sample, {kFiveTuple, {kSrcIp, kDstIp}}, {})) {
    const auto& row = dataplane::row_of(family.configs.front().algorithm);
    EXPECT_EQ(family.is_linear, row.seed == dataplane::SeedEffect::kLinear);
    EXPECT_EQ(family.width, row.bits_in(family.configs.front().model));
    EXPECT_EQ(family.offsets(), row.is_of_hosts() ? 1u : family.width);
    EXPECT_EQ(family.raw.size(), family.is_linear ? sample.size() : 0u);
    EXPECT_EQ(family.keys.size(), family.is_linear ? 0u : sample.size());
    ASSERT_EQ(family.alike.size(), sample.size());
    const auto is_shared = [&](size_t a, size_t b) {
      if (family.is_linear) return family.raw[a] == family.raw[b];
      const auto words_of = [](const dataplane::HashKey& key) { return std::span(key.words).first(key.count); };
      return std::ranges::equal(words_of(family.keys[a]), words_of(family.keys[b]));
    };
    for (size_t a = 0; a < sample.size(); ++a) {
      for (size_t b = 0; b < sample.size(); ++b) EXPECT_EQ(family.alike[a] == family.alike[b], is_shared(a, b));
    }
  }
}

}  // namespace
}  // namespace softspine::tests
