// SPDX-License-Identifier: Apache-2.0
// A packet's headers as the hash sees them, and where in them each field of a key is.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

// A frame whose headers were parsed: the facts of PacketMeta for code that has no Packet.
struct HeaderView {
  const uint8_t* frame;
  uint32_t stored_bytes;  // in memory; the bytes missing from frame_bytes are zeros before the last four
  uint32_t frame_bytes;
  uint16_t l3_offset;
  uint16_t l4_offset;  // 0: none
  uint16_t in_port;
  uint16_t vlan;
  uint16_t ether_type;
  uint8_t flags;  // PacketFlag
  uint8_t ip_protocol;
};

// One part of a key: where it comes from, where it stands.
struct KeyPart {
  // kNone: a field that RTAG7 takes only from packets that are not IP, which no ECMP group forwards, or from inside of
  // a tunnel. kExtra: a field from inside of a tunnel, or a fine-grained one (extra_parts.hpp).
  enum class Source : uint8_t {
    kInPort,
    kVlan,
    kEtherType,
    kProtocol,
    kFlowLabel,
    kBytes,
    kFoldedAddress,
    kLowAddress,
    kUdf,
    kExtra,
    kNone
  };
  static constexpr uint8_t kNotFine = 0xff;

  Source source = Source::kBytes;
  UdfBase base = UdfBase::kL3;
  uint8_t needs = 0;                     // flags of which a packet must have one; 0: any packet
  uint16_t offset = 0;                   // from the base
  uint16_t mirror = 0;                   // offset of the opposite field: for a source, its destination
  uint8_t length = 0;                    // in the packet
  uint8_t to = 0;                        // in the key; for kBins, before into_bins() reverses it
  HashField field = HashField::kInPort;  // unless it is a UDF
  uint8_t udf = 0;                       // of the configuration's
  uint8_t fine = kNotFine;               // of the configuration's fine-grained fields
};

// Where a field outside of tunnels comes from, in packets of one IP version.
KeyPart source_of(HashField field, bool is_ipv6);

// Whether a field is of packets of the other version only.
bool is_elsewhere(HashField field, bool is_ipv6);

// The fields in the key's order, each once, then the UDFs; without those inside of tunnels.
std::vector<KeyPart> parts_of(const HashConfig& config, bool is_ipv6);

inline uint32_t base_of(UdfBase base, const HeaderView& view) {
  return base == UdfBase::kL2 ? 0 : base == UdfBase::kL3 ? view.l3_offset : view.l4_offset;
}

// Copies a part's bytes from the packet, in network order; nothing for a UDF or an extra part. `turned`: source and
// destination change places.
[[gnu::always_inline]] inline void take_bytes(const KeyPart& part, const HeaderView& view, bool turned, uint8_t* to) {
  const uint8_t* from = view.frame + base_of(part.base, view) + (turned ? part.mirror : part.offset);
  switch (part.source) {
    case KeyPart::Source::kInPort: store16(to, view.in_port); break;
    case KeyPart::Source::kVlan: store16(to, view.vlan); break;
    case KeyPart::Source::kEtherType: store16(to, view.ether_type); break;
    case KeyPart::Source::kProtocol: *to = view.ip_protocol; break;
    case KeyPart::Source::kFlowLabel: store24(to, load32(view.frame + view.l3_offset) & ipv6::kFlowLabelMask); break;
    case KeyPart::Source::kFoldedAddress:
      store32(to, load32(from) ^ load32(from + 4) ^ load32(from + 8) ^ load32(from + 12));
      break;
    case KeyPart::Source::kLowAddress: std::memcpy(to, from + sizeof(Ipv6Address) - 4, 4); break;
    case KeyPart::Source::kBytes:
      switch (part.length) {  // a move each, where a length that varies would be a call
        case 1: *to = *from; break;
        case 2: std::memcpy(to, from, 2); break;
        case 3: std::memcpy(to, from, 3); break;
        case 4: std::memcpy(to, from, 4); break;
        case 6: std::memcpy(to, from, 6); break;
        default: std::memcpy(to, from, 16); break;
      }
      break;
    default: break;
  }
}

}  // namespace softspine::dataplane
