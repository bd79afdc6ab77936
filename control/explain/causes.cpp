// SPDX-License-Identifier: Apache-2.0
#include "control/explain/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "control/explain/dependence.hpp"
#include "control/explain/evenness.hpp"
#include "control/explain/explanation.hpp"
#include "control/explain/key_hull.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

constexpr uint32_t kHullKeys = 4'096;
constexpr double kNoAccident = 1e-6;
constexpr double kMattersTogether = 1.02;
constexpr double kMattersAlone = 0.01;

// The choice of one switch, as a function of its key.
struct Chooser {
  const dp::EcmpHash* hash = nullptr;
  const LinkGroup* group = nullptr;
  uint32_t words = 0;  // of its keys

  uint32_t buckets() const { return static_cast<uint32_t>(group->by_bucket.size()); }
  uint32_t hash_of(const KeyVector& from, size_t first) const {
    dp::HashKey key{};
    key.count = words;
    std::copy_n(from.begin() + static_cast<ptrdiff_t>(first), words, key.words.begin());
    return hash->of(key);
  }
  uint32_t link_of(const KeyVector& from, size_t first) const {
    return group->by_bucket[hash_of(from, first) % buckets()];
  }
  // Of what RTAG7 has beside one function, nothing is assumed.
  bool is_linear() const {
    return dp::row_of(hash->algorithm()).seed == dp::SeedEffect::kLinear && !hash->config().rtag7;
  }
  std::string size() const {
    return fmt::format("{} {}", buckets(), buckets() == group->links.size() ? "links" : "buckets");
  }
};

// The most frequent pair of choosers at one or two tiers, and the keys of the flows that met it.
struct Seen {
  std::vector<Chooser> choosers;
  std::vector<KeyVector> keys;  // of all choosers, one behind the other
};

class Sampled {
 public:
  Sampled(Walker& walker, const FlowChoices& choices) : walker_(walker), choices_(choices) {}

  std::optional<Seen> at(const std::vector<uint32_t>& tiers) {
    std::map<std::vector<std::pair<uint32_t, uint32_t>>, std::vector<KeyVector>> by_choosers;
    std::map<std::vector<std::pair<uint32_t, uint32_t>>, std::vector<uint32_t>> groups_of;
    for (const FlowChoices::Sample& sample : choices_.samples) {
      std::vector<std::pair<uint32_t, uint32_t>> name;  // (profile and length of the key, shape)
      std::vector<uint32_t> groups;
      KeyVector vector;
      const auto met = choices_.of(sample.flow);
      for (size_t i = 0; i < met.size(); ++i) {
        const LinkGroup& group = choices_.groups[met[i].group];
        if (std::ranges::find(tiers, group.tier) == tiers.end()) continue;
        const dp::HashKey& key = sample.keys[i];
        name.emplace_back(walker_.testbed().fabric.nodes[group.node].profile << 5 | key.count, group.shape);
        groups.push_back(met[i].group);
        vector.insert(vector.end(), key.words.begin(), key.words.begin() + key.count);
      }
      if (groups.size() != tiers.size()) continue;
      groups_of.emplace(name, groups);
      by_choosers[name].push_back(std::move(vector));
    }
    if (by_choosers.empty()) return std::nullopt;
    const auto most = std::ranges::max_element(by_choosers, {}, [](const auto& entry) { return entry.second.size(); });
    Seen out{.choosers = {}, .keys = most->second};
    for (size_t i = 0; i < tiers.size(); ++i) {
      const LinkGroup& group = choices_.groups[groups_of[most->first][i]];
      out.choosers.push_back({&walker_.state(group.node).hash, &group, most->first[i].first & 31});
    }
    return out;
  }

 private:
  Walker& walker_;
  const FlowChoices& choices_;
};

bool have_the_same_key(const HashConfig& a, const HashConfig& b) {
  const std::set<HashField> first(a.fields.begin(), a.fields.end());
  const std::set<HashField> second(b.fields.begin(), b.fields.end());
  return a.model == b.model && first == second && a.udfs == b.udfs;
}

bool do_depend(std::vector<DependenceTest::Item>& items) {
  DependenceTest test;
  test.add(items);
  const Dependence found = test.result(kNoAccident);
  return found.likely < kNoAccident && found.strength() > kMattersTogether;
}
bool depend_on(const std::vector<Chooser>& pair, size_t second_key, const std::vector<KeyVector>& keys) {
  std::vector<DependenceTest::Item> items;
  for (const KeyVector& key : keys) items.push_back({pair[0].link_of(key, 0), pair[1].link_of(key, second_key)});
  return do_depend(items);
}

// Of the bits that the later one's buckets are chosen by, how many are sums of bits that the earlier one's are: where
// the number of buckets is a multiple of 2^n, the hash's lowest n bits are such.
uint32_t shared_bits(const std::vector<Chooser>& pair, const KeyHull& hull) {
  if (!pair[0].is_linear() || !pair[1].is_linear()) return 0;
  const auto mask_of = [](const Chooser& chooser) { return (uint64_t{1} << std::countr_zero(chooser.buckets())) - 1; };
  std::vector<uint64_t> first;
  std::vector<uint64_t> second;
  std::vector<uint64_t> both;
  for (const KeyVector& direction : hull.basis()) {
    KeyVector there = hull.base();
    for (size_t i = 0; i < there.size(); ++i) there[i] ^= direction[i];
    const auto change = [&](const Chooser& chooser, size_t at) {
      return (chooser.hash_of(there, at) ^ chooser.hash_of(hull.base(), at)) & mask_of(chooser);
    };
    first.push_back(change(pair[0], 0));
    second.push_back(change(pair[1], pair[0].words));
    both.push_back(first.back() << 32 | second.back());
  }
  return rank_of(first) + rank_of(second) - rank_of(both);
}

class PairCause {
 public:
  explicit PairCause(const Seen& seen)
      : seen_(seen),
        first_(seen.choosers[0].hash->config()),
        second_(seen.choosers[1].hash->config()),
        hull_(seen.keys),
        hull_keys_(hull_.some(kHullKeys)),
        common_(std::gcd(seen.choosers[0].buckets(), seen.choosers[1].buckets())) {}

  bool is_by_hashes() const {
    if (depend_on(seen_.choosers, seen_.choosers[0].words, hull_keys_)) return true;
    return same_function_of_key() && common_ > 1;
  }

  Cause cause() const {
    const bool same_key = have_the_same_key(first_, second_);
    if (same_function_of_key() && common_ > 1) return alike();
    if (!depend_on(seen_.choosers, seen_.choosers[0].words, hull_keys_)) return by_keys();
    if (same_key && seen_.choosers[0].words == seen_.choosers[1].words && !depends_for_all_keys()) return by_keys();
    const bool same_algorithm = same_key && first_.algorithm == second_.algorithm && first_.key == second_.key &&
                                !first_.rtag7 && !second_.rtag7;
    if (same_algorithm && first_.offset == second_.offset) return seeds();
    if (same_algorithm && is_renamed()) return rotation();
    return by_shared_bits(same_algorithm);
  }

 private:
  // Known by what they compute.
  bool same_function_of_key() const {
    const uint32_t words = seen_.choosers[0].words;
    if (!have_the_same_key(first_, second_) || seen_.choosers[1].words != words) return false;
    return std::ranges::all_of(hull_keys_, [&](const KeyVector& key) {
      return std::equal(key.begin(), key.begin() + words, key.begin() + words) &&
             seen_.choosers[0].hash_of(key, 0) == seen_.choosers[1].hash_of(key, words);
    });
  }
  std::string sizes() const { return seen_.choosers[0].size() + " and " + seen_.choosers[1].size(); }
  std::string algorithm() const { return std::string(dp::row_of(first_.algorithm).word); }

  Cause alike() const {
    return {CauseKind::kAlike, fmt::format("both hash alike ({}), and {} have the factor {} in common",
                                           hash_words(first_), sizes(), common_)};
  }
  Cause seeds() const {
    const std::string begin = fmt::format(
        "only their seeds differ, and {} is linear: another seed adds the same number to every hash", algorithm());
    if (common_ % 2 == 0)
      return {CauseKind::kSeeds,
              fmt::format("{}, and with {} that gives the members other names, and parts no flows", begin, sizes())};
    return {CauseKind::kSeeds, fmt::format("{}, so small a one that {} still go together", begin, sizes())};
  }

  uint64_t renamed_factor() const {
    const uint64_t modulus = (uint64_t{1} << seen_.choosers[0].hash->width_bits()) - 1;
    return std::gcd(uint64_t{common_}, modulus);
  }
  Cause rotation() const {
    const uint32_t width = seen_.choosers[0].hash->width_bits();
    return {CauseKind::kRotation,
            fmt::format(
                "an offset rotates the hash, which multiplies it modulo 2^{0} − 1; {1} have the factor {2} in common "
                "with 2^{0} − 1, so that it gives the members other names, and parts no flows",
                width, sizes(), renamed_factor())};
  }

  // Whether the buckets modulo that factor go together: with other seeds, too, they need not.
  bool is_renamed() const {
    const auto factor = static_cast<uint32_t>(renamed_factor());
    if (factor < 2) return false;
    std::vector<DependenceTest::Item> items;
    for (const KeyVector& key : hull_keys_) {
      const uint32_t first = seen_.choosers[0].hash_of(key, 0) % seen_.choosers[0].buckets();
      const uint32_t second = seen_.choosers[1].hash_of(key, seen_.choosers[0].words) % seen_.choosers[1].buckets();
      items.push_back({first % factor, second % factor});
    }
    return do_depend(items);
  }

  Cause by_shared_bits(bool same_algorithm) const {
    const uint32_t shared = shared_bits(seen_.choosers, hull_);
    const std::string hashes = hash_words(first_) + "; " + hash_words(second_);
    if (shared > 0)
      return {CauseKind::kSharedBits,
              fmt::format(
                  "their hashes ({}) are linear, and with {} {} of the bits that choose later {} by what was chosen "
                  "before",
                  hashes, sizes(), shared, shared == 1 ? "is given" : "are given")};
    const uint32_t width = seen_.choosers[0].hash->width_bits();
    const uint32_t turn = (width + second_.offset - first_.offset) % width;
    if (same_algorithm && turn != 0)
      return {CauseKind::kSharedBits,
              fmt::format("their hashes ({}) are one rotated by {} bits, too few to choose anew among {}", hashes,
                          std::min(turn, width - turn), seen_.choosers[1].size())};
    return {CauseKind::kUnknown,
            fmt::format("their hashes differ ({}) and still go together; no algebra here says why", hashes)};
  }

  bool depends_for_all_keys() const {
    const uint32_t words = seen_.choosers[0].words;
    return depend_on(seen_.choosers, 0, KeyHull::of_all(words * 8, words).some(kHullKeys));
  }
  Cause by_keys() const {
    const std::set<KeyVector> distinct(seen_.keys.begin(), seen_.keys.end());
    const double needed = std::log2(seen_.choosers[0].buckets()) + std::log2(seen_.choosers[1].buckets());
    if (hull_.rank() < needed + 1 || distinct.size() < 2 * std::size_t{seen_.choosers[1].buckets()})
      return {CauseKind::kFewKeys,
              fmt::format("their hashes differ, but the flows have too few keys: {} different ones "
                          "of {}, in {} independent bits",
                          distinct.size(), seen_.keys.size(), hull_.rank())};
    return {CauseKind::kKeyPattern, "their hashes differ and would part other flows: the keys of these are regular"};
  }

  const Seen& seen_;
  const HashConfig& first_;
  const HashConfig& second_;
  KeyHull hull_;
  std::vector<KeyVector> hull_keys_;
  uint32_t common_;
};

bool is_uneven_on(const Chooser& chooser, const std::vector<KeyVector>& keys) {
  std::vector<EvennessTest::Item> items;
  for (const KeyVector& key : keys) items.push_back({chooser.link_of(key, 0), 1});
  EvennessTest test;
  test.add(chooser.group->weights, items);
  const Evenness found = test.result(kNoAccident);
  return found.more < kNoAccident && found.deviation2 > kMattersAlone;
}

}  // namespace

std::string word_of(CauseKind kind) {
  static constexpr std::array kWords{"alike", "seeds", "rotation", "shared_bits", "few_keys", "key_pattern", "unknown"};
  return kWords[static_cast<size_t>(kind)];
}

Cause cause_of_dependence(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later) {
  const auto seen = Sampled{walker, choices}.at({earlier, later});
  if (!seen) return {};
  return PairCause{*seen}.cause();
}

bool hashes_go_together(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later) {
  const auto seen = Sampled{walker, choices}.at({earlier, later});
  return seen && PairCause{*seen}.is_by_hashes();
}

Cause cause_of_unevenness(Walker& walker, const FlowChoices& choices, uint32_t tier, const TierKeys& found) {
  if (found.are_spread) {
    return {CauseKind::kFewKeys,
            fmt::format("too little of the key varies: {} flows have {} keys where they choose, and "
                        "who shares a key shares the link",
                        found.flows, found.keys)};
  }
  const auto seen = Sampled{walker, choices}.at({tier});
  if (!seen) return {};
  const Chooser& chooser = seen->choosers[0];
  const KeyHull hull(seen->keys);
  const std::vector<KeyVector> keys = hull.some(kHullKeys);
  if (is_uneven_on(chooser, keys)) {
    std::set<uint32_t> reached;
    for (const KeyVector& key : keys) reached.insert(chooser.link_of(key, 0));
    return {CauseKind::kFewKeys,
            fmt::format("too little of the key varies: {} independent bits, by which {} reaches {} of {} links",
                        hull.rank(), hash_words(chooser.hash->config()), reached.size(), chooser.group->links.size())};
  }
  return {CauseKind::kKeyPattern,
          fmt::format("{} would spread other keys: these are regular, and {}", hash_words(chooser.hash->config()),
                      chooser.is_linear() ? "a linear hash keeps that" : "there are few")};
}

}  // namespace softspine::control
