// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "analysis/explain/dependence.hpp"
#include "analysis/explain/evenness.hpp"
#include "analysis/explain/explanation.hpp"
#include "analysis/explain/key_hull.hpp"
#include "analysis/explain/seen_keys.hpp"
#include "control/rows/row_formats.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr uint32_t kHullKeys = 4'096;
constexpr double kNoAccident = 1e-6;
constexpr double kMattersTogether = 1.02;
constexpr double kMattersAlone = 0.01;

// The function by which links are chosen: with RTAG7's blocks, that of the output which is taken.
std::string function_words(const control::HashConfig& hash) {
  if (!hash.rtag7) return hash_words(hash);
  if (hash.rtag7->macro_flow) return "RTAG7 by a macro-flow table";
  control::HashConfig out = hash;
  const bool is_b = hash.rtag7->output == dp::Rtag7Output::kB0 || hash.rtag7->output == dp::Rtag7Output::kB1;
  if (is_b) out.seed = hash.rtag7->b_seed;
  switch (hash.rtag7->output) {
    case dp::Rtag7Output::kA0: break;
    case dp::Rtag7Output::kA1: out.algorithm = hash.rtag7->a.second; break;
    case dp::Rtag7Output::kB0: out.algorithm = hash.rtag7->b_first; break;
    case dp::Rtag7Output::kB1: out.algorithm = hash.rtag7->b.second; break;
  }
  return fmt::format("{} by its output {}", hash_words(out), control::word_of(hash.rtag7->output));
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

// Counts the bits that choose the later one's buckets and are sums of bits that choose the earlier one's: where
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
    return same_function_of_key() && share_a_choice();
  }

  Cause cause() const {
    const bool same_key = have_the_same_key(seen_.choosers[0], seen_.choosers[1]);
    if (same_function_of_key() && share_a_choice()) return alike();
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
    if (!have_the_same_key(seen_.choosers[0], seen_.choosers[1]) || seen_.choosers[1].words != words) return false;
    return std::ranges::all_of(hull_keys_, [&](const KeyVector& key) {
      return std::equal(key.begin(), key.begin() + words, key.begin() + words) &&
             seen_.choosers[0].hash_of(key, 0) == seen_.choosers[1].hash_of(key, words);
    });
  }
  // Where ranges of the hash choose, the first choice predicts the second for any numbers of members.
  bool by_ranges() const { return dp::row_of(first_.algorithm).by_threshold; }
  bool share_a_choice() const { return common_ > 1 || by_ranges(); }
  std::string sizes() const { return seen_.choosers[0].size() + " and " + seen_.choosers[1].size(); }
  std::string algorithm() const { return std::string(dp::row_of(first_.algorithm).word); }

  Cause alike() const {
    if (by_ranges())
      return {CauseKind::kAlike, fmt::format("both hash alike ({}), and choose by ranges of the hash among {}",
                                             function_words(first_), sizes())};
    return {CauseKind::kAlike, fmt::format("both hash alike ({}), and {} have the factor {} in common",
                                           function_words(first_), sizes(), common_)};
  }
  // Only the names of `factor` classes of members change.
  std::string renamed(uint64_t factor) const {
    if (factor == seen_.choosers[1].buckets()) return "gives the members other names, and parts no flows";
    return fmt::format(
        "gives the members other names modulo {}: flows that share a link there choose among {} of {} here", factor,
        seen_.choosers[1].buckets() / factor, seen_.choosers[1].size());
  }
  Cause seeds() const {
    const std::string begin = fmt::format(
        "only their seeds differ, and {} is linear: another seed adds the same number to every hash", algorithm());
    const uint32_t factor = 1U << std::countr_zero(common_);
    if (factor > 1) return {CauseKind::kSeeds, fmt::format("{}, and with {} that {}", begin, sizes(), renamed(factor))};
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
                "with 2^{0} − 1, so that it {3}",
                width, sizes(), renamed_factor(), renamed(renamed_factor()))};
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
    const std::string hashes = function_words(first_) + "; " + function_words(second_);
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
  const control::HashConfig& first_;
  const control::HashConfig& second_;
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

namespace {

constexpr const char* kNotSampled = "not looked into: no flow of those that depend is among the samples";

bool meet_both(const FlowChoices& choices, uint32_t earlier, uint32_t later) {
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    if (choice_at(choices, flow, earlier).met != nullptr && choice_at(choices, flow, later).met != nullptr) return true;
  }
  return false;
}

}  // namespace

Cause cause_of_dependence(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later,
                          const std::vector<FunctionPair>& guilty) {
  if (auto cause = cause_by_hashes(walker, choices, earlier, later, guilty)) return *cause;
  const std::vector<Seen> seen = seen_at(walker, choices, {earlier, later}, guilty);
  if (seen.empty()) return {CauseKind::kUnknown, kNotSampled};
  return PairCause{seen.front()}.cause();
}

std::optional<Cause> cause_by_hashes(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later,
                                     const std::vector<FunctionPair>& functions) {
  for (const Seen& one : seen_at(walker, choices, {earlier, later}, functions)) {
    const PairCause cause{one};
    if (cause.is_by_hashes()) return cause.cause();
  }
  return std::nullopt;
}

bool may_go_together(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later) {
  const std::vector<Seen> seen = seen_at(walker, choices, {earlier, later});
  if (seen.empty()) return meet_both(choices, earlier, later);
  return std::ranges::any_of(seen, [](const Seen& one) { return PairCause{one}.is_by_hashes(); });
}

Cause cause_of_unevenness(Walker& walker, const FlowChoices& choices, uint32_t tier, const TierKeys& found) {
  if (found.are_spread) {
    return {CauseKind::kFewKeys,
            fmt::format("too little of the key varies: {} flows have {} keys where they choose, and "
                        "who shares a key shares the link",
                        found.flows, found.keys)};
  }
  const std::vector<Seen> seen = seen_in(walker, choices, tier, found.groups);
  if (seen.empty()) return {CauseKind::kUnknown, kNotSampled};
  for (const Seen& one : seen) {
    const Chooser& chooser = one.choosers[0];
    const KeyHull hull(one.keys);
    const std::vector<KeyVector> keys = hull.some(kHullKeys);
    if (!is_uneven_on(chooser, keys)) continue;
    std::set<uint32_t> reached;
    for (const KeyVector& key : keys) reached.insert(chooser.link_of(key, 0));
    return {
        CauseKind::kFewKeys,
        fmt::format("too little of the key varies: {} independent bits, by which {} reaches {} of {} links",
                    hull.rank(), function_words(chooser.hash->config()), reached.size(), chooser.group->links.size())};
  }
  const Chooser& chooser = seen.front().choosers[0];
  return {CauseKind::kKeyPattern,
          fmt::format("{} would spread other keys: these are regular, and {}", function_words(chooser.hash->config()),
                      chooser.is_linear() ? "a linear hash keeps that" : "there are few")};
}

}  // namespace softspine::analysis
