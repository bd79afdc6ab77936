// SPDX-License-Identifier: Apache-2.0
// The ECMP hash of one switch, compiled from its configuration:
//
//   key (hash_key.hpp) → algorithm(seed) → rotate right by offset, within the result's width → hash
//
// The algorithms: hash_algorithm.hpp; what each computes, and where the seed goes: hash_function.hpp.
//
// CRC, XOR and Toeplitz are linear (SeedEffect): another seed renames the members of a group of 2^n and parts no
// flows; an offset, another polynomial, or XXH3 does. The default, every switch alike, is what an unconfigured fleet
// does.
//
// The usual key (SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IP_PROTOCOL, and the destination QP as a field or as
// E-ECMP's UDF) of IPv4 is hashed without being laid out: usual_key.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/hash_function.hpp"
#include "dataplane/hashing/hash_key.hpp"

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
  bool is_drawn() const { return row_of(algorithm_).is_drawn; }

  // The hash of a key; where one is drawn for each packet (is_drawn) there is none: 0.
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
    return std::rotr(crc32c_of_word(crc32c_of_word(setup_.start, addresses), rest), offset_);
  }

 private:
  template <HashAlgorithm A>
  uint32_t raw(const uint64_t* words, uint32_t count) const noexcept {
    return HashFunction<A>::of(setup_, words, count);
  }
  // The width, as a constant where the algorithm has the same in all models that have it.
  template <HashAlgorithm A>
  uint32_t width() const noexcept {
    constexpr const HashAlgorithmRow& row = row_of(A);
    constexpr uint8_t most = std::max(row.bits_in(HashModel::kSai), row.bits_in(HashModel::kRtag7));
    constexpr bool is_one = std::ranges::all_of(row.bits, [](uint8_t bits) { return bits == 0 || bits == most; });
    if constexpr (is_one) return most;
    return width_;
  }
  template <HashAlgorithm A>
  uint32_t rotated(uint32_t raw) const noexcept {
    if (width<A>() == 32) return std::rotr(raw, offset_);
    return std::rotr(static_cast<uint16_t>(raw), offset_);
  }

  HashAlgorithm algorithm_ = HashAlgorithm::kCrc;
  HashModel model_ = HashModel::kSai;
  UsualKey usual_ = UsualKey::kNo;
  uint8_t offset_ = 0;
  uint32_t width_ = 32;
  HashSetup setup_;
  std::array<KeyLayout, 2> layouts_;
  HashConfig config_;
};

// Calls `f.template operator()<A>()` with the algorithm as a constant: once per burst, so that what is inside it is
// compiled for each row of the table.
template <size_t Row = 0, typename F>
[[gnu::always_inline]] inline auto with_algorithm(HashAlgorithm algorithm, F&& f) {
  constexpr HashAlgorithm kThis = kHashAlgorithms[Row].algorithm;
  if constexpr (Row + 1 < kHashAlgorithms.size()) {
    if (algorithm != kThis) return with_algorithm<Row + 1>(algorithm, f);
  }
  return f.template operator()<kThis>();
}

inline uint32_t EcmpHash::raw(const HashKey& key) const noexcept {
  return with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return raw<A>(key.words.data(), key.count); });
}
inline uint32_t EcmpHash::of(const HashKey& key) const noexcept {
  return with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return of<A>(key.words.data(), key.count); });
}

}  // namespace softspine::dataplane
