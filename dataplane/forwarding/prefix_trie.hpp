// SPDX-License-Identifier: Apache-2.0
// Longest prefix match for IPv4 and IPv6, compact enough for a thousand switches in one process.
//
// A trie of one byte a level whose nodes skip the bytes that all their prefixes share. A fabric's routes share most
// of their bytes, so a lookup is two or three loads for IPv4 and three or four for IPv6, and a switch with 1,000
// subnets needs some ten nodes of 1 KiB.
//
//   node: compare `skip` bytes; differ → `fallback`, the best match so far; same → entries[next byte]
//
// Built once from a list (a pure function), immutable after. Values are below 2^31; kMiss: no match.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softspine::dataplane {

// An address as the packet carries it; IPv4 uses the first four bytes.
using AddressBytes = std::array<uint8_t, 16>;

struct Prefix {
  AddressBytes address{};  // bits behind `length` are zero
  uint8_t length = 0;      // in bits: 0 … 32 or 0 … 128
  friend auto operator<=>(const Prefix&, const Prefix&) = default;
};

struct PrefixValue {
  Prefix prefix;
  uint32_t value = 0;
};

class PrefixTrie {
 public:
  static constexpr uint32_t kMiss = 0x7fffffff;

  PrefixTrie() { nodes_.emplace_back(); }
  // At most one value per prefix: of equal prefixes the last one counts.
  explicit PrefixTrie(const std::vector<PrefixValue>& prefixes);

  // `address` points to the 4 or 16 bytes of the kind of address that the trie was built from.
  uint32_t lookup(const uint8_t* address) const noexcept {
    const Node* node = nodes_.data();
    for (;;) {
      for (uint32_t i = 0; i < node->skip; ++i) {  // a few bytes: cheaper than a call of memcmp
        if (address[i] != node->skipped[i]) return node->fallback;
      }
      address += node->skip;
      const uint32_t entry = node->entries[*address];
      if ((entry & kIsNode) == 0) return entry;
      node = &nodes_[entry & ~kIsNode];
      ++address;
    }
  }

  // The same for an address as a number, in a trie of IPv4's prefixes: a node's skipped bytes are compared at once.
  uint32_t lookup_ipv4(uint32_t address) const noexcept {
    const Node* node = nodes_.data();
    for (;;) {
      if (((address ^ node->word) & node->word_mask) != 0) return node->fallback;
      const uint32_t rest = address << node->word_bits;
      const uint32_t entry = node->entries[rest >> 24];
      if ((entry & kIsNode) == 0) return entry;
      address = rest << 8;
      node = &nodes_[entry & ~kIsNode];
    }
  }

  size_t memory_bytes() const { return nodes_.size() * sizeof(Node); }

 private:
  static constexpr uint32_t kIsNode = 0x80000000;

  struct Node {
    Node() { entries.fill(kMiss); }
    std::array<uint32_t, 256> entries;
    uint32_t fallback = kMiss;
    uint32_t skip = 0;
    std::array<uint8_t, 16> skipped{};
    // Of IPv4, where skip ≤ 3: skipped as the first bytes of a number, and which of its bits these are.
    uint32_t word = 0;
    uint32_t word_mask = 0;
    uint32_t word_bits = 0;

    void skip_byte(uint8_t byte) {
      if (skip < 3) {
        word |= uint32_t{byte} << (24 - word_bits);
        word_mask |= 0xff000000U >> word_bits;
        word_bits += 8;
      }
      skipped[skip++] = byte;
    }
  };
  struct Range {
    const PrefixValue* begin;
    const PrefixValue* end;
  };
  // Fills the node at `index` for `range`, all of whose prefixes are longer than 8 × depth and share
  // the bytes before `depth`; `inherited` is the value of the best shorter match.
  void build(uint32_t index, Range range, uint32_t depth, uint32_t inherited);
  void fill_short(uint32_t index, Range range, uint32_t depth);

  std::vector<Node> nodes_;
};

}  // namespace softspine::dataplane
