// SPDX-License-Identifier: Apache-2.0
// The ECMP hash of one switch, compiled from its configuration:
//
//   key (hash_key.hpp) → algorithm(seed) → rotate right by offset, within the result's width → hash
//
//   algorithm   SAI (HashModel::kSai)               RTAG7 (HashModel::kRtag7)            width
//   CRC         CRC-32C                             CRC-16/ARC (BISYNC), bits reversed   32 / 16
//   XOR         the key's 16-bit words, big-endian  the same                             16
//   RANDOM      drawn for each packet: no key       the same                             32
//   CRC_32LO    the lower half of CRC-32C           the same                             16
//   CRC_32HI    the upper half of CRC-32C           the same                             16
//   CRC_CCITT   CRC-16/KERMIT                       the same, bits reversed              16
//   CRC_XOR     upper byte: the upper one of the    the same of RTAG7's CRC              16
//               CRC-16 (ARC); lower: XOR of bytes
//   TOEPLITZ    toeplitz.hpp                        not there                            32
//   XXH3        the lower half of XXH3's 64 bits    not there                            32
//
// The seed. SAI leaves it open; here it is the start value: of a CRC's register (16 bits: both halves of the seed,
// exclusive or), of the XOR, XXH3's seed, and it is added to a Toeplitz hash. RTAG7: the CRC begins at 0 and the
// seed's four bytes, big-endian, come before the key. A CRC is linear, so that is a start value, too, and costs
// nothing.
//
// No CRC is inverted at its end. CRC, XOR and Toeplitz are linear: hash(seed') = hash(seed) ⊕ a constant of the
// key's length. In a group of 2^n members another seed therefore only renames the members; an offset, another
// polynomial, or XXH3 does not. The default, every switch alike, is what an unconfigured fleet does.
//
// The usual key (SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IP_PROTOCOL, and the destination QP as a field or as
// E-ECMP's UDF) of IPv4 is hashed without being laid out: usual_key.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "dataplane/hashing/crc.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/hash_key.hpp"
#include "dataplane/hashing/toeplitz.hpp"
#include "dataplane/hashing/xxh3.hpp"

namespace softspine::dataplane {

// How the destination QP comes into the usual key.
enum class UsualKey : uint8_t { kNo, kFiveTuple, kWithQpField, kWithQpUdf };

class EcmpHash {
 public:
  EcmpHash() : EcmpHash(HashConfig{}) {}
  explicit EcmpHash(const HashConfig& config);

  HashAlgorithm algorithm() const { return algorithm_; }
  HashModel model() const { return model_; }
  const HashConfig& config() const { return config_; }
  UsualKey usual_key() const { return usual_; }
  const KeyLayout& layout(bool is_ipv6) const { return layouts_[is_ipv6 ? 1 : 0]; }
  uint32_t width_bits() const { return width_; }

  // The hash of a key; of RANDOM there is none: 0.
  uint32_t of(const HashKey& key) const noexcept;
  template <HashAlgorithm A>
  uint32_t of(const uint64_t* words, uint32_t count) const noexcept {
    return rotated<A>(raw<A>(words, count));
  }
  // Before the rotation.
  uint32_t raw(const HashKey& key) const noexcept;

  // What an unconfigured switch does: the 5-tuple by SAI's CRC, whatever seed and offset. Its key is two words.
  bool is_plain() const {
    return algorithm_ == HashAlgorithm::kCrc && usual_ == UsualKey::kFiveTuple && model_ == HashModel::kSai;
  }
  uint32_t of_plain(uint64_t addresses, uint64_t rest) const noexcept {
    return std::rotr(crc32c_of_word(crc32c_of_word(start_, addresses), rest), offset_);
  }

 private:
  template <HashAlgorithm A>
  uint32_t raw(const uint64_t* words, uint32_t count) const noexcept;
  template <HashAlgorithm A>
  uint32_t rotated(uint32_t raw) const noexcept {
    if (A == HashAlgorithm::kToeplitz || A == HashAlgorithm::kXxh3 || (A == HashAlgorithm::kCrc && width_ == 32))
      return std::rotr(raw, offset_);
    return std::rotr(static_cast<uint16_t>(raw), offset_);
  }
  uint16_t crc16(const Crc16& by, const uint64_t* words, uint32_t count) const noexcept {
    auto crc = static_cast<uint16_t>(start_);
    for (uint32_t i = 0; i < count; ++i) crc = crc16_of_word(by, crc, words[i]);
    return model_ == HashModel::kRtag7 ? bits_reversed(crc) : crc;
  }
  uint32_t crc32c(const uint64_t* words, uint32_t count) const noexcept {
    uint32_t crc = start_;
    for (uint32_t i = 0; i < count; ++i) crc = crc32c_of_word(crc, words[i]);
    return crc;
  }
  // All 16-bit words, as memory has them, on top of each other.
  static uint32_t folded(const uint64_t* words, uint32_t count) noexcept {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum ^= words[i];
    sum ^= sum >> 32;
    return static_cast<uint16_t>(sum ^ sum >> 16);
  }

  HashAlgorithm algorithm_ = HashAlgorithm::kCrc;
  HashModel model_ = HashModel::kSai;
  UsualKey usual_ = UsualKey::kNo;
  uint8_t offset_ = 0;
  uint32_t start_ = 0;
  uint32_t width_ = 32;
  std::shared_ptr<const ToeplitzTables> toeplitz_;
  std::array<KeyLayout, 2> layouts_;
  HashConfig config_;
};

template <HashAlgorithm A>
uint32_t EcmpHash::raw(const uint64_t* words, uint32_t count) const noexcept {
  if constexpr (A == HashAlgorithm::kCrc) {
    return width_ == 32 ? crc32c(words, count) : crc16(kArc, words, count);
  } else if constexpr (A == HashAlgorithm::kXor) {
    return start_ ^ __builtin_bswap16(static_cast<uint16_t>(folded(words, count)));
  } else if constexpr (A == HashAlgorithm::kCrc32Lo) {
    return crc32c(words, count) & 0xffff;
  } else if constexpr (A == HashAlgorithm::kCrc32Hi) {
    return crc32c(words, count) >> 16;
  } else if constexpr (A == HashAlgorithm::kCrcCcitt) {
    return crc16(kKermit, words, count);
  } else if constexpr (A == HashAlgorithm::kCrcXor) {
    const uint32_t sum = folded(words, count) ^ start_ >> 16;
    return (crc16(kArc, words, count) & 0xff00U) | ((sum ^ sum >> 8) & 0xff);
  } else if constexpr (A == HashAlgorithm::kToeplitz) {
    uint32_t hash = start_;
    for (uint32_t i = 0; i < count; ++i) hash ^= toeplitz_->of_word(i, words[i]);
    return hash;
  } else if constexpr (A == HashAlgorithm::kXxh3) {
    return static_cast<uint32_t>(Xxh3::of(words, count, start_));
  } else {
    return 0;
  }
}

// Calls `f.template operator()<A>()` with the algorithm as a constant: once per burst, so that what is inside it is
// compiled for each.
template <typename F>
auto with_algorithm(HashAlgorithm algorithm, F&& f) {
  using enum HashAlgorithm;
  switch (algorithm) {
    case kXor: return f.template operator()<kXor>();
    case kRandom: return f.template operator()<kRandom>();
    case kCrc32Lo: return f.template operator()<kCrc32Lo>();
    case kCrc32Hi: return f.template operator()<kCrc32Hi>();
    case kCrcCcitt: return f.template operator()<kCrcCcitt>();
    case kCrcXor: return f.template operator()<kCrcXor>();
    case kToeplitz: return f.template operator()<kToeplitz>();
    case kXxh3: return f.template operator()<kXxh3>();
    case kCrc: break;
  }
  return f.template operator()<kCrc>();
}

inline uint32_t EcmpHash::raw(const HashKey& key) const noexcept {
  return with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return raw<A>(key.words.data(), key.count); });
}
inline uint32_t EcmpHash::of(const HashKey& key) const noexcept {
  return with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return of<A>(key.words.data(), key.count); });
}

}  // namespace softspine::dataplane
