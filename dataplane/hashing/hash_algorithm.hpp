// SPDX-License-Identifier: Apache-2.0
// The hashes that a switch may have: models, and the algorithms of each. Each is declared here, and only here: its row
// gives its name in files, and what else files, `explain`, `identify` and `polarization` must know of it; that of an
// algorithm also the width of its result in each model. hash_function.hpp has what an algorithm computes, hash_key.hpp
// over which bytes of a packet.
//
//   algorithm        SAI (HashModel::kSai)               RTAG7 (HashModel::kRtag7, rtag7_function.hpp)       bits
//   CRC              CRC-32C                             CRC-16/ARC (BISYNC), bits reversed              32 / 16
//   XOR              the key's 16-bit words, big-endian  the key's bins                                  16
//   RANDOM           drawn for each packet: no key       the same                                        32
//   CRC_32LO         the lower half of CRC-32C           the lower half of CRC-32C, bits reversed        16
//   CRC_32HI         the upper half of CRC-32C           the upper half of CRC-32C, bits reversed        16
//   CRC_CCITT        CRC-16/KERMIT                       the same, bits reversed                         16
//   CRC_XOR          upper byte: the upper one of the    upper byte: the upper one of CRC; lower: XOR    16
//                    CRC-16 (ARC); lower: XOR of bytes   folded into 8 bits (CRC16_XOR8)
//   TOEPLITZ         toeplitz.hpp                        not there                                       32
//   XXH3             the lower half of XXH3's 64 bits    not there                                       32
//   CRC_XOR4, 2, 1   not there                           as CRC_XOR, folded into so many bits            16
//   CRC_ETHERNET_LO  the lower half of Ethernet's CRC-32 the lower half of Ethernet's CRC-32, reversed   16
//   CRC_ETHERNET_HI  the upper half of Ethernet's CRC-32 the upper half of Ethernet's CRC-32, reversed   16
//   CRC_KOOPMAN_LO   not there                           the lower half of Koopman's CRC-32K, reversed   16
//   CRC_KOOPMAN_HI   not there                           the upper half of Koopman's CRC-32K, reversed   16
//   JENKINS_LO       the lower half of jenkins.hpp       not there                                       16
//   JENKINS_HI       the upper half of jenkins.hpp       not there                                       16
//   ROUND_ROBIN      the number of packets before: no key not there                                      32
//   SIPHASH          not there: HashModel::kLinux has it, and nothing else (siphash.hpp)                 32
//   SYM_L4, L4       not there: HashModel::kOvs has them, and nothing else (ovs_hash.hpp); …_CRC32C: as  32
//                    OVS computes them where it was compiled with SSE 4.2
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace softspine::dataplane {

// The model decides how the key is laid out (hash_key.hpp) and where the seed goes (hash_function.hpp).
enum class HashModel : uint8_t { kSai, kRtag7, kLinux, kOvs };

struct HashModelRow {
  HashModel model;
  std::string_view word;  // in testbed files and reports
  // A model of hosts that forward, not of chips: it lays out its own key (own_key.hpp), which is never the usual one,
  // knows no UDFs, and rotates no result. A profile that names it and no algorithm has the first of its algorithms.
  bool is_of_hosts = false;
  std::string_view seed = "seed";  // what the model calls it
};

// In the order of the numbers.
inline constexpr std::array kHashModels{HashModelRow{HashModel::kSai, "SAI"}, HashModelRow{HashModel::kRtag7, "RTAG7"},
                                        HashModelRow{HashModel::kLinux, "LINUX", true},
                                        HashModelRow{HashModel::kOvs, "OVS", true, "basis"}};

constexpr const HashModelRow& row_of(HashModel model) {
  return kHashModels[static_cast<size_t>(model)];
}

// First SAI's seven, with SAI's numbers, then our own and those that SAI added later.
enum class HashAlgorithm : uint8_t {
  kCrc,
  kXor,
  kRandom,
  kCrc32Lo,
  kCrc32Hi,
  kCrcCcitt,
  kCrcXor,
  kToeplitz,
  kXxh3,
  kCrcXor4,
  kCrcXor2,
  kCrcXor1,
  kCrcEthernetLo,
  kCrcEthernetHi,
  kCrcKoopmanLo,
  kCrcKoopmanHi,
  kJenkinsLo,
  kJenkinsHi,
  kRoundRobin,
  kSiphash,
  kOvsSymL4,
  kOvsL4,
  kOvsSymL4Crc32c,
  kOvsL4Crc32c
};

// How hash(seed) changes with another seed and the same key. kLinear: hash(seed') = hash(seed) ⊕ a constant of the
// key's length, so that in a group of 2^n members another seed only renames the members.
enum class SeedEffect : uint8_t { kNone, kLinear, kMixing };

struct HashAlgorithmRow {
  HashAlgorithm algorithm;
  std::string_view word;  // in testbed files, SWITCH_HASH and reports
  // The width of the result, by model; 0: the model does not have the algorithm.
  std::array<uint8_t, kHashModels.size()> bits;
  SeedEffect seed;
  bool takes_key = false;     // `hash: {key: …}`
  bool is_drawn = false;      // a number is drawn for each packet, or counted: no key is hashed
  bool by_threshold = false;  // a bucket is a range of hash values, not a remainder (ecmp_group.hpp)
  bool in_words = false;      // SAI's model: the place of a field matters, so each takes whole words of 16 bits

  constexpr uint8_t bits_in(HashModel model) const { return bits[static_cast<size_t>(model)]; }
  constexpr bool is_in(HashModel model) const { return bits_in(model) != 0; }
  // True for an algorithm of a model of hosts, which then is the only one that has it.
  constexpr bool is_of_hosts() const {
    return std::ranges::any_of(kHashModels,
                               [this](const HashModelRow& it) { return it.is_of_hosts && is_in(it.model); });
  }
};

// In the order of the numbers.
inline constexpr std::array kHashAlgorithms{
    HashAlgorithmRow{HashAlgorithm::kCrc, "CRC", {32, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kXor, "XOR", {16, 16}, SeedEffect::kLinear, false, false, false, true},
    HashAlgorithmRow{HashAlgorithm::kRandom, "RANDOM", {32, 32}, SeedEffect::kNone, false, true},
    HashAlgorithmRow{HashAlgorithm::kCrc32Lo, "CRC_32LO", {16, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrc32Hi, "CRC_32HI", {16, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcCcitt, "CRC_CCITT", {16, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcXor, "CRC_XOR", {16, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kToeplitz, "TOEPLITZ", {32, 0}, SeedEffect::kLinear, true},
    HashAlgorithmRow{HashAlgorithm::kXxh3, "XXH3", {32, 0}, SeedEffect::kMixing},
    HashAlgorithmRow{HashAlgorithm::kCrcXor4, "CRC_XOR4", {0, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcXor2, "CRC_XOR2", {0, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcXor1, "CRC_XOR1", {0, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcEthernetLo, "CRC_ETHERNET_LO", {16, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcEthernetHi, "CRC_ETHERNET_HI", {16, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcKoopmanLo, "CRC_KOOPMAN_LO", {0, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kCrcKoopmanHi, "CRC_KOOPMAN_HI", {0, 16}, SeedEffect::kLinear},
    HashAlgorithmRow{HashAlgorithm::kJenkinsLo, "JENKINS_LO", {16, 0}, SeedEffect::kMixing},
    HashAlgorithmRow{HashAlgorithm::kJenkinsHi, "JENKINS_HI", {16, 0}, SeedEffect::kMixing},
    HashAlgorithmRow{HashAlgorithm::kRoundRobin, "ROUND_ROBIN", {32, 0}, SeedEffect::kNone, false, true},
    HashAlgorithmRow{HashAlgorithm::kSiphash, "SIPHASH", {0, 0, 32}, SeedEffect::kMixing, false, false, true},
    HashAlgorithmRow{HashAlgorithm::kOvsSymL4, "SYM_L4", {0, 0, 0, 32}, SeedEffect::kMixing},
    HashAlgorithmRow{HashAlgorithm::kOvsL4, "L4", {0, 0, 0, 32}, SeedEffect::kMixing},
    HashAlgorithmRow{HashAlgorithm::kOvsSymL4Crc32c, "SYM_L4_CRC32C", {0, 0, 0, 32}, SeedEffect::kMixing},
    HashAlgorithmRow{HashAlgorithm::kOvsL4Crc32c, "L4_CRC32C", {0, 0, 0, 32}, SeedEffect::kMixing}};

constexpr const HashAlgorithmRow& row_of(HashAlgorithm algorithm) {
  return kHashAlgorithms[static_cast<size_t>(algorithm)];
}

constexpr size_t algorithms_in(HashModel model) {
  return static_cast<size_t>(
      std::ranges::count_if(kHashAlgorithms, [model](const HashAlgorithmRow& row) { return row.is_in(model); }));
}
constexpr HashAlgorithm first_algorithm_in(HashModel model) {
  return std::ranges::find_if(kHashAlgorithms, [model](const HashAlgorithmRow& row) { return row.is_in(model); })
      ->algorithm;
}

static_assert(
    [] {
      for (size_t i = 0; i < kHashAlgorithms.size(); ++i) {
        if (kHashAlgorithms[i].algorithm != static_cast<HashAlgorithm>(i)) return false;
      }
      for (size_t i = 0; i < kHashModels.size(); ++i) {
        if (kHashModels[i].model != static_cast<HashModel>(i)) return false;
      }
      return true;
    }(),
    "each has the row of its number");
static_assert(std::ranges::all_of(kHashAlgorithms,
                                  [](const HashAlgorithmRow& row) {
                                    return !row.is_of_hosts() ||
                                           std::ranges::count_if(row.bits, [](uint8_t bits) { return bits != 0; }) == 1;
                                  }),
              "an algorithm of hosts is of one model");
static_assert(std::ranges::all_of(kHashAlgorithms,
                                  [](const HashAlgorithmRow& row) {
                                    const auto is_known = [](uint8_t bits) {
                                      return bits == 0 || bits == 16 || bits == 32;
                                    };
                                    return std::ranges::all_of(row.bits, is_known) && row.bits != decltype(row.bits){};
                                  }),
              "EcmpHash rotates results of 16 and of 32 bits");

// Calls `f.template operator()<A>()` with the algorithm as a constant: once per burst, so that `f` is compiled for
// each row of the table.
template <size_t Row = 0, typename F>
[[gnu::always_inline]] inline auto with_algorithm(HashAlgorithm algorithm, F&& f) {
  constexpr HashAlgorithm kThis = kHashAlgorithms[Row].algorithm;
  if constexpr (Row + 1 < kHashAlgorithms.size()) {
    if (algorithm != kThis) return with_algorithm<Row + 1>(algorithm, f);
  }
  return f.template operator()<kThis>();
}

}  // namespace softspine::dataplane
