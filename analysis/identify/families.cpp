// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/families.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <unordered_map>

#include "control/rows/row_formats.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/hashing/ovs_buckets.hpp"

namespace softspine::analysis {

namespace dp = dataplane;
using dp::HashAlgorithmRow;
using dp::HashConfig;
using dp::HashField;
using dp::HashModel;

namespace {

constexpr std::array kUsual{control::HashField::kSrcIp,      control::HashField::kDstIp,
                            control::HashField::kL4SrcPort,  control::HashField::kL4DstPort,
                            control::HashField::kIpProtocol, control::HashField::kRdmaBthDestQp};

bool has(const FieldList& set, control::HashField field) {
  return std::ranges::find(set, field) != set.end();
}

bool is_usual(control::HashField field) {
  return std::ranges::find(kUsual, field) != kUsual.end();
}

bool is_address(control::HashField field) {
  using enum control::HashField;
  constexpr std::array kAddresses{kSrcIp, kDstIp, kSrcIpv4, kDstIpv4, kSrcIpv6, kDstIpv6};
  return std::ranges::find(kAddresses, field) != kAddresses.end();
}

// An address counts under each of its names.
bool takes(const FieldList& set, FlowPart part) {
  using enum control::HashField;
  if (part == FlowPart::kSource) return has(set, kSrcIp) || has(set, kSrcIpv4) || has(set, kSrcIpv6);
  if (part == FlowPart::kDestination) return has(set, kDstIp) || has(set, kDstIpv4) || has(set, kDstIpv6);
  return has(set, field_of(part));
}

uint32_t rarity_of_fields(const FieldList& set) {
  using enum FlowPart;
  uint32_t out = takes(set, kQp) ? 1 : 0;
  for (const FlowPart part : {kSource, kDestination, kSourcePort, kDestinationPort, kProtocol})
    out += takes(set, part) ? 0 : 2;
  for (const control::HashField field : set) {
    if (!is_usual(field)) out += is_address(field) ? 1 : 3;
  }
  return out;
}

// A digest of numbers that are the same for all of a family.
uint64_t digest_of(const std::vector<uint64_t>& values) {
  uint64_t out = values.size();
  for (const uint64_t value : values) out = (std::rotl(out, 23) ^ value) * 0x9E3779B97F4A7C15;
  return out;
}

// Ways of making a key from the same fields: of a model, by an option of RTAG7, for algorithms of one shape.
struct Keying {
  control::HashConfig config;
  std::vector<dp::HashAlgorithm> algorithms;
};

std::vector<std::optional<dp::Rtag7Config>> options_of(control::HashModel model, bool is_ipv6) {
  std::vector<std::optional<dp::Rtag7Config>> out{std::nullopt};
  if (model != control::HashModel::kRtag7) return out;
  for (uint32_t which = 1; which < (is_ipv6 ? 8U : 4U); ++which) {
    dp::Rtag7Config& made = out.emplace_back().emplace();
    made.a.pre_processing = (which & 1) != 0;
    made.a.symmetric = (which & 2) != 0;
    made.a.low_ipv6 = (which & 4) != 0;
  }
  return out;
}

bool is_same(const FieldList& set, std::initializer_list<control::HashField> fields) {
  return set.size() == fields.size() &&
         std::ranges::all_of(fields, [&](control::HashField field) { return has(set, field); });
}

// Linux's policies that hash these fields, and those of the packet inside of a tunnel where there is none.
std::vector<uint8_t> linux_policies(const FieldList& set, bool is_ipv6) {
  using enum control::HashField;
  constexpr std::array kOfThree{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kIpv6FlowLabel};
  const bool is_of_nought =
      is_ipv6 ? is_same(set, {kSrcIp, kDstIp, kIpProtocol, kIpv6FlowLabel}) : is_same(set, {kSrcIp, kDstIp});
  const auto is_of_three = [&](control::HashField field) {
    return std::ranges::find(kOfThree, field) != kOfThree.end();
  };
  const std::array hashes{is_of_nought, is_same(set, {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}),
                          is_of_nought, std::ranges::all_of(set, is_of_three)};
  std::vector<uint8_t> out;
  for (uint8_t policy = 0; policy < hashes.size(); ++policy) {
    if (hashes[policy]) out.push_back(policy);
  }
  return out;
}

// Open vSwitch takes another hash for such a group.
bool is_too_large_for_ovs(uint32_t members) {
  return dp::ovs_hash_values(std::vector<uint32_t>(members, 1)) > dp::kMaxOvsHashValues;
}

void add_hosts(std::vector<Keying>& out, const FieldList& set, bool is_ipv6) {
  using enum control::HashField;
  control::HashConfig config{
      .model = control::HashModel::kLinux, .algorithm = dp::HashAlgorithm::kSiphash, .fields = set};
  for (const uint8_t policy : linux_policies(set, is_ipv6)) {
    config.linux_policy = policy;
    out.push_back({config, {config.algorithm}});
  }
  // For the other models, the algorithm decides what becomes of the 5-tuple.
  if (!is_same(set, {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol})) return;
  for (const dp::HashModelRow& model : dp::kHashModels) {
    if (!model.is_of_hosts || model.model == control::HashModel::kLinux) continue;
    for (const HashAlgorithmRow& row : dp::kHashAlgorithms) {
      if (row.is_in(model.model))
        out.push_back({{.model = model.model, .algorithm = row.algorithm, .fields = set}, {row.algorithm}});
    }
  }
}

// For a chip's model.
void add_keyings(std::vector<Keying>& out, control::HashConfig config, bool is_ipv6) {
  const control::HashModel model = config.model;
  std::map<dp::KeyShape, std::vector<dp::HashAlgorithm>> by_shape;
  for (const HashAlgorithmRow& row : dp::kHashAlgorithms) {
    config.algorithm = row.algorithm;
    if (row.is_in(model) && !row.is_drawn) by_shape[shape_of(config)].push_back(row.algorithm);
  }
  for (const auto& [shape, algorithms] : by_shape) {
    config.algorithm = algorithms.front();
    if (shape == dp::KeyShape::kBins && dp::KeyLayout::user_bytes(config, is_ipv6) > dp::KeyLayout::kUserBinBytes)
      continue;
    for (const auto& options : options_of(model, is_ipv6)) {
      config.rtag7 = options;
      out.push_back({config, algorithms});
    }
    config.rtag7.reset();
  }
}

std::vector<Keying> keyings_of(const FieldList& set, bool is_ipv6) {
  std::vector<Keying> out;
  for (const dp::HashModelRow& row : dp::kHashModels) {
    if (!row.is_of_hosts) add_keyings(out, {.model = row.model, .fields = set}, is_ipv6);
  }
  if (std::ranges::all_of(set, is_usual))
    add_keyings(out, {.model = control::HashModel::kSai, .fields = set, .symmetric = true}, is_ipv6);
  add_hosts(out, set, is_ipv6);
  return out;
}

class Collection {
 public:
  explicit Collection(const Sample& sample) : sample_(sample) {}

  void add(const Keying& keying) {
    std::vector<dp::HashKey> keys(sample_.size());
    const dp::EcmpHash hash{keying.config};
    for (size_t i = 0; i < keys.size(); ++i) hash.build(sample_.frames[i].view(), keys[i]);
    for (const dp::HashAlgorithm algorithm : keying.algorithms) {
      control::HashConfig config = keying.config;
      config.algorithm = algorithm;
      if (row_of(algorithm).seed == dp::SeedEffect::kMixing) {
        add_mixing(config, keys);
      } else {
        add_linear(config, keys);
      }
    }
  }
  std::vector<Family> take() && { return std::move(families_); }

 private:
  void add_linear(const control::HashConfig& config, const std::vector<dp::HashKey>& keys) {
    Family family{.configs = {config}, .width = row_of(config.algorithm).bits_in(config.model), .is_linear = true};
    const dp::EcmpHash hash{config};
    std::vector<uint64_t> same{family.width};
    for (const dp::HashKey& key : keys) {
      family.raw.push_back(hash.raw(key));
      same.push_back(family.raw.back() ^ family.raw.front());
    }
    add(std::move(family), same);
  }
  // The same number for the same value.
  template <typename Value>
  static std::vector<uint32_t> numbered(const std::vector<Value>& values) {
    std::vector<Value> sorted = values;
    std::ranges::sort(sorted);
    std::vector<uint32_t> out;
    for (const Value& value : values)
      out.push_back(static_cast<uint32_t>(std::ranges::lower_bound(sorted, value) - sorted.begin()));
    return out;
  }
  void add_mixing(const control::HashConfig& config, const std::vector<dp::HashKey>& keys) {
    std::vector<uint64_t> same{static_cast<uint64_t>(config.algorithm), static_cast<uint64_t>(config.model),
                               config.linux_policy == 3};  // which hashes its hash
    for (const dp::HashKey& key : keys) same.insert(same.end(), key.words.begin(), key.words.begin() + key.count);
    add({.configs = {config}, .width = row_of(config.algorithm).bits_in(config.model), .raw = {}, .keys = keys}, same);
  }
  static std::vector<uint32_t> alike(const Family& family) {
    if (family.is_linear) return numbered(family.raw);
    std::vector<uint64_t> digests;
    for (const dp::HashKey& key : family.keys)
      digests.push_back(digest_of({key.words.begin(), key.words.begin() + key.count}));
    return numbered(digests);
  }
  void add(Family family, const std::vector<uint64_t>& same) {
    const auto [it, is_new] = known_.try_emplace(digest_of(same), families_.size());
    if (is_new) {
      family.alike = alike(family);
      families_.push_back(std::move(family));
    } else {
      families_[it->second].configs.push_back(family.configs.front());
    }
  }

  const Sample& sample_;
  std::vector<Family> families_;
  std::unordered_map<uint64_t, size_t> known_;
};

// The 5-tuple with the QP, or without one of its fields.
constexpr uint32_t kLikely = 2;

std::vector<FieldList> usual_sets() {
  std::vector<FieldList> out;
  for (uint32_t which = 1; which < 1U << kUsual.size(); ++which) {
    FieldList& set = out.emplace_back();
    for (size_t i = 0; i < kUsual.size(); ++i) {
      if ((which >> i & 1) != 0) set.push_back(kUsual[i]);
    }
  }
  return out;
}

// No field, each, and each two of the fields that are not usual.
std::vector<FieldList> additions() {
  std::vector<control::HashField> others;
  for (const auto& [word, field] : control::Words<control::HashField>::all) {
    if (!is_usual(field) && !is_address(field)) others.push_back(field);
  }
  std::vector<FieldList> out{{}};
  for (size_t i = 0; i < others.size(); ++i) {
    out.push_back({others[i]});
    for (size_t j = i + 1; j < others.size(); ++j) out.push_back({others[i], others[j]});
  }
  return out;
}

// Addresses of any version in the usual sets, or of the flows' version only.
std::vector<FieldList> with_addresses_of_version(bool is_ipv6) {
  std::vector<FieldList> out;
  for (const FieldList& usual : usual_sets()) {
    for (uint32_t replaced = 0; replaced < 4; ++replaced) {
      if ((replaced & 1) > has(usual, control::HashField::kSrcIp) ||
          replaced >> 1 > has(usual, control::HashField::kDstIp))
        continue;
      FieldList& set = out.emplace_back(usual);
      if ((replaced & 1) != 0)
        std::ranges::replace(set, control::HashField::kSrcIp,
                             is_ipv6 ? control::HashField::kSrcIpv6 : control::HashField::kSrcIpv4);
      if ((replaced & 2) != 0)
        std::ranges::replace(set, control::HashField::kDstIp,
                             is_ipv6 ? control::HashField::kDstIpv6 : control::HashField::kDstIpv4);
    }
  }
  return out;
}

std::vector<FieldList> further_sets(bool is_ipv6) {
  std::vector<FieldList> out;
  const std::vector<FieldList> added = additions();
  for (const FieldList& set : with_addresses_of_version(is_ipv6)) {
    for (const FieldList& more : added) {
      if (more.empty() && std::ranges::all_of(set, is_usual)) continue;
      FieldList& whole = out.emplace_back(set);
      whole.insert(whole.end(), more.begin(), more.end());
    }
  }
  return out;
}

// The part that a symmetric hash takes in its place in one of both directions.
FlowPart mirror_of(FlowPart part) {
  switch (part) {
    case FlowPart::kSource: return FlowPart::kDestination;
    case FlowPart::kDestination: return FlowPart::kSource;
    case FlowPart::kSourcePort: return FlowPart::kDestinationPort;
    case FlowPart::kDestinationPort: return FlowPart::kSourcePort;
    default: return part;
  }
}

bool explains(const FieldList& set, const std::set<FlowPart>& proven, bool is_symmetric) {
  return std::ranges::all_of(
      proven, [&](FlowPart part) { return takes(set, part) || (is_symmetric && takes(set, mirror_of(part))); });
}

}  // namespace

std::vector<FieldList> field_sets(FieldTier tier, const std::set<FlowPart>& proven, bool is_ipv6) {
  using enum control::HashField;
  // The fields that a Linux router hashes of IPv6 by default: unusual fields, but no unusual hash.
  const FieldList of_linux{kSrcIp, kDstIp, kIpProtocol, kIpv6FlowLabel};
  std::vector<FieldList> sets = tier == FieldTier::kFurther ? further_sets(is_ipv6) : usual_sets();
  if (tier == FieldTier::kLikely && is_ipv6) sets.push_back(of_linux);
  std::vector<FieldList> out;
  for (FieldList& set : sets) {
    const bool is_likely = rarity_of_fields(set) <= kLikely || set == of_linux;
    const bool is_of_tier = tier == FieldTier::kFurther ? set != of_linux : is_likely == (tier == FieldTier::kLikely);
    if (is_of_tier && explains(set, proven, true)) out.push_back(std::move(set));
  }
  std::ranges::stable_sort(out, {}, [](const FieldList& set) { return rarity_of_fields(set); });
  return out;
}

uint32_t rarity(const control::HashConfig& config) {
  uint32_t out = 4 * rarity_of_fields(config.fields);
  if (config.rtag7) {
    const dp::Rtag7Options& options = config.rtag7->a;
    out += 8 + 4 * (options.pre_processing + options.symmetric + options.low_ipv6);
  }
  if (config.symmetric) out += 12;
  if (dp::row_of(config.algorithm).is_of_hosts()) out += 6;
  return out + (config.seed != 0 ? 1 : 0) + (config.offset != 0 ? 1 : 0);
}

std::vector<Family> families_of(const Sample& sample, const std::vector<FieldList>& sets,
                                const std::set<FlowPart>& proven) {
  Collection out{sample};
  for (const FieldList& set : sets) {
    for (const Keying& keying : keyings_of(set, sample.is_ipv6)) {
      if (keying.config.model == control::HashModel::kOvs && is_too_large_for_ovs(sample.members)) continue;
      const bool is_symmetric = keying.config.symmetric || (keying.config.rtag7 && keying.config.rtag7->a.symmetric) ||
                                dp::row_of(keying.config.algorithm).is_of_hosts();
      if (explains(set, proven, is_symmetric)) out.add(keying);
    }
  }
  return std::move(out).take();
}

}  // namespace softspine::analysis
