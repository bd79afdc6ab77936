// SPDX-License-Identifier: Apache-2.0
// A switch's hash: algorithm, fields, UDFs, seed, offset. Names and numbers are SAI's where SAI has
// them. Plain structs; EcmpHash (ecmp_hash.hpp) is what a switch makes of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/hashing/hash_algorithm.hpp"

namespace softspine::dataplane {

// In the order in which they stand in the key, whatever order the configuration lists them in.
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
  kSrcIpv4,
  kDstIpv4,
  kSrcIpv6,
  kDstIpv6,
  // Fields of the packet inside a tunnel (inner_headers.hpp).
  kInnerSrcMac,
  kInnerDstMac,
  kInnerEthertype,
  kInnerSrcIp,
  kInnerDstIp,
  kInnerIpProtocol,
  kInnerL4SrcPort,
  kInnerL4DstPort,
  kInnerSrcIpv4,
  kInnerDstIpv4,
  kInnerSrcIpv6,
  kInnerDstIpv6,
};

constexpr bool is_inner(HashField field) {
  return field >= HashField::kInnerSrcMac;
}

// User-defined field: bytes at an offset from the start of a header, of the packets that match.
enum class UdfBase : uint8_t { kL2, kL3, kL4 };

inline constexpr uint32_t kMaxUdfs = 4;
inline constexpr uint32_t kMaxUdfBytes = 16;
inline constexpr uint32_t kMaxUdfReach = 128;  // offset + length: how far from its base a parser looks

struct Udf {
  UdfBase base = UdfBase::kL4;
  uint16_t offset = 0;
  uint8_t length = 1;
  std::vector<uint8_t> mask;            // one byte for each of the field; empty: all bits
  std::optional<uint16_t> l2_type;      // EtherType behind a tag
  std::optional<uint8_t> l3_protocol;   // IPv4's protocol, IPv6's next header
  std::optional<uint16_t> l4_dst_port;  // UDP and TCP only
  friend bool operator==(const Udf&, const Udf&) = default;
};

// SAI's fine-grained hash field: a masked field, whose place in the key follows from `sequence`.
struct FineGrainedField {
  HashField field = HashField::kSrcIp;
  std::vector<uint8_t> mask;  // for addresses, of the address's length; empty: all bits
  uint32_t sequence = 0;      // the order in the key; fields that share one other than 0 are XORed
  friend bool operator==(const FineGrainedField&, const FineGrainedField&) = default;
};

// The fields of a hash object.
struct HashObject {
  std::vector<HashField> fields;
  std::vector<Udf> udfs;
  std::vector<FineGrainedField> fine_grained;
  friend bool operator==(const HashObject&, const HashObject&) = default;
};

// The packets that may have a hash object of their own. All others, and those whose object is not set, use the switch's
// fields. A RoCEv2 packet whose own object is not set uses the object of its IP version.
enum class HashObjectOf : uint8_t { kIpv4, kIpv4InIpv4, kIpv6, kIpv4Rdma, kIpv6Rdma };
inline constexpr size_t kHashObjects = 5;

constexpr bool is_of_ipv6(HashObjectOf packets) {
  return packets == HashObjectOf::kIpv6 || packets == HashObjectOf::kIpv6Rdma;
}

// RTAG7's parts beside one function of one key (rtag7_blocks.hpp). Each of the blocks A and B has fields and a seed
// of its own and two functions; block A's fields, seed and first function are those of HashConfig itself.
enum class Rtag7Output : uint8_t { kA0, kB0, kA1, kB1 };

struct Rtag7Options {  // of a block
  HashAlgorithm second = HashAlgorithm::kCrc;
  std::optional<std::vector<HashField>> equal_ports;  // the fields of UDP and TCP whose two ports are the same number
  bool pre_processing = false;                        // of each bin: h ^ h >> 3 ^ h << 2
  bool low_ipv6 = false;                              // an IPv6 address counts by its last 32 bits only
  bool symmetric = false;                             // both directions of a flow hash alike
};

// Which output a packet takes, and by how many bits it is rotated, looked up by eight bits of a function of block A.
struct Rtag7MacroFlow {
  struct Entry {
    Rtag7Output output = Rtag7Output::kA0;
    uint8_t offset = 0;
  };
  static constexpr uint32_t kEntries = 256;
  HashAlgorithm algorithm = HashAlgorithm::kCrc;
  bool upper_byte = false;
  std::vector<Entry> table;  // repeated up to 256
};

struct Rtag7Config {
  Rtag7Options a;
  HashAlgorithm b_first = HashAlgorithm::kCrc;
  std::optional<std::vector<HashField>> b_fields;  // the same as block A's if not given
  uint32_t b_seed = 0;
  Rtag7Options b;
  Rtag7Output output = Rtag7Output::kA0;
  std::optional<Rtag7MacroFlow> macro_flow;
};

struct HashConfig {
  HashModel model = HashModel::kSai;
  HashAlgorithm algorithm = HashAlgorithm::kCrc;
  std::vector<HashField> fields{HashField::kSrcIp, HashField::kDstIp, HashField::kIpProtocol, HashField::kL4SrcPort,
                                HashField::kL4DstPort};
  std::vector<Udf> udfs;
  std::vector<FineGrainedField> fine_grained;  // SAI's model only, like the next two
  std::array<std::optional<HashObject>, kHashObjects> objects{};
  bool symmetric = false;  // both directions of a flow hash alike: MACs, addresses and ports change places
  uint32_t seed = 0;
  uint8_t offset = 0;                // bits by which the result is rotated right, within its width
  uint8_t linux_policy = 0;          // Linux: fib_multipath_hash_policy; the seed is fib_multipath_hash_seed
  std::optional<Rtag7Config> rtag7;  // if more of RTAG7 is used than block A's first function
  std::vector<uint8_t> key;          // for an algorithm that takes one; empty: the key that its authors published
};

// The configuration that holds for packets with a hash object of their own.
inline HashConfig with_object(const HashConfig& config, const HashObject& object) {
  HashConfig out = config;
  out.fields = object.fields;
  out.udfs = object.udfs;
  out.fine_grained = object.fine_grained;
  return out;
}

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
