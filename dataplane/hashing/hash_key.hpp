// SPDX-License-Identifier: Apache-2.0
// The key that a switch hashes: which bytes of a packet, and in which order.
//
// The configured fields stand in this order, whatever order they are listed in, and then the UDFs in their own:
//   IN_PORT 2 · SRC_MAC 6 · DST_MAC 6 · ETHERTYPE 2 · VLAN_ID 2 · SRC_IP 4 or 16 · DST_IP 4 or 16 · L4_SRC_PORT 2 ·
//   L4_DST_PORT 2 · IP_PROTOCOL 1 · RDMA_BTH_DEST_QP 3 · RDMA_BTH_OPCODE 1 · IPV6_FLOW_LABEL 3 ·
//   SRC_IPV4 4 · DST_IPV4 4 · SRC_IPV6 16 · DST_IPV6 16, in keys of their version only · UDF 1 … 16 each ·
//   INNER_* and fine-grained fields, extra_parts.hpp
// in network order. The model and the algorithm decide how they are packed (KeyShape):
//   kPacked   byte after byte, then zeros up to a multiple of 8 bytes: the usual key of IPv4 with a destination QP has
//             16 bytes
//   kWords    each field in whole words of 16 bits, with zeros before a shorter one, then zeros as for kPacked. For
//             SAI's XOR, which would otherwise lay the lower byte of one field over the upper byte of another
//   kBins     RTAG7's 28 bytes behind 4 of zeros (rtag7_function.hpp), the seed's place left empty
//   kOwn      that of a model of hosts: linux_key.hpp, ovs_key.hpp
//
// A field that a packet does not have is zeros, so that one key has one length per IP version:
//   ports      of whole UDP and TCP packets only. A fragment (the first one, too) and any other protocol are hashed by
//              layer 3, so that the fragments of a datagram stay together
//   BTH        of RoCEv2 packets only (UDP to 4791 with a whole BTH)
//   a UDF      of packets that match it only; if it is based on layer 4, never of a fragment
// A UDF that reaches past the frame's end takes the bytes that are there, then zeros; the caller counts `cut_short`.
// VLAN_ID is the VLAN that the packet is in, 0 on a routed port; IN_PORT the port's number in the switch, from 0.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/hashing/extra_parts.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/key_part.hpp"
#include "dataplane/hashing/own_key.hpp"

namespace softspine::dataplane {

enum class KeyShape : uint8_t { kPacked, kWords, kBins, kOwn };

inline KeyShape shape_of(const HashConfig& config) {
  if (config.model == HashModel::kRtag7) return KeyShape::kBins;
  if (row_of(config.model).is_of_hosts) return KeyShape::kOwn;
  return row_of(config.algorithm).in_words ? KeyShape::kWords : KeyShape::kPacked;
}

// The longest key that may be configured: for kWords as much as HashKey holds, else as much as XXH3 takes.
constexpr uint32_t max_key_bytes(KeyShape shape) {
  return shape == KeyShape::kWords ? 136 : 128;
}

struct HashKey {
  static constexpr uint32_t kMaxWords = 17;
  alignas(16) std::array<uint64_t, kMaxWords> words;  // as memory has the bytes
  uint32_t count;                                     // words in use
  bool cut_short;                                     // a UDF reached past the frame

  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(words.data()); }
};

// A key's layout for one IP version.
class KeyLayout {
 public:
  KeyLayout() = default;
  KeyLayout(const HashConfig& config, bool is_ipv6);

  void build(const HeaderView& view, HashKey& key) const noexcept;

  // The parts, to show a key.
  const std::vector<KeyPart>& parts() const { return parts_; }
  bool has(const KeyPart& part, const HeaderView& view) const noexcept;
  uint32_t used_bytes() const { return used_; }
  uint32_t words() const { return words_; }
  KeyShape shape() const { return shape_; }
  // A part's bytes in network order, as they came into the key.
  std::vector<uint8_t> bytes_of(const KeyPart& part, const HashKey& key) const;
  // The bits that a packet can set in the part's byte number `byte`.
  uint8_t mask_of(const KeyPart& part, size_t byte) const;

  // The size of RTAG7's bins 1 and 0, and how many bytes a configuration puts into them.
  static constexpr uint32_t kUserBinBytes = 4;
  static uint32_t user_bytes(const HashConfig& config, bool is_ipv6);

 private:
  void add(KeyPart part);
  void add_to_bins(KeyPart part, uint32_t& user_at);
  bool is_other_direction(const HeaderView& view) const noexcept;
  void into_bins(HashKey& key) const noexcept;
  void finish(const HeaderView& view, HashKey& key) const noexcept;
  bool has_plain(const KeyPart& part, const HeaderView& view) const noexcept;
  bool matches(const Udf& udf, const HeaderView& view) const noexcept;
  void take_udf(const KeyPart& part, const HeaderView& view, HashKey& key) const noexcept;

  std::vector<KeyPart> parts_;
  uint32_t plain_ = 0;  // of the parts: those before the extra ones
  ExtraParts extra_;
  bool symmetric_ = false;
  uint8_t variant_ = 0;          // of the own key
  const OwnKey* own_ = nullptr;  // for kOwn
  std::vector<Udf> udfs_;
  KeyShape shape_ = KeyShape::kPacked;
  Rtag7Options options_;
  uint32_t used_ = 0;
  uint32_t words_ = 1;
};

}  // namespace softspine::dataplane
