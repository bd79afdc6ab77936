// SPDX-License-Identifier: Apache-2.0
// The ECMP hash of one switch, compiled from its configuration:
//
//   key (hash_key.hpp) → algorithm(seed) → rotate right by offset, within the result's width → hash
//
// hash_algorithm.hpp lists the algorithms; hash_function.hpp, and for RTAG7 rtag7_function.hpp, has what each computes
// and where the seed goes. If more of RTAG7 is configured than one function of block A, rtag7_blocks.hpp
// computes the hash instead.
//
// CRC, XOR and Toeplitz are linear (SeedEffect): another seed renames the members of a group of 2^n and separates no
// flows. An offset, another polynomial, or XXH3 does separate them. By default every switch hashes alike, as in an
// unconfigured fleet.
//
// A packet's key is laid out by the hash object for packets of its kind (HashObjectOf), if that is set.
//
// The usual key (SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IP_PROTOCOL, and the destination QP as a field or as
// E-ECMP's UDF) of IPv4 is hashed in registers, without being laid out in memory: usual_key.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/hashing/ecmp_group.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/hash_function.hpp"
#include "dataplane/hashing/hash_key.hpp"
#include "dataplane/hashing/rtag7_blocks.hpp"
#include "dataplane/hashing/rtag7_function.hpp"
#include "dataplane/packet/packet_flag.hpp"

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
  KeyShape shape() const { return shape_; }
  uint32_t width_bits() const { return width_; }
  bool is_drawn() const { return row_of(algorithm_).is_drawn; }

  // The key of any packet.
  void build(const HeaderView& view, HashKey& key) const noexcept {
    if (is_built_apart_) return build_apart(view, key);
    layout_of(view).build(view, key);
  }
  // Which of a group's buckets a hash chooses.
  uint32_t bucket_of(uint32_t hash, uint32_t buckets) const noexcept {
    return row_of(algorithm_).by_threshold ? threshold_bucket(hash, buckets) : hash % buckets;
  }
  // The hash of a key; 0 if a number is drawn for each packet instead (is_drawn).
  uint32_t of(const HashKey& key) const noexcept;
  template <HashAlgorithm A>
  uint32_t of(const HashKey& key) const noexcept {
    return blocks_ == nullptr ? of<A>(key.words.data(), key.count) : blocks_->take(key).hash();
  }
  // Only without RTAG7's blocks.
  template <HashAlgorithm A>
  uint32_t of(const uint64_t* words, uint32_t count) const noexcept {
    return rotated(raw<A>(words, count), width_);
  }
  template <HashAlgorithm A, HashModel M>
  uint32_t of(const uint64_t* words, uint32_t count) const noexcept {
    return rotated(raw<A, M>(words, count), row_of(A).bits_in(M));
  }
  // The hash before the rotation.
  uint32_t raw(const HashKey& key) const noexcept;

  // To explain a hash: which function of the key was taken, the key's layout, and the bytes that were hashed.
  HashTaken taken(const HashKey& key) const noexcept;
  const KeyLayout& layout(const HashTaken& taken, const HeaderView& view) const noexcept;
  std::vector<uint8_t> bytes_of(const HashTaken& taken, const HashKey& key) const;

  // True for an unconfigured switch's hash: the 5-tuple by SAI's CRC, whatever seed and offset. Its key is two words.
  bool is_plain() const {
    return algorithm_ == HashAlgorithm::kCrc && usual_ == UsualKey::kFiveTuple && model_ == HashModel::kSai;
  }
  uint32_t of_plain(uint64_t addresses, uint64_t rest) const noexcept {
    return std::rotr(crc32c_of_word(crc32c_of_word(setup_.start, addresses), rest), offset_);
  }

 private:
  template <HashAlgorithm A>
  uint32_t raw(const uint64_t* words, uint32_t count) const noexcept {
    constexpr const HashAlgorithmRow& row = row_of(A);
    if constexpr (row.is_of_hosts()) return HashFunction<A>::of(setup_, words, count);
    if constexpr (row.is_in(HashModel::kRtag7) && !row.is_in(HashModel::kSai))
      return raw<A, HashModel::kRtag7>(words, count);
    if constexpr (row.is_in(HashModel::kSai) && row.is_in(HashModel::kRtag7)) {
      if (model_ == HashModel::kRtag7) return raw<A, HashModel::kRtag7>(words, count);
    }
    if constexpr (row.is_in(HashModel::kSai)) return raw<A, HashModel::kSai>(words, count);
  }
  template <HashAlgorithm A, HashModel M>
  uint32_t raw(const uint64_t* words, uint32_t count) const noexcept {
    if constexpr (M != HashModel::kRtag7) return HashFunction<A>::of(setup_, words, count);
    if constexpr (M == HashModel::kRtag7) return Rtag7Function<A>::of(words, count) ^ setup_.start;
  }
  using Objects = std::array<std::optional<KeyLayout>, kHashObjects>;
  static std::shared_ptr<const Objects> objects_of(const HashConfig& config);
  const KeyLayout& layout_of(const HeaderView& view) const noexcept {
    if (objects_ != nullptr) [[unlikely]]
      return layout_of_object(view);
    return layouts_[(view.flags & kIsIpv6) != 0 ? 1 : 0];
  }
  void build_apart(const HeaderView& view, HashKey& key) const noexcept;
  const KeyLayout& layout_of_object(const HeaderView& view) const noexcept;
  uint32_t longest_key_words() const;
  template <HashAlgorithm A>
  HashSetup set_up(const HashConfig& config) const;
  uint32_t rotated(uint32_t raw, uint32_t width) const noexcept {
    if (width == 32) return std::rotr(raw, offset_);
    return std::rotr(static_cast<uint16_t>(raw), offset_);
  }

  HashAlgorithm algorithm_ = HashAlgorithm::kCrc;
  HashModel model_ = HashModel::kSai;
  UsualKey usual_ = UsualKey::kNo;
  KeyShape shape_ = KeyShape::kPacked;
  uint8_t offset_ = 0;
  bool is_built_apart_ = false;  // RTAG7's blocks, or what is inside of the packet
  uint32_t width_ = 32;
  OwnKey::ViewOf inside_ = nullptr;  // hashed in the place of each packet
  HashSetup setup_;
  std::array<KeyLayout, 2> layouts_;        // by IP version
  std::shared_ptr<const Objects> objects_;  // null: there are none
  std::shared_ptr<const Rtag7Blocks> blocks_;
  HashConfig config_;
};

inline uint32_t EcmpHash::of(const HashKey& key) const noexcept {
  return with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return of<A>(key); });
}

}  // namespace softspine::dataplane
