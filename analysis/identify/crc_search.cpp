// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/crc_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "control/rows/row_formats.hpp"

namespace softspine::analysis {

namespace {

constexpr size_t kCrcJudges = 64;  // pairs, before all flows are asked
constexpr size_t kFirst = 8;  // of them: of those that share a link a right hash lets nearly three in four share one

constexpr std::array kFields{FlowPart::kSource,          FlowPart::kDestination, FlowPart::kSourcePort,
                             FlowPart::kDestinationPort, FlowPart::kProtocol,    FlowPart::kQp};

// The register after each byte, for one polynomial.
class Crc {
 public:
  Crc(const KnownCrc& crc, bool reflected)
      : width_(crc.width), mask_(static_cast<uint32_t>((uint64_t{1} << crc.width) - 1)), reflected_(reflected) {
    uint32_t turned = 0;
    for (uint32_t bit = 0; bit < width_; ++bit) turned |= (crc.polynomial >> bit & 1) << (width_ - 1 - bit);
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t value = reflected ? byte : byte << (width_ - 8);
      for (int i = 0; i < 8; ++i) {
        const bool carry = reflected ? (value & 1) != 0 : (value >> (width_ - 1) & 1) != 0;
        value = reflected ? value >> 1 : value << 1 & mask_;
        if (carry) value ^= reflected ? turned : crc.polynomial;
      }
      table_[byte] = value;
    }
  }
  uint32_t of(std::span<const uint8_t> bytes, uint32_t value) const {
    for (const uint8_t byte : bytes)
      value = reflected_ ? table_[(value ^ byte) & 0xff] ^ value >> 8
                         : (table_[(value >> (width_ - 8) ^ byte) & 0xff] ^ value << 8) & mask_;
    return value;
  }
  uint32_t ones() const { return mask_; }

 private:
  std::array<uint32_t, 256> table_{};
  uint32_t width_;
  uint32_t mask_;
  bool reflected_;
};

// The bytes of a flow's fields, none longer than two IPv6 addresses and the rest: a buffer, not an allocation a flow.
class FlowBytes {
 public:
  void add(uint8_t byte) { bytes_[size_++] = byte; }
  void reverse_from(size_t begin) { std::reverse(bytes_.begin() + static_cast<ptrdiff_t>(begin), end()); }
  size_t size() const { return size_; }
  std::span<const uint8_t> span() const { return {bytes_.data(), size_}; }

 private:
  static constexpr size_t kMax = 2 * sizeof(Flow::Address) + 2 * 2 + 1 + 4;
  std::array<uint8_t, kMax>::iterator end() { return bytes_.begin() + static_cast<ptrdiff_t>(size_); }
  std::array<uint8_t, kMax> bytes_{};
  size_t size_ = 0;
};

FlowBytes bytes_of(const Flow& flow, const FoundCrc& how) {
  FlowBytes out;
  for (const FlowPart part : how.order) {
    const size_t before = out.size();
    if (part == FlowPart::kSource || part == FlowPart::kDestination) {
      const Flow::Address& address = part == FlowPart::kSource ? flow.source : flow.destination;
      for (size_t i = 0; i < (flow.is_ipv6 ? 16U : 4U); ++i) out.add(address[i]);
    } else {
      const uint32_t bytes = part == FlowPart::kQp ? how.qp_bytes : part == FlowPart::kProtocol ? 1 : 2;
      for (uint32_t i = bytes; i-- > 0;) out.add(static_cast<uint8_t>(value_of(flow, part) >> 8 * i));
    }
    if (how.little_endian) out.reverse_from(before);
  }
  return out;
}

uint32_t member_of(const FoundCrc& how, uint32_t hash, uint32_t members) {
  if (how.by_ranges) return static_cast<uint32_t>(uint64_t{hash} * members >> how.crc.width);
  return hash % members;
}

// Neighbours on one link: a wrong observation spoils two of them.
std::vector<FlowPair> judges_of(const Sample& sample) {
  std::vector<std::optional<uint32_t>> last(sample.link_count);
  std::vector<FlowPair> out;
  for (uint32_t flow = 0; flow < sample.size() && out.size() < kCrcJudges; ++flow) {
    std::optional<uint32_t>& before = last[sample.links[flow]];
    if (before) out.push_back({*before, flow});
    before = flow;
  }
  return out;
}

class CrcSearch {
 public:
  explicit CrcSearch(const Sample& sample)
      : sample_(sample), judges_(judges_of(sample)), proven_(proven_parts(sample, true)) {
    for (const KnownCrc& crc : kKnownCrcs) {
      for (const bool reflected : {true, false}) crcs_.emplace_back(crc, reflected);
    }
    for (const std::vector<FlowPart>& order : orders()) {
      for (const bool little : {false, true}) {
        for (const uint32_t qp_bytes : {3U, 4U}) {
          const bool has_qp = std::ranges::find(order, FlowPart::kQp) != order.end();
          if (has_qp || qp_bytes == 3)
            layouts_.push_back({.little_endian = little, .order = order, .qp_bytes = qp_bytes});
        }
      }
    }
    // Register's beginning, its end, and how the member is chosen.
    constexpr double kWays = 8;
    tried_ = std::log2(kWays * static_cast<double>(layouts_.size() * crcs_.size()));
  }

  std::optional<FoundCrc> run() {
    for (FoundCrc& layout : layouts_) {
      first_.clear();
      for (const FlowPair& pair : std::span{judges_}.first(std::min(kFirst, judges_.size())))
        first_.emplace_back(bytes_of(sample_.flows[pair.first], layout), bytes_of(sample_.flows[pair.second], layout));
      for (size_t i = 0; i < crcs_.size(); ++i) {
        layout.crc = kKnownCrcs[i / 2];
        layout.reflected = i % 2 == 0;
        if (auto found = by(layout, crcs_[i])) return found;
      }
    }
    return std::nullopt;
  }

 private:
  // The most usual field order first: those with the most fields, in the order of kFields.
  std::vector<std::vector<FlowPart>> orders() const {
    std::vector<std::vector<FlowPart>> out;
    for (uint32_t which = 1; which < 1U << kFields.size(); ++which) {
      std::vector<FlowPart> set;
      for (size_t i = 0; i < kFields.size(); ++i) {
        if ((which >> i & 1) != 0) set.push_back(kFields[i]);
      }
      const auto is_in = [&](FlowPart part) { return std::ranges::find(set, part) != set.end(); };
      if (!std::ranges::all_of(proven_, is_in)) continue;
      std::ranges::sort(set);
      do out.push_back(set);
      while (std::ranges::next_permutation(set).found);
    }
    std::ranges::stable_sort(out, std::greater{}, [](const auto& order) { return order.size(); });
    return out;
  }

  std::optional<FoundCrc> by(FoundCrc how, const Crc& crc) {
    // The register's start value adds the same for all flows.
    const std::vector<uint8_t> zeros(bytes_of(sample_.flows[0], how).size(), 0);
    const uint32_t of_ones = crc.of(zeros, crc.ones());
    raws_.clear();
    for (const auto& [first, second] : first_) raws_.emplace_back(crc.of(first.span(), 0), crc.of(second.span(), 0));
    for (const bool by_ranges : {false, true}) {
      for (const bool from_ones : {true, false}) {
        // zlib's way first, of narrow ones the plain one: a complement may do no more than rename members.
        for (const bool complemented : {how.crc.width == 32, how.crc.width != 32}) {
          how.by_ranges = by_ranges;
          how.from_ones = from_ones;
          how.complemented = complemented;
          const uint32_t constant = (from_ones ? of_ones : 0) ^ (complemented ? crc.ones() : 0);
          if (!may_be(how, constant)) continue;
          if (auto found = judged(how, crc, constant)) return found;
        }
      }
    }
    return std::nullopt;
  }

  uint32_t raw(const FoundCrc& how, const Crc& crc, uint32_t flow) const {
    return crc.of(bytes_of(sample_.flows[flow], how).span(), 0);
  }
  bool may_be(const FoundCrc& how, uint32_t constant) const {
    const auto member = [&](uint32_t hash) { return member_of(how, hash ^ constant, sample_.members); };
    const auto equal =
        std::ranges::count_if(raws_, [&](const auto& both) { return member(both.first) == member(both.second); });
    return 2 * static_cast<size_t>(equal) >= raws_.size();
  }

  std::optional<FoundCrc> judged(FoundCrc how, const Crc& crc, uint32_t constant) const {
    const auto member = [&](uint32_t flow) { return member_of(how, raw(how, crc, flow) ^ constant, sample_.members); };
    const auto equal = static_cast<size_t>(std::ranges::count_if(
        judges_, [&](const FlowPair& pair) { return member(pair.first) == member(pair.second); }));
    if (5 * equal < 3 * judges_.size()) return std::nullopt;
    std::vector<uint32_t> buckets;
    for (uint32_t flow = 0; flow < sample_.size(); ++flow) buckets.push_back(member(flow));
    how.fit = fit_of(sample_, buckets);
    how.tried = tried_;
    const bool is_enough = how.fit.agreeing >= kFewestRight * static_cast<double>(sample_.size());
    if (!is_enough || chance_of(sample_, how.fit.agreeing, tried_) >= kNoChance) return std::nullopt;
    return how;
  }

  const Sample& sample_;
  std::vector<FlowPair> judges_;
  std::set<FlowPart> proven_;
  std::vector<Crc> crcs_;  // of each of kKnownCrcs two
  std::vector<FoundCrc> layouts_;
  double tried_ = 0;
  std::vector<std::pair<FlowBytes, FlowBytes>> first_;  // of the first judges, by the layout at hand
  std::vector<std::pair<uint32_t, uint32_t>> raws_;     // of the first judges, by the layout and CRC at hand
};

}  // namespace

std::optional<FoundCrc> find_crc(const Sample& sample) {
  if (sample.size() < 2) return std::nullopt;
  return CrcSearch{sample}.run();
}

std::string to_string(const FoundCrc& found, uint32_t members) {
  const bool is_zlibs = found.crc.width == 32 && found.reflected && found.from_ones && found.complemented;
  std::vector<std::string> fields;
  for (const FlowPart part : found.order) fields.emplace_back(control::word_of(field_of(part)));
  std::string out =
      is_zlibs ? fmt::format("{} as zlib computes it (polynomial 0x{:08x})", found.crc.name, found.crc.polynomial)
               : fmt::format("{} (polynomial 0x{:0{}x}, {}, from {}{})", found.crc.name, found.crc.polynomial,
                             found.crc.width / 4, found.reflected ? "reflected" : "not reflected",
                             found.from_ones ? "ones" : "zeros", found.complemented ? ", complemented" : "");
  out += fmt::format(" of {}, in this order", fmt::join(fields, ", "));
  if (found.little_endian) out += ", each little-endian";
  if (found.qp_bytes == 4 && std::ranges::find(found.order, FlowPart::kQp) != found.order.end())
    out += ", the queue pair in 4 bytes";
  return out +
         (found.by_ranges ? fmt::format(", by {} ranges of the hash", members) : fmt::format(", modulo {}", members));
}

}  // namespace softspine::analysis
