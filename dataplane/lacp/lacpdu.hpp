// SPDX-License-Identifier: Apache-2.0
// A LACPDU (802.1AX-2014, 6.4.2): the state of one end of a link, and its knowledge of the other's.
//
//   Ethernet: to 01-80-C2-00-00-02, type 0x8809; then 110 bytes
//   offset    0  subtype 1, version 1
//             2  actor TLV: type 1, length 20; priority and MAC of the system, key, priority and number of the port,
//             state
//            22  partner TLV: type 2, length 20; the same of the other end
//            42  collector TLV: type 3, length 16; its largest delay
//            58  terminator: type 0, length 0; 50 bytes of zeros
//
// As the standard asks (6.4.12), a receiver does not look at version, types of TLVs, the terminator and reserved bytes:
// later versions use them. Lengths of the three TLVs are validated. Numbers are big-endian.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <span>

#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kLacpFrameBytes = ethernet::kBytes + 110;
inline constexpr uint16_t kTypeSlowProtocols = 0x8809;
inline constexpr MacAddress kSlowProtocolsMac{0x01, 0x80, 0xc2, 0x00, 0x00, 0x02};

// Bits of a state.
namespace lacp {
inline constexpr uint8_t kActive = 1;
inline constexpr uint8_t kShortTimeout = 2;
inline constexpr uint8_t kAggregation = 4;
inline constexpr uint8_t kSynchronization = 8;
inline constexpr uint8_t kCollecting = 16;
inline constexpr uint8_t kDistributing = 32;
inline constexpr uint8_t kDefaulted = 64;
inline constexpr uint8_t kExpired = 128;
}  // namespace lacp

// One end of a link.
struct LacpEnd {
  uint16_t system_priority = 0;
  MacAddress system{};
  uint16_t key = 0;
  uint16_t port_priority = 0;
  uint16_t port = 0;
  uint8_t state = 0;

  bool has(uint8_t bits) const { return (state & bits) == bits; }
  // The same port of the same system with the same key; states may differ.
  bool is_same_port(const LacpEnd& other) const {
    return system_priority == other.system_priority && system == other.system && key == other.key &&
           port_priority == other.port_priority && port == other.port;
  }
  friend bool operator==(const LacpEnd&, const LacpEnd&) = default;
};

struct Lacpdu {
  LacpEnd actor;
  LacpEnd partner;
  uint8_t version = 1;
  friend bool operator==(const Lacpdu&, const Lacpdu&) = default;
};

enum class LacpduFault : uint8_t {
  kTruncated,     // fewer bytes than the three TLVs take
  kOtherSubtype,  // of the slow protocols, not LACP: a marker, OAM
  kBadLength,     // a TLV's length is not the standard's
};

// `frame`: from the destination's MAC on, untagged, of type 0x8809.
std::expected<Lacpdu, LacpduFault> read_lacpdu(std::span<const uint8_t> frame) noexcept;
// Writes a whole frame from `source`.
void write_lacpdu(const Lacpdu& pdu, const MacAddress& source, std::span<uint8_t, kLacpFrameBytes> frame) noexcept;

}  // namespace softspine::dataplane
