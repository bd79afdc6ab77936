// SPDX-License-Identifier: Apache-2.0
// The bytes on the wire: big-endian loads and stores, and where the fields of each header lie.
//
// Loads and stores take any alignment and compile to one move and one byte swap. They check nothing: the caller must
// first compare the offset with the bytes that are there (`stored_bytes`). Offsets count from the first byte of their
// own header, so a field is `load16(l4 + udp::kLength)`.
// Sources: 802.3, 802.1Q, RFC 791, RFC 8200, RFC 768, RFC 826, RFC 792, RFC 4443, RFC 4861; InfiniBand
// Architecture 1.4 chapter 9 and annex A17 (RoCEv2).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace softspine::dataplane {

inline uint16_t load16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
inline uint32_t load32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline uint64_t load64(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}
inline uint32_t load24(const uint8_t* p) {
  return uint32_t{p[0]} << 16 | uint32_t{p[1]} << 8 | p[2];
}
inline uint64_t load48(const uint8_t* p) {
  return uint64_t{load16(p)} << 32 | load32(p + 2);
}

inline void store16(uint8_t* p, uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store32(uint8_t* p, uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store64(uint8_t* p, uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store24(uint8_t* p, uint32_t v) {
  p[0] = static_cast<uint8_t>(v >> 16);
  p[1] = static_cast<uint8_t>(v >> 8);
  p[2] = static_cast<uint8_t>(v);
}
inline void store48(uint8_t* p, uint64_t v) {
  store16(p, static_cast<uint16_t>(v >> 32));
  store32(p + 2, static_cast<uint32_t>(v));
}

using MacAddress = std::array<uint8_t, 6>;
using Ipv6Address = std::array<uint8_t, 16>;

inline constexpr MacAddress kBroadcastMac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
inline constexpr MacAddress kMacControlMac{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

inline MacAddress load_mac(const uint8_t* p) {
  MacAddress mac;
  std::memcpy(mac.data(), p, mac.size());
  return mac;
}
inline void store_mac(uint8_t* p, const MacAddress& mac) {
  std::memcpy(p, mac.data(), mac.size());
}
inline Ipv6Address load_ipv6(const uint8_t* p) {
  Ipv6Address address;
  std::memcpy(address.data(), p, address.size());
  return address;
}
inline void store_ipv6(uint8_t* p, const Ipv6Address& address) {
  std::memcpy(p, address.data(), address.size());
}

namespace ethernet {
inline constexpr uint32_t kDestination = 0;
inline constexpr uint32_t kSource = 6;
inline constexpr uint32_t kType = 12;
inline constexpr uint32_t kBytes = 14;
inline constexpr uint32_t kTagBytes = 4;  // 802.1Q: type 0x8100, then the TCI; the inner type follows
inline constexpr uint32_t kTci = 14;
inline constexpr uint16_t kVlanMask = 0x0fff;
inline constexpr uint8_t kMulticastBit = 0x01;  // of the first byte

inline constexpr uint16_t kTypeIpv4 = 0x0800;
inline constexpr uint16_t kTypeArp = 0x0806;
inline constexpr uint16_t kTypeVlan = 0x8100;
inline constexpr uint16_t kTypeIpv6 = 0x86dd;
inline constexpr uint16_t kTypeMacControl = 0x8808;
inline constexpr uint16_t kTypeSlow = 0x8809;  // LACP
inline constexpr uint16_t kTypeRoce1 = 0x8915;
inline constexpr uint16_t kMinType = 0x0600;  // below it the field is a length

// For a frame whose whole header is there: each is one load, which reads the two bytes behind the address, too.
inline uint64_t destination_of(const uint8_t* frame) {
  return load64(frame + kDestination) >> 16;
}
inline uint64_t source_of(const uint8_t* frame) {
  return load64(frame + kSource) >> 16;
}
}  // namespace ethernet

namespace arp {
inline constexpr uint32_t kHardwareType = 0;
inline constexpr uint32_t kProtocolType = 2;
inline constexpr uint32_t kHardwareLength = 4;
inline constexpr uint32_t kProtocolLength = 5;
inline constexpr uint32_t kOperation = 6;
inline constexpr uint32_t kSenderMac = 8;
inline constexpr uint32_t kSenderIp = 14;
inline constexpr uint32_t kTargetMac = 18;
inline constexpr uint32_t kTargetIp = 24;
inline constexpr uint32_t kBytes = 28;
inline constexpr uint64_t kEthernetIpv4 = 0x000108000604;  // the first six bytes: load48(arp)
inline constexpr uint16_t kRequest = 1;
inline constexpr uint16_t kReply = 2;
}  // namespace arp

namespace ip {  // protocol numbers, shared by both versions
inline constexpr uint8_t kIcmp = 1;
inline constexpr uint8_t kIpv4InIp = 4;
inline constexpr uint8_t kTcp = 6;
inline constexpr uint8_t kUdp = 17;
inline constexpr uint8_t kIpv6InIp = 41;
inline constexpr uint8_t kGre = 47;
inline constexpr uint8_t kIcmp6 = 58;
inline constexpr uint8_t kEcnMask = 0x03;
inline constexpr uint8_t kNotEct = 0x00;
inline constexpr uint8_t kEct1 = 0x01;
inline constexpr uint8_t kEct0 = 0x02;
inline constexpr uint8_t kCe = 0x03;
}  // namespace ip

namespace ipv4 {
inline constexpr uint32_t kVersionIhl = 0;
inline constexpr uint32_t kTos = 1;
inline constexpr uint32_t kTotalLength = 2;
inline constexpr uint32_t kId = 4;
inline constexpr uint32_t kFragment = 6;
inline constexpr uint32_t kTtl = 8;
inline constexpr uint32_t kProtocol = 9;
inline constexpr uint32_t kChecksum = 10;
inline constexpr uint32_t kSource = 12;
inline constexpr uint32_t kDestination = 16;
inline constexpr uint32_t kMinBytes = 20;
inline constexpr uint16_t kDontFragment = 0x4000;
inline constexpr uint16_t kMoreFragments = 0x2000;
inline constexpr uint16_t kFragmentOffsetMask = 0x1fff;
}  // namespace ipv4

namespace ipv6 {
inline constexpr uint32_t kVersionClassFlow = 0;  // 4 version, 8 traffic class, 20 flow label
inline constexpr uint32_t kPayloadLength = 4;
inline constexpr uint32_t kNextHeader = 6;
inline constexpr uint32_t kHopLimit = 7;
inline constexpr uint32_t kSource = 8;
inline constexpr uint32_t kDestination = 24;
inline constexpr uint32_t kBytes = 40;
inline constexpr uint32_t kFlowLabelMask = 0x000fffff;
inline constexpr int kTrafficClassShift = 20;
}  // namespace ipv6

namespace udp {
inline constexpr uint32_t kSourcePort = 0;
inline constexpr uint32_t kDestinationPort = 2;
inline constexpr uint32_t kLength = 4;
inline constexpr uint32_t kChecksum = 6;
inline constexpr uint32_t kBytes = 8;
inline constexpr uint16_t kRoceV2Port = 4791;
}  // namespace udp

namespace icmp {  // versions 4 and 6: the same first eight bytes
inline constexpr uint32_t kType = 0;
inline constexpr uint32_t kCode = 1;
inline constexpr uint32_t kChecksum = 2;
inline constexpr uint32_t kBytes = 8;
inline constexpr uint8_t kEchoReply = 0;
inline constexpr uint8_t kUnreachable = 3;
inline constexpr uint8_t kEchoRequest = 8;
inline constexpr uint8_t kTimeExceeded = 11;
inline constexpr uint8_t k6Unreachable = 1;
inline constexpr uint8_t k6PacketTooBig = 2;
inline constexpr uint8_t k6TimeExceeded = 3;
inline constexpr uint8_t k6EchoRequest = 128;
inline constexpr uint8_t k6EchoReply = 129;
inline constexpr uint8_t k6NeighbourSolicitation = 135;
inline constexpr uint8_t k6NeighbourAdvertisement = 136;
}  // namespace icmp

namespace nd {  // neighbour discovery, after type, code and checksum
inline constexpr uint32_t kFlags = 4;
inline constexpr uint32_t kTarget = 8;
inline constexpr uint32_t kOptions = 24;
inline constexpr uint32_t kLinkOptionBytes = 8;  // type, length in units of 8, MAC
inline constexpr uint8_t kSourceLinkAddress = 1;
inline constexpr uint8_t kTargetLinkAddress = 2;
inline constexpr uint8_t kHopLimit = 255;  // anything less has crossed a router: ignored
inline constexpr uint8_t kRouter = 0x80;
inline constexpr uint8_t kSolicited = 0x40;
inline constexpr uint8_t kOverride = 0x20;
}  // namespace nd

namespace bth {  // base transport header
inline constexpr uint32_t kOpcode = 0;
inline constexpr uint32_t kFlags = 1;  // solicited event 0x80, migration 0x40, pad 0x30, version 0x0f
inline constexpr uint32_t kPartitionKey = 2;
inline constexpr uint32_t kCongestion = 4;  // FECN 0x80, BECN 0x40; left out of the ICRC
inline constexpr uint32_t kDestinationQp = 5;
inline constexpr uint32_t kAckRequest = 8;  // the top bit
inline constexpr uint32_t kPsn = 9;
inline constexpr uint32_t kBytes = 12;
inline constexpr uint8_t kMigrationBit = 0x40;
inline constexpr uint8_t kPadMask = 0x30;
inline constexpr int kPadShift = 4;
inline constexpr uint8_t kVersionMask = 0x0f;
inline constexpr uint8_t kFecn = 0x80;
inline constexpr uint8_t kBecn = 0x40;
inline constexpr uint8_t kAckRequestBit = 0x80;
inline constexpr uint16_t kDefaultPartitionKey = 0xffff;
inline constexpr uint32_t kMask24 = 0x00ffffff;  // QPs and PSNs

inline constexpr uint8_t kSendFirst = 0x00;
inline constexpr uint8_t kSendMiddle = 0x01;
inline constexpr uint8_t kSendLast = 0x02;
inline constexpr uint8_t kSendLastImmediate = 0x03;
inline constexpr uint8_t kSendOnly = 0x04;
inline constexpr uint8_t kSendOnlyImmediate = 0x05;
inline constexpr uint8_t kWriteFirst = 0x06;
inline constexpr uint8_t kWriteMiddle = 0x07;
inline constexpr uint8_t kWriteLast = 0x08;
inline constexpr uint8_t kWriteLastImmediate = 0x09;
inline constexpr uint8_t kWriteOnly = 0x0a;
inline constexpr uint8_t kWriteOnlyImmediate = 0x0b;
inline constexpr uint8_t kReadRequest = 0x0c;
inline constexpr uint8_t kReadResponseFirst = 0x0d;
inline constexpr uint8_t kReadResponseMiddle = 0x0e;
inline constexpr uint8_t kReadResponseLast = 0x0f;
inline constexpr uint8_t kReadResponseOnly = 0x10;
inline constexpr uint8_t kAcknowledge = 0x11;
inline constexpr uint8_t kCnp = 0x81;
}  // namespace bth

namespace immdt {  // immediate data
inline constexpr uint32_t kBytes = 4;
}  // namespace immdt

namespace reth {  // RDMA extended transport header
inline constexpr uint32_t kVirtualAddress = 0;
inline constexpr uint32_t kRemoteKey = 8;
inline constexpr uint32_t kDmaLength = 12;
inline constexpr uint32_t kBytes = 16;
}  // namespace reth

namespace aeth {  // acknowledge extended transport header
inline constexpr uint32_t kSyndrome = 0;
inline constexpr uint32_t kMsn = 1;
inline constexpr uint32_t kBytes = 4;
}  // namespace aeth

inline constexpr uint32_t kIcrcBytes = 4;

}  // namespace softspine::dataplane
