// SPDX-License-Identifier: Apache-2.0
// RTAG7 as a whole (the functions: rtag7_function.hpp): two blocks, each with a key and two functions.
//
//   block A: key → A0, A1     block B: key → B0, B1
//   macro flow = eight bits of a further function of block A's key → table of 256: output, offset
//   hash = the output chosen, rotated right by the offset within 16 bits
//
// Without macro flows, output and offset are the switch's. Each block has its own fields and seed, its own fields for
// UDP and TCP packets whose two ports are equal, its own pre-processing of bins and its own way to fold an IPv6
// address. A block may swap source and destination where the source address is the smaller one, so that both
// directions hash alike.
//
// Left out, since nothing in this project has them: the load-balancing numbers of ports as outputs, bin 12, tunnels
// and MPLS, both blocks joined to 64 bits, the stages of link aggregation.
//
// A packet's key has the words of block A, then those of block B. Where block A's first function alone is used,
// EcmpHash computes the hash itself, in fewer steps.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/hash_key.hpp"

namespace softspine::dataplane {

// How a hash was computed.
struct HashTaken {
  HashAlgorithm algorithm = HashAlgorithm::kCrc;
  uint32_t seed = 0;
  uint8_t offset = 0;
  uint32_t raw = 0;  // before the rotation
  Rtag7Output output = Rtag7Output::kA0;
  int16_t macro_flow = -1;  // its number, if one was looked up

  bool is_of_b() const { return output == Rtag7Output::kB0 || output == Rtag7Output::kB1; }
  uint32_t hash() const { return std::rotr(static_cast<uint16_t>(raw), offset); }  // of RTAG7
};

class Rtag7Blocks {
 public:
  static constexpr uint32_t kWords = 4;  // of a block's key

  // `config` has `rtag7`.
  explicit Rtag7Blocks(const HashConfig& config);

  void build(const HeaderView& view, HashKey& key) const noexcept;
  HashTaken take(const HashKey& key) const noexcept;
  const KeyLayout& layout(bool is_of_b, const HeaderView& view) const noexcept;

 private:
  struct Function {
    HashAlgorithm algorithm = HashAlgorithm::kCrc;
    uint32_t seed_part = 0;
    uint32_t of(const uint64_t* words) const noexcept;
  };
  struct Block {
    uint32_t seed = 0;
    std::array<Function, 2> functions;
    bool has_equal_ports = false;
    std::array<KeyLayout, 2> layouts;      // by IP version
    std::array<KeyLayout, 2> equal_ports;  // the same
  };
  static Block compiled(const HashConfig& config);

  std::array<Block, 2> blocks_;
  Rtag7MacroFlow::Entry choice_;
  bool has_macro_flow_ = false;
  bool upper_byte_ = false;
  Function macro_flow_;
  std::array<Rtag7MacroFlow::Entry, Rtag7MacroFlow::kEntries> table_{};
};

}  // namespace softspine::dataplane
