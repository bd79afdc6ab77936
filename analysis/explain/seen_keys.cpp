// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/seen_keys.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace softspine::analysis {

namespace {

constexpr size_t kMaxSeen = 32;  // each costs a hull and some thousand hashes

// The name that choosers share if their keys may be looked at together.
struct ChooserName {
  uint32_t function = 0;
  uint32_t words = 0;  // of the key
  uint32_t shape = 0;
  friend auto operator<=>(const ChooserName&, const ChooserName&) = default;
};

struct Gathered {
  std::vector<uint32_t> groups;  // one of each tier
  std::vector<KeyVector> keys;
};

// The choices of one sampled flow at the tiers; no groups if it did not come to all of them.
struct SampledWay {
  std::vector<ChooserName> name;
  std::vector<uint32_t> groups;
  KeyVector keys;
};
SampledWay way_of(const FlowChoices& choices, const FlowChoices::Sample& sample, const std::vector<uint32_t>& tiers) {
  SampledWay out;
  const auto met = choices.of(sample.flow);
  for (size_t i = 0; i < met.size(); ++i) {
    const LinkGroup& group = choices.groups[met[i].group];
    if (!group.is_hashed || std::ranges::find(tiers, group.tier) == tiers.end()) continue;
    const dataplane::HashKey& key = sample.keys[i];
    out.name.push_back({group.function, key.count, group.shape});
    out.groups.push_back(met[i].group);
    out.keys.insert(out.keys.end(), key.words.begin(), key.words.begin() + key.count);
  }
  if (out.groups.size() != tiers.size()) out.groups.clear();
  return out;
}

template <typename IsWanted>
std::vector<Seen> gathered(Walker& walker, const FlowChoices& choices, const std::vector<uint32_t>& tiers,
                           IsWanted&& is_wanted) {
  std::map<std::vector<ChooserName>, Gathered> by_name;
  for (const FlowChoices::Sample& sample : choices.samples) {
    SampledWay way = way_of(choices, sample, tiers);
    if (way.groups.empty() || !is_wanted(way)) continue;
    Gathered& place = by_name[way.name];
    if (place.groups.empty()) place.groups = way.groups;
    place.keys.push_back(std::move(way.keys));
  }
  std::vector<Seen> out;
  for (auto& [name, found] : by_name) {
    Seen& seen = out.emplace_back(Seen{.choosers = {}, .keys = found.keys});
    for (size_t i = 0; i < tiers.size(); ++i) {
      const LinkGroup& group = choices.groups[found.groups[i]];
      seen.choosers.push_back({&hash_of(walker, group), &group, name[i].words});
    }
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, [](const Seen& seen) { return seen.keys.size(); });
  if (out.size() > kMaxSeen) out.resize(kMaxSeen);
  return out;
}

// The flows that came to one switch have been sorted by those before it, so that the hull of its keys may hide what
// they have in common with the earlier choice: of two tiers, all keys of one layout are looked at.
void share_keys(std::vector<Seen>& of, const std::vector<Seen>& all) {
  constexpr size_t kEnough = 2'048;
  for (Seen& seen : of) {
    for (const Seen& other : all) {
      if (seen.keys.size() >= kEnough) break;
      const bool is_one_layout = std::ranges::equal(seen.choosers, other.choosers, have_the_same_key);
      const bool is_same =
          seen.choosers[0].group == other.choosers[0].group && seen.choosers[1].group == other.choosers[1].group;
      if (is_one_layout && !is_same) seen.keys.insert(seen.keys.end(), other.keys.begin(), other.keys.end());
    }
  }
}

}  // namespace

bool have_the_same_key(const Chooser& a, const Chooser& b) {
  const control::HashConfig& first = a.hash->config();
  const control::HashConfig& second = b.hash->config();
  const std::set<control::HashField> some(first.fields.begin(), first.fields.end());
  const std::set<control::HashField> others(second.fields.begin(), second.fields.end());
  const auto in_words = [](const control::HashConfig& hash) { return dataplane::row_of(hash.algorithm).in_words; };
  if (dataplane::row_of(first.model).is_of_hosts && first.algorithm != second.algorithm)
    return false;  // each has its own
  if (first.fine_grained != second.fine_grained || first.objects != second.objects ||
      first.symmetric != second.symmetric)
    return false;
  return a.words == b.words && first.model == second.model && first.linux_policy == second.linux_policy &&
         some == others && first.udfs == second.udfs && first.rtag7.has_value() == second.rtag7.has_value() &&
         in_words(first) == in_words(second);
}

std::vector<Seen> seen_at(Walker& walker, const FlowChoices& choices, const std::array<uint32_t, 2>& tiers,
                          const std::vector<FunctionPair>& functions) {
  const std::vector<uint32_t> both(tiers.begin(), tiers.end());
  const std::vector<Seen> all = gathered(walker, choices, both, [](const SampledWay&) { return true; });
  std::vector<Seen> out = all;
  if (!functions.empty())
    out = gathered(walker, choices, both, [&functions](const SampledWay& way) {
      return std::ranges::find(functions, FunctionPair{way.name[0].function, way.name[1].function}) != functions.end();
    });
  share_keys(out, all);
  return out;
}

std::vector<Seen> seen_in(Walker& walker, const FlowChoices& choices, uint32_t tier,
                          const std::vector<UnevenEcmpGroup>& groups) {
  return gathered(walker, choices, {tier}, [&groups](const SampledWay& way) {
    return groups.empty() || std::ranges::find(groups, way.groups[0], &UnevenEcmpGroup::group) != groups.end();
  });
}

}  // namespace softspine::analysis
