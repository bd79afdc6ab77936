// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "analysis/identify/linear_search.hpp"
#include "analysis/identify/member_choice.hpp"
#include "analysis/identify/seeds.hpp"
#include "analysis/identify/trial.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kFewestWithWrong = 32;  // observations: fewer cannot show that some are wrong
constexpr uint32_t kRounds = 12;         // of random pairs, of many observations
constexpr uint32_t kRoundsOfFew = 4;
constexpr size_t kFurtherSets = 500;  // so many are tried, the most usual
constexpr size_t kFurtherSetsInRounds = 100;
// A hypothesis that explains so many flows fewer than another is no rival: each of them is a hundred times less likely
// then.
constexpr uint32_t kAsGood = 2;
constexpr size_t kPairs = 12;  // of a round

// Pairs on one link, all of one round's flows drawn anew: the first flow of each link that is drawn with others.
std::vector<FlowPair> drawn_pairs(const Sample& sample, dp::Rng& rng) {
  std::vector<std::vector<uint32_t>> by_link(sample.link_count);
  for (uint32_t i = 0; i < sample.size(); ++i) by_link[sample.links[i]].push_back(i);
  const auto shuffle = [&rng](auto& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
  };
  shuffle(by_link);
  std::vector<FlowPair> out;
  for (std::vector<uint32_t>& flows : by_link) {
    shuffle(flows);
    for (size_t i = 1; i < flows.size() && out.size() < kPairs; ++i) out.push_back({flows[0], flows[i]});
  }
  return out;
}

// Nobody wires a switch at random: members in the order of the links count more than a seed and an offset.
constexpr uint32_t kDisorder = 3;
bool is_in_order(const Sample& sample, const Fit& fit) {
  if (sample.link_count != sample.members) return false;
  for (uint32_t bucket = 0; bucket < sample.members; ++bucket) {
    if (fit.of_bucket[bucket] != kUnknownLink && fit.of_bucket[bucket] != bucket) return false;
  }
  return true;
}

struct Step {
  FieldTier tier;
  bool may_be_wrong;
};
using Steps = std::array<Step, 6>;
// Among many observations, wrong ones are more frequent than unusual fields.
constexpr size_t kMany = 128;
constexpr Steps kOfFew{{{FieldTier::kLikely, false},
                        {FieldTier::kUsual, false},
                        {FieldTier::kFurther, false},
                        {FieldTier::kLikely, true},
                        {FieldTier::kUsual, true},
                        {FieldTier::kFurther, true}}};
constexpr Steps kOfMany{{{FieldTier::kLikely, false},
                         {FieldTier::kLikely, true},
                         {FieldTier::kUsual, false},
                         {FieldTier::kUsual, true},
                         {FieldTier::kFurther, false},
                         {FieldTier::kFurther, true}}};

class Search {
 public:
  Search(const Sample& sample, const SearchOptions& options)
      : sample_(sample), options_(options), seeds_(likely_seeds()) {}

  SearchResult run() {
    for (const Step& step : sample_.size() < kMany ? kOfFew : kOfMany) {
      if (options_.is_linear_for_sure && (step.may_be_wrong || is_dear(step.tier))) continue;
      if (!step.may_be_wrong) {
        exactly(sample_, step.tier);
      } else if (sample_.size() >= kFewestWithWrong) {
        with_wrong_observations(step.tier);
      }
      if (is_done()) break;
    }
    if (options_.all_seeds && !is_done()) by_all_seeds();
    std::ranges::stable_sort(out_.found, {}, [this](const Hypothesis& it) {
      return rarity(it.config) + (is_in_order(sample_, it.fit) ? 0 : kDisorder);
    });
    return std::move(out_);
  }

 private:
  bool is_done() const { return out_.is_ended || !out_.found.empty(); }
  bool goes_on(const char* what, double share) {
    if (options_.goes_on && !options_.goes_on(what, share)) out_.is_ended = true;
    return !out_.is_ended;
  }
  // For an odd group each offset of each family is a search for constants.
  bool is_dear(FieldTier tier) const { return tier == FieldTier::kFurther && !std::has_single_bit(sample_.members); }
  static const char* words_of(FieldTier tier) {
    return tier == FieldTier::kLikely ? "likely fields" : tier == FieldTier::kUsual ? "usual fields" : "further fields";
  }
  static std::vector<Family> families(const Sample& sample, FieldTier tier, bool may_be_wrong) {
    const std::set<FlowPart> proven = proven_parts(sample, may_be_wrong);
    std::vector<FieldList> sets = field_sets(tier, proven, sample.is_ipv6);
    const size_t most = may_be_wrong ? kFurtherSetsInRounds : kFurtherSets;
    if (sets.size() > most) sets.resize(most);
    return families_of(sample, sets, proven);
  }

  // Where little varies, more than the likely fields may fit.
  void exactly(const Sample& sample, FieldTier tier) {
    exactly_in_tier(sample, tier);
    if (tier == FieldTier::kLikely && is_done() && !is_rich(sample)) exactly_in_tier(sample, FieldTier::kUsual);
  }

  void exactly_in_tier(const Sample& sample, FieldTier tier) {
    const std::vector<Family> families = this->families(sample, tier, false);
    Trial trial{sample, pairs_on_one_link(sample), true};
    const auto goes_on = [&](size_t done) { return this->goes_on(words_of(tier), share(done, families)); };
    run_linear(trial, families, goes_on, out_);
    if (!out_.is_ended && out_.found.empty() && !options_.is_linear_for_sure) mixing(trial, families, seeds_);
  }

  void mixing(Trial& trial, const std::vector<Family>& families, const std::vector<uint32_t>& seeds) {
    size_t done = 0;
    for (const Family& family : families) {
      ++done;
      if (family.is_linear) continue;
      const auto more = [&](double part) {
        return goes_on("seeds", share(done - 1, families) + part / static_cast<double>(families.size()));
      };
      trial.run(family, seeds, more, out_);
      const bool is_enough = seeds.empty() && !out_.found.empty();
      if (is_enough || out_.is_cut || out_.is_ended) return;
    }
  }

  void by_all_seeds() {
    for (const FieldTier tier : {FieldTier::kLikely, FieldTier::kUsual}) {
      Trial trial{sample_, pairs_on_one_link(sample_), true};
      if (!is_done()) mixing(trial, families(sample_, tier, false), {});
    }
  }

  static double share(size_t done, const std::vector<Family>& families) {
    return static_cast<double>(done) / static_cast<double>(families.size());
  }

  void with_wrong_observations(FieldTier tier) {
    const std::vector<Family> families = this->families(sample_, tier, true);
    dp::Rng rng{1, 3};
    const uint32_t rounds = sample_.size() < kMany ? kRoundsOfFew : kRounds;
    for (uint32_t round = 0; round < rounds && !is_done(); ++round) {
      round_of_pairs(families, drawn_pairs(sample_, rng), static_cast<double>(round) / rounds);
    }
    if (!out_.found.empty() && !out_.is_ended) set_wrong_aside(tier);
  }

  void round_of_pairs(const std::vector<Family>& families, std::vector<FlowPair> pairs, double share) {
    const auto goes_on = [&](double) { return this->goes_on("wrong observations", share); };
    Trial trial{sample_, std::move(pairs), false};
    run_linear(trial, families, [&](size_t) { return !is_done() && goes_on(0); }, out_);
    for (const Family& family : families) {
      if (is_done() || !goes_on(0)) return;
      if (!family.is_linear) trial.run(family, seeds_, goes_on, out_);
    }
  }

  // Searches for hashes that explain the flows that the first find explains, and judges them by all flows.
  void set_wrong_aside(FieldTier tier) {
    const auto best = std::ranges::max_element(out_.found, {}, [](const Hypothesis& it) { return it.fit.agreeing; });
    Hypothesis first = *best;  // `found` is emptied below
    const std::vector<uint32_t> buckets = buckets_of(first.config, sample_.frames, sample_.members);
    std::vector<bool> keep;
    for (size_t i = 0; i < sample_.size(); ++i) keep.push_back(first.fit.of_bucket[buckets[i]] == sample_.links[i]);
    const Sample right = part_of(sample_, keep);
    out_.found.clear();
    exactly(right, tier);
    if (out_.found.empty()) out_.found.push_back(std::move(first));
    uint32_t most = 0;
    for (Hypothesis& it : out_.found) {
      it.fit = fit_of(sample_, buckets_of(it.config, sample_.frames, sample_.members));
      most = std::max(most, it.fit.agreeing);
    }
    std::erase_if(out_.found, [most](const Hypothesis& it) { return it.fit.agreeing + kAsGood < most; });
    out_.tolerates_wrong = true;
  }

  const Sample& sample_;
  const SearchOptions& options_;
  std::vector<uint32_t> seeds_;
  SearchResult out_;
};

}  // namespace

std::vector<uint32_t> buckets_of(const dp::HashConfig& config, const std::vector<FlowFrame>& frames, uint32_t members) {
  const dp::EcmpHash hash{config};
  const MemberChoice choice{config, members};
  std::vector<uint32_t> out;
  dp::HashKey key;
  for (const FlowFrame& frame : frames) {
    hash.build(frame.view(), key);
    out.push_back(choice.of(hash.of(key)));
  }
  return out;
}

void SearchResult::count_tried(double log2_of_more) {
  const double most = std::max(tried, log2_of_more);
  tried = most + std::log2(std::exp2(tried - most) + std::exp2(log2_of_more - most));
}

void SearchResult::add(const SearchResult& more) {
  count_tried(more.tried);
  const size_t room = std::min(more.found.size(), kMax - found.size());
  found.insert(found.end(), more.found.begin(), more.found.begin() + static_cast<ptrdiff_t>(room));
  is_cut |= more.is_cut || room < more.found.size();
}

SearchResult search(const Sample& sample, const SearchOptions& options) {
  return Search{sample, options}.run();
}

}  // namespace softspine::analysis
