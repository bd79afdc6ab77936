// SPDX-License-Identifier: Apache-2.0
// What a switch hashes and how: algorithm, fields, UDFs, seed, offset. Names and numbers are SAI's where SAI has
// them. Plain structs; EcmpHash (ecmp_hash.hpp) is what a switch makes of one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/hashing/hash_algorithm.hpp"

namespace softspine::dataplane {

// In the order in which they stand in the key, whatever the order in which they are asked for.
enum class HashField : uint8_t {
  kInPort,
  kSrcMac,
  kDstMac,
  kEthertype,
  kVlanId,
  kSrcIp,
  kDstIp,
  kL4SrcPort,
  kL4DstPort,
  kIpProtocol,
  kRdmaBthDestQp,
  kRdmaBthOpcode,
  kIpv6FlowLabel,
};

// User-defined field: bytes at an offset from the start of a header, of the packets that match.
enum class UdfBase : uint8_t { kL2, kL3, kL4 };

inline constexpr uint32_t kMaxUdfs = 4;
inline constexpr uint32_t kMaxUdfBytes = 16;
inline constexpr uint32_t kMaxUdfReach = 128;  // offset + length: how far from its base a parser looks

struct Udf {
  UdfBase base = UdfBase::kL4;
  uint16_t offset = 0;
  uint8_t length = 1;
  std::vector<uint8_t> mask;            // one byte each; empty: all of all
  std::optional<uint16_t> l2_type;      // EtherType behind a tag
  std::optional<uint8_t> l3_protocol;   // IPv4's protocol, IPv6's next header
  std::optional<uint16_t> l4_dst_port;  // UDP and TCP only
  friend bool operator==(const Udf&, const Udf&) = default;
};

struct HashConfig {
  HashModel model = HashModel::kSai;
  HashAlgorithm algorithm = HashAlgorithm::kCrc;
  std::vector<HashField> fields{HashField::kSrcIp, HashField::kDstIp, HashField::kIpProtocol, HashField::kL4SrcPort,
                                HashField::kL4DstPort};
  std::vector<Udf> udfs;
  uint32_t seed = 0;
  uint8_t offset = 0;        // bits by which the result is rotated right, within its width
  std::vector<uint8_t> key;  // of an algorithm that takes one; empty: the one that its authors published
};

// E-ECMP: the destination QP of RoCEv2 as a UDF.
inline Udf destination_qp_udf() {
  return {.base = UdfBase::kL4,
          .offset = 13,
          .length = 3,
          .mask = {},
          .l2_type = {},
          .l3_protocol = {},
          .l4_dst_port = 4791};
}

}  // namespace softspine::dataplane
