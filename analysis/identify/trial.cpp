// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/trial.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/identify/mixing_search.hpp"
#include "analysis/identify/renaming.hpp"
#include "analysis/identify/seeds.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kMaxConstants = 1 << 16;  // of one family and offset
constexpr size_t kJudges = 96;             // pairs by which a sample with wrong observations is judged first
constexpr uint64_t kSeedsAtOnce = 1 << 16;
constexpr size_t kMixingPairs = 6;  // of a round, for hashes that are not linear

// How many of the pairs have to share a bucket, where chance gives one in `buckets` and a right hash 0.8 or more.
size_t enough_of(size_t pairs, uint32_t buckets) {
  const double share = std::max(0.6, (1.0 / buckets + 0.85) / 2);
  return static_cast<size_t>(std::ceil(share * static_cast<double>(pairs)));
}

// Neighbours in the order of links, so that a wrong observation spoils at most two pairs.
std::vector<FlowPair> chained(const Sample& sample) {
  std::vector<uint32_t> order(sample.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return sample.links[i]; });
  std::vector<FlowPair> all;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    if (sample.links[order[i]] == sample.links[order[i + 1]]) all.push_back({order[i], order[i + 1]});
  }
  if (all.size() <= kJudges) return all;
  std::vector<FlowPair> out;
  for (size_t i = 0; i < kJudges; ++i) out.push_back(all[i * all.size() / kJudges]);
  return out;
}

bool is_same_key(const dp::HashKey& a, const dp::HashKey& b) {
  return a.count == b.count && std::equal(a.words.begin(), a.words.begin() + a.count, b.words.begin());
}

}  // namespace

Trial::Trial(const Sample& sample, std::vector<FlowPair> pairs, bool exact)
    : sample_(sample),
      pairs_(std::move(pairs)),
      all_pairs_(exact ? pairs_on_one_link(sample) : chained(sample)),
      exact_(exact) {}

ConstantSearch& Trial::constants(uint32_t width) {
  return constants_.try_emplace(width, width, sample_.members).first->second;
}

// Flows that share a hash or key share a member by any seed: where these are on too many links, no seed is tried.
bool Trial::may_fit(const Family& family) const {
  std::map<uint32_t, std::map<uint32_t, uint32_t>> flows;  // by what they share, and link
  for (size_t i = 0; i < sample_.size(); ++i) ++flows[family.alike[i]][sample_.links[i]];
  uint32_t most = 0;
  for (const auto& [alike, of_link] : flows) {
    if (exact_ && of_link.size() > 1) return false;
    most += std::ranges::max_element(of_link, {}, [](const auto& it) { return it.second; })->second;
  }
  return exact_ || most >= kFewestRight * static_cast<double>(sample_.size());
}

// Whatever the constant, flows of one link agree in the bits that only rename.
bool Trial::low_bits_fit(const std::vector<uint32_t>& values) const {
  const auto buckets = 1U << std::countr_zero(sample_.members);
  if (buckets == 1) return true;
  size_t equal = 0;
  for (const FlowPair& pair : all_pairs_) {
    const bool is_equal = ((values[pair.first] ^ values[pair.second]) & (buckets - 1)) == 0;
    if (exact_ && !is_equal) return false;
    equal += is_equal ? 1 : 0;
  }
  return exact_ || equal >= enough_of(all_pairs_.size(), buckets);
}

bool Trial::are_equal(const std::vector<uint32_t>& values, uint32_t constant) const {
  size_t different = 0;
  const size_t bound = exact_ ? 0 : all_pairs_.size() - enough_of(all_pairs_.size(), sample_.members);
  for (const FlowPair& pair : all_pairs_) {
    const bool is_equal =
        (values[pair.first] ^ constant) % sample_.members == (values[pair.second] ^ constant) % sample_.members;
    if (!is_equal && ++different > bound) return false;
  }
  return true;
}

bool Trial::fits(const std::vector<uint32_t>& buckets) const {
  if (exact_) return explains_all(sample_, buckets);
  const double fewest = kFewestRight * static_cast<double>(sample_.size());
  if (most_agreeing(sample_, buckets) < fewest) return false;
  const uint32_t agreeing = fit_of(sample_, buckets).agreeing;
  return agreeing >= fewest && chance_of(sample_, agreeing, 64) < kNoChance;
}

void Trial::judge(const Family& family, const std::vector<uint32_t>& values, Constant constant, SearchResult& out) {
  if (!are_equal(values, constant.value)) return;
  std::vector<uint32_t> buckets;
  for (const uint32_t value : values) buckets.push_back((value ^ constant.value) % sample_.members);
  if (fits(buckets)) add_linear(family, constant, out);
}

// Every configuration of the family, with a seed of its own for its own constant.
void Trial::add_linear(const Family& family, Constant constant, SearchResult& out) const {
  for (const dp::HashConfig& like : family.configs) {
    dp::HashConfig config = like;
    config.offset = constant.offset;
    dp::HashKey key;
    const dp::EcmpHash hash{like};
    hash.build(sample_.frames.front().view(), key);
    const uint32_t other = rotated(hash.raw(key) ^ family.raw.front(), constant.offset, family.width);
    const LinearFit linear{.width = family.width, .offset = constant.offset, .constant = constant.value ^ other};
    std::vector<uint32_t> buckets;
    for (const uint32_t raw : family.raw)
      buckets.push_back((rotated(raw, constant.offset, family.width) ^ constant.value) % sample_.members);
    const SeedEffects effects{like, sample_.frames.front()};
    const auto seed = seed_of(effects, linear, constants_.at(family.width), sample_, fit_of(sample_, buckets));
    if (!seed) continue;
    config.seed = *seed;
    add(config, out);
  }
}

// Only the result of the hash itself counts.
void Trial::add(const dp::HashConfig& config, SearchResult& out) const {
  if (out.found.size() == SearchResult::kMax) {
    out.is_cut = true;
    return;
  }
  const std::vector<uint32_t> buckets = buckets_of(config, sample_.frames, sample_.members);
  if (fits(buckets)) out.found.push_back({config, fit_of(sample_, buckets)});
}

void Trial::run(const Family& family, SearchResult& out) {
  ConstantSearch& constants = this->constants(family.width);
  std::vector<uint32_t> values(family.raw.size());
  std::vector<std::pair<uint32_t, uint32_t>> equations;
  const bool has_chance = may_fit(family);
  for (uint8_t offset = 0; offset < family.width && !out.is_cut; ++offset) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = rotated(family.raw[i], offset, family.width);
    out.count_tried(constants.is_renaming_only() ? 0 : family.width - 1 - constants.renaming_bits());
    if (!has_chance || !low_bits_fit(values)) continue;
    if (constants.is_renaming_only()) {
      judge(family, values, {offset, 0}, out);
      continue;
    }
    equations.clear();
    for (const FlowPair& pair : pairs_) {
      const std::pair both{values[pair.first], values[pair.second]};
      const bool is_open =
          both.first != both.second && ((both.first ^ both.second) & ((1U << constants.renaming_bits()) - 1)) == 0;
      // Flows that differ in nothing that the family hashes give the same equation twice.
      const bool is_new = std::ranges::find(equations, both) == equations.end();
      if (is_open && is_new && equations.size() < constants.equations()) equations.push_back(both);
    }
    for (const uint32_t constant : constants.find(equations, kMaxConstants)) {
      judge(family, values, {offset, constant}, out);
      if (out.is_cut) break;
    }
  }
}

// Flows with one key share a member by any seed.
std::vector<FlowPair> Trial::pairs_that_tell(const Family& family) const {
  std::vector<FlowPair> out;
  for (const FlowPair& pair : pairs_) {
    if (!exact_ && out.size() == kMixingPairs) break;
    if (!is_same_key(family.keys[pair.first], family.keys[pair.second])) out.push_back(pair);
  }
  return out;
}

void Trial::run(const Family& family, const std::vector<uint32_t>& seeds, const std::function<bool(double)>& goes_on,
                SearchResult& out) {
  const std::vector<FlowPair> pairs = pairs_that_tell(family);
  if (pairs.empty()) return;
  const uint64_t count = seeds.empty() ? uint64_t{1} << 32 : seeds.size();
  out.count_tried(std::log2(static_cast<double>(count) * family.offsets()));
  if (!may_fit(family)) return;
  for (uint64_t from = 0; from < count && !out.is_cut; from += kSeedsAtOnce) {
    if (!goes_on(static_cast<double>(from) / static_cast<double>(count))) {
      out.is_ended = true;
      return;
    }
    const uint64_t to = std::min(count, from + kSeedsAtOnce);
    for (const FoundSeed& found : find_seeds(family, sample_.members, pairs, seeds, from, to)) {
      if (!fits(buckets_of(family, sample_.members, found))) continue;
      for (const dp::HashConfig& like : family.configs) {
        dp::HashConfig config = like;
        config.seed = found.seed;
        config.offset = found.offset;
        add(config, out);
      }
    }
  }
}

}  // namespace softspine::analysis
