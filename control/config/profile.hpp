// SPDX-License-Identifier: Apache-2.0
// A profile: the tables that a switch works by, resolved (inheritance applied, defaults filled in).
// Names are SAI's and SONiC's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace softspine::control {

// Values as SAI numbers them, then ours.
enum class HashAlgorithm : uint8_t { kCrc, kXor, kRandom, kCrc32Lo, kCrc32Hi, kCrcCcitt, kCrcXor, kToeplitz, kXxh3 };

enum class HashField : uint8_t {
  kInPort,
  kSrcMac,
  kDstMac,
  kEthertype,
  kVlanId,
  kIpProtocol,
  kSrcIp,
  kDstIp,
  kL4SrcPort,
  kL4DstPort,
  kIpv6FlowLabel,
  kRdmaBthOpcode,
  kRdmaBthDestQp
};

struct HashConfig {
  HashAlgorithm algorithm = HashAlgorithm::kCrc;
  std::vector<HashField> fields{HashField::kSrcIp, HashField::kDstIp, HashField::kIpProtocol, HashField::kL4SrcPort,
                                HashField::kL4DstPort};
  uint32_t seed = 0;
  uint8_t offset = 0;  // rotates the result right
};

// SONiC's AZURE maps: DSCP 3 → tc 3, 4 → 4, 46 → 5, 48 → 6, 8 → 0, the rest → 1.
constexpr std::array<uint8_t, 64> azure_dscp_to_tc() {
  std::array<uint8_t, 64> map{};
  map.fill(1);
  map[3] = 3;
  map[4] = 4;
  map[46] = 5;
  map[48] = 6;
  map[8] = 0;
  return map;
}

struct Profile {
  std::string name = "default";
  std::array<uint64_t, 8> queue_limit_bytes{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20};
  uint32_t mtu = 9100;  // of the links of switches with this profile, unless a link says otherwise
  HashConfig hash;
  std::array<uint8_t, 64> dscp_to_tc = azure_dscp_to_tc();
  std::array<uint8_t, 8> tc_to_queue{0, 1, 2, 3, 4, 5, 6, 7};
};

}  // namespace softspine::control
