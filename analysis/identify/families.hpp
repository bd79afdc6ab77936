// SPDX-License-Identifier: Apache-2.0
// The hashes among which the search chooses: each model's algorithms, over sets of fields, with seed and offset open;
// of Linux its policies, of Open vSwitch its algorithms, with the seed open.
//
// Configurations whose hashes of all flows of a sample differ by one constant (exclusive or) are one family, if they
// are linear: their seeds add a constant as well, so this sample cannot distinguish them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "analysis/identify/sample.hpp"
#include "dataplane/hashing/hash_config.hpp"

namespace softspine::analysis {

using FieldList = std::vector<dataplane::HashField>;

struct Family {
  std::vector<dataplane::HashConfig> configs;  // seed and offset 0; the most usual fields first
  uint32_t width = 0;
  bool is_linear = false;
  std::vector<uint32_t> raw;             // linear: each flow's hash, before it is rotated
  std::vector<dataplane::HashKey> keys;  // others: each flow's key
  std::vector<uint32_t> alike;           // each flow's number among those of another hash or key: who shares it

  // Linux and Open vSwitch do not rotate.
  uint32_t offsets() const { return dataplane::row_of(configs.front().algorithm).is_of_hosts() ? 1 : width; }
};

// A hash of 16 or 32 bits as the offset turns it.
inline uint32_t rotated(uint32_t hash, uint32_t offset, uint32_t width) {
  return width == 32 ? std::rotr(hash, static_cast<int>(offset))
                     : std::rotr(static_cast<uint16_t>(hash), static_cast<int>(offset));
}

// Sets of fields in the order in which they are tried.
enum class FieldTier : uint8_t {
  kLikely,   // the 5-tuple and what differs from it by little; of IPv6 also Linux's addresses, protocol and label
  kUsual,    // all sets of SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IP_PROTOCOL and RDMA_BTH_DEST_QP
  kFurther,  // these with SRC_IPV4 and the like in the place of addresses, and with up to two other fields
};
inline constexpr std::array kFieldTiers{FieldTier::kLikely, FieldTier::kUsual, FieldTier::kFurther};

// The field sets of a tier that no earlier tier has, and that may explain the proven parts: by themselves, or in a
// symmetric hash, which takes source for destination. The most usual first.
std::vector<FieldList> field_sets(FieldTier tier, const std::set<FlowPart>& proven, bool is_ipv6);

// How far a configuration is from what switches usually have; 0 is the 5-tuple, seed 0, no offset.
uint32_t rarity(const dataplane::HashConfig& config);

// The families of the sets, with those options that explain the proven parts.
std::vector<Family> families_of(const Sample& sample, const std::vector<FieldList>& sets,
                                const std::set<FlowPart>& proven);

}  // namespace softspine::analysis
