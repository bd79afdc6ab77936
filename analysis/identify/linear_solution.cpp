// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/linear_solution.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "analysis/identify/fit.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace {

constexpr size_t kBytes = 48;
constexpr size_t kBits = 8 * kBytes;
constexpr uint32_t kTries = 1'000;
constexpr size_t kMoreThanBits = 12;  // flows: by chance they fit once in 2^12 times, and all others judge then

using Bits = std::array<uint64_t, kBytes / 8>;

struct PartBytes {
  FlowPart part;
  uint8_t first;
  uint8_t count;
};
constexpr std::array kParts{PartBytes{FlowPart::kSource, 0, 16},     PartBytes{FlowPart::kDestination, 16, 16},
                            PartBytes{FlowPart::kSourcePort, 32, 2}, PartBytes{FlowPart::kDestinationPort, 34, 2},
                            PartBytes{FlowPart::kProtocol, 36, 1},   PartBytes{FlowPart::kOpcode, 37, 1},
                            PartBytes{FlowPart::kQp, 38, 3},         PartBytes{FlowPart::kFlowLabel, 41, 3},
                            PartBytes{FlowPart::kInPort, 44, 2},     PartBytes{FlowPart::kVlan, 46, 2}};

// Bit 8 i + j of a flow: bit j of byte i.
Bits bits_of(const Flow& flow) {
  Bits out{};
  const auto put = [&out](size_t byte, uint8_t value) { out[byte / 8] |= uint64_t{value} << byte % 8 * 8; };
  for (const PartBytes& part : kParts) {
    for (size_t i = 0; i < part.count; ++i) {
      if (part.part == FlowPart::kSource || part.part == FlowPart::kDestination) {
        put(part.first + i, (part.part == FlowPart::kSource ? flow.source : flow.destination)[i]);
      } else {
        put(part.first + i, static_cast<uint8_t>(value_of(flow, part.part) >> 8 * (part.count - 1 - i)));
      }
    }
  }
  return out;
}

Bits operator^(Bits a, const Bits& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] ^= b[i];
  return a;
}
bool has(const Bits& bits, size_t bit) {
  return (bits[bit / 64] >> bit % 64 & 1) != 0;
}
int highest(const Bits& bits) {
  for (size_t i = bits.size(); i-- > 0;) {
    if (bits[i] != 0) return static_cast<int>(64 * i + 63) - std::countl_zero(bits[i]);
  }
  return -1;
}
bool parity(const Bits& a, const Bits& b) {
  uint64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum ^= a[i] & b[i];
  return std::popcount(sum) % 2 != 0;
}

// A space by a basis in echelon form: each row by its highest bit.
class Space {
 public:
  // The one vector of v's coset that has none of the rows' highest bits.
  Bits rest(Bits v) const {
    for (const uint16_t bit : order_) {
      if (has(v, bit)) v = v ^ rows_[bit];
    }
    return v;
  }
  bool add(const Bits& v) {
    const Bits left = rest(v);
    const int bit = highest(left);
    if (bit < 0) return false;
    rows_[static_cast<size_t>(bit)] = left;
    order_.insert(std::ranges::upper_bound(order_, bit, std::greater{}), static_cast<uint16_t>(bit));
    return true;
  }
  size_t dimension() const { return order_.size(); }
  // The sum that is 1 for the row with this highest bit and 0 for all others.
  Bits sum_of(uint16_t of) const {
    Bits out{};
    for (size_t i = order_.size(); i-- > 0;) {
      const uint16_t bit = order_[i];
      const bool wanted = bit == of;
      if (parity(out, rows_[bit]) != wanted) out[bit / 64] |= uint64_t{1} << bit % 64;
    }
    return out;
  }
  const std::vector<uint16_t>& order() const { return order_; }

 private:
  std::array<Bits, kBits> rows_{};
  std::vector<uint16_t> order_;  // highest bits, descending
};

class Solver {
 public:
  explicit Solver(const Sample& sample) : sample_(sample) {
    for (const Flow& flow : sample.flows) flows_.push_back(bits_of(flow));
    for (const Bits& flow : flows_) all_.add(flow ^ flows_[0]);
  }

  std::optional<LinearSolution> solve() {
    std::vector<uint32_t> every(flows_.size());
    std::iota(every.begin(), every.end(), 0U);
    if (auto found = by(every)) return found;
    const size_t some = all_.dimension() + kMoreThanBits + sample_.links_seen();
    if (some >= flows_.size()) return std::nullopt;
    dataplane::Rng rng{1, 5};
    for (uint32_t i = 0; i < kTries; ++i) {
      for (size_t n = 0; n < some; ++n) std::swap(every[n], every[n + rng.below(every.size() - n)]);
      if (auto found = by({every.begin(), every.begin() + static_cast<ptrdiff_t>(some)})) return found;
    }
    return std::nullopt;
  }

 private:
  // Taken as right are these flows; the others judge.
  std::optional<LinearSolution> by(const std::vector<uint32_t>& right) const {
    Space same;
    std::map<uint32_t, uint32_t> first;  // flow, by link
    for (const uint32_t flow : right) {
      const auto [one, is_new] = first.try_emplace(sample_.links[flow], flow);
      if (!is_new) same.add(flows_[flow] ^ flows_[one->second]);
    }
    if (same.dimension() == all_.dimension()) return std::nullopt;
    std::map<Bits, uint32_t> links;  // by coset
    for (const auto& [link, flow] : first) {
      if (!links.try_emplace(same.rest(flows_[flow] ^ flows_[0]), link).second) return std::nullopt;
    }
    Space whole = same;
    for (const Bits& flow : flows_) whole.add(flow ^ flows_[0]);
    const size_t sums = whole.dimension() - same.dimension();
    if (sums > static_cast<size_t>(std::countr_zero(sample_.members))) return std::nullopt;
    LinearSolution out{.sums = {}, .tried = static_cast<double>(sums * whole.dimension())};
    for (uint32_t i = 0; i < flows_.size(); ++i) {
      const auto link = links.find(same.rest(flows_[i] ^ flows_[0]));
      out.agreeing += link != links.end() && link->second == sample_.links[i] ? 1 : 0;
    }
    const bool is_enough = out.agreeing >= kFewestRight * static_cast<double>(flows_.size());
    if (!is_enough || chance_of(sample_, out.agreeing, out.tried) >= kNoChance) return std::nullopt;
    for (const uint16_t bit : whole.order()) {
      if (std::ranges::find(same.order(), bit) == same.order().end()) out.sums.push_back(parts_of(whole.sum_of(bit)));
    }
    return out;
  }

  static LinearSum parts_of(const Bits& sum) {
    LinearSum out;
    for (const PartBytes& part : kParts) {
      SumPart taken{.part = part.part, .mask = {}};
      for (size_t i = 0; i < part.count; ++i)
        taken.mask.push_back(static_cast<uint8_t>(sum[(part.first + i) / 8] >> (part.first + i) % 8 * 8));
      if (std::ranges::any_of(taken.mask, [](uint8_t byte) { return byte != 0; })) out.push_back(std::move(taken));
    }
    return out;
  }

  const Sample& sample_;
  std::vector<Bits> flows_;
  Space all_;  // of all differences
};

}  // namespace

std::optional<LinearSolution> solve_linear(const Sample& sample) {
  if (sample.size() < 2 || !std::has_single_bit(sample.members) || sample.links_seen() < 2) return std::nullopt;
  return Solver{sample}.solve();
}

}  // namespace softspine::analysis
