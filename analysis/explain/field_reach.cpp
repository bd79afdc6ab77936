// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/field_reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr uint32_t kAllSums = 20;         // of so many independent changes all sums are taken, of more some
constexpr uint32_t kSumsPerLink = 4'096;  // then: off by 1.6 % in one standard deviation

// The changes that one part's bits make alone.
std::vector<uint32_t> changes_of(const dp::EcmpHash& hash, const Choice& choice, const dp::KeyPart& part) {
  const std::vector<uint8_t> bytes = choice.layout->bytes_of(part, choice.key);
  const uint32_t origin = hash.of(choice.key);
  std::vector<uint32_t> out;
  for (uint32_t bit = 0; bit < 64 * choice.key.count; ++bit) {
    dp::HashKey flipped = choice.key;
    flipped.words[bit / 64] ^= uint64_t{1} << bit % 64;
    const std::vector<uint8_t> there = choice.layout->bytes_of(part, flipped);
    const auto at = static_cast<size_t>(std::ranges::mismatch(bytes, there).in1 - bytes.begin());
    if (at < bytes.size() && ((bytes[at] ^ there[at]) & choice.layout->mask_of(part, at)) != 0)
      out.push_back(origin ^ hash.of(flipped));
  }
  return out;
}

std::vector<uint32_t> basis_of(const std::vector<uint32_t>& changes) {
  std::vector<uint32_t> out;  // each with a highest bit of its own
  for (uint32_t change : changes) {
    for (const uint32_t known : out) change = std::min(change, change ^ known);
    if (change != 0) out.push_back(change);
  }
  return out;
}

class Spread {
 public:
  Spread(const dp::EcmpHash& hash, std::span<const uint32_t> members) : hash_(hash), members_(members) {
    for (const uint32_t member : members) share_[member] += 1.0 / static_cast<double>(members.size());
  }

  FieldReach of(uint32_t origin, const std::vector<uint32_t>& changes) const {
    FieldReach out{.bits = static_cast<uint32_t>(changes.size()), .links = static_cast<uint32_t>(share_.size())};
    const std::vector<uint32_t> basis = basis_of(those_that_choose(changes));
    out.independent = static_cast<uint32_t>(basis.size());
    std::map<uint32_t, double> load;
    count(origin, basis, load);
    out.reached = static_cast<uint32_t>(load.size());
    out.least = std::numeric_limits<double>::max();
    for (const auto& [member, share] : share_) {
      const double of_share = load.contains(member) ? load[member] / share : 0;
      out.least = std::min(out.least, of_share);
      out.most = std::max(out.most, of_share);
    }
    return out;
  }

 private:
  uint32_t buckets() const { return static_cast<uint32_t>(members_.size()); }
  std::vector<uint32_t> those_that_choose(std::vector<uint32_t> changes) const {
    if (std::has_single_bit(buckets())) {
      for (uint32_t& change : changes) change &= buckets() - 1;
    }
    return changes;
  }
  void count(uint32_t origin, const std::vector<uint32_t>& basis, std::map<uint32_t, double>& load) const {
    const bool are_all = basis.size() <= kAllSums;
    const uint64_t sums = are_all ? uint64_t{1} << basis.size() : uint64_t{kSumsPerLink} * share_.size();
    std::vector<uint32_t> by_bucket(buckets());
    dp::Rng rng{1, 1};
    uint32_t value = origin;
    for (uint64_t i = 0; i < sums; ++i) {
      ++by_bucket[hash_.bucket_of(value, buckets())];
      if (are_all) {
        if (i + 1 < sums) value ^= basis[static_cast<size_t>(std::countr_zero(i + 1))];  // each sum once: Gray's code
      } else {
        value = origin;
        const uint64_t chosen = rng.next();
        for (size_t b = 0; b < basis.size(); ++b) value ^= (chosen >> b & 1) != 0 ? basis[b] : 0;
      }
    }
    for (uint32_t b = 0; b < buckets(); ++b) {
      if (by_bucket[b] > 0) load[members_[b]] += by_bucket[b] / static_cast<double>(sums);
    }
  }

  const dp::EcmpHash& hash_;
  std::span<const uint32_t> members_;
  std::map<uint32_t, double> share_;
};

}  // namespace

std::vector<FieldReach> reach_of_fields(const dp::EcmpHash& hash, const Choice& choice,
                                        std::span<const uint32_t> members) {
  const control::HashConfig& config = hash.config();
  const bool is_linear = dp::row_of(hash.algorithm()).seed == dp::SeedEffect::kLinear;
  if (!is_linear || config.rtag7 || config.symmetric || members.empty()) return {};
  const Spread spread{hash, members};
  std::vector<FieldReach> out;
  const auto& parts = choice.layout->parts();
  for (size_t i = 0; i < parts.size(); ++i)
    out.push_back(
        spread.of(choice.hash, choice.present[i] ? changes_of(hash, choice, parts[i]) : std::vector<uint32_t>{}));
  return out;
}

std::string reach_text(const std::string& field, const FieldReach& reach, const dp::EcmpHash& hash, uint32_t buckets) {
  const std::string why =
      fmt::format("{} is linear, and the field's {} bits change {} independent bit{} of the hash{}",
                  dp::row_of(hash.algorithm()).word, reach.bits, reach.independent, reach.independent == 1 ? "" : "s",
                  std::has_single_bit(buckets) ? fmt::format(" modulo {}", buckets) : "");
  if (reach.reached < reach.links)
    return fmt::format("{} alone reaches {} of these {} links: {}", field, reach.reached, reach.links, why);
  return fmt::format("{} alone loads these {} links with {:.0f} to {:.0f} % of their share: {}", field, reach.links,
                     100 * reach.least, 100 * reach.most, why);
}

}  // namespace softspine::analysis
