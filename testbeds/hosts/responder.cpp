// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/responder.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr uint8_t kTtl = 64;
constexpr Ipv6Address kAllNodes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01};
constexpr MacAddress kAllNodesMac{0x33, 0x33, 0, 0, 0, 0x01};

Responder::Decision drop(DropReason reason) {
  return {Responder::Answer::kNone, reason};
}

bool is_unicast_ipv4(Ipv4Address address) {
  const uint32_t first = address >> 24;
  return first != 0 && first != 127 && first < 224;
}

void swap_bytes(uint8_t* a, uint8_t* b, uint32_t count) {
  std::swap_ranges(a, a + count, b);
}

// Told about a packet of ours that ended on its way: nobody here waits for that, and it is no loss of its own.
bool is_error(uint8_t type) {
  return type == icmp::kUnreachable || type == icmp::kTimeExceeded;
}

// Type and code are one word of the checksum.
void turn_echo(uint8_t* icmp, uint8_t reply_type) {
  const uint16_t before = load16(icmp + icmp::kType);
  icmp[icmp::kType] = reply_type;
  const uint16_t checksum = load16(icmp + icmp::kChecksum);
  store16(icmp + icmp::kChecksum, updated_checksum(checksum, before, load16(icmp + icmp::kType)));
}

}  // namespace

void Responder::turn_around(uint8_t* data) const noexcept {
  std::copy_n(data + ethernet::kSource, 6, data + ethernet::kDestination);
  store_mac(data + ethernet::kSource, mac_);
}

Responder::Decision Responder::consider(const FrameBytes& frame, uint8_t* data) const noexcept {
  if (frame.stored_bytes < ethernet::kBytes) return drop(DropReason::kTruncated);
  switch (load16(data + ethernet::kType)) {
    case ethernet::kTypeArp: return consider_arp(frame, data);
    case ethernet::kTypeIpv4: return consider_ipv4(frame, data);
    case ethernet::kTypeIpv6: return consider_ipv6(frame, data);
    case ethernet::kTypeVlan: return drop(DropReason::kVlanNotAllowed);
    default: return drop(DropReason::kUnsupported);
  }
}

Responder::Decision Responder::consider_arp(const FrameBytes& frame, uint8_t* data) const noexcept {
  if (frame.stored_bytes < ethernet::kBytes + arp::kBytes) return drop(DropReason::kTruncated);
  uint8_t* message = data + ethernet::kBytes;
  if (load48(message) != arp::kEthernetIpv4) return drop(DropReason::kUnsupported);
  if (ipv4_ == 0 || load32(message + arp::kTargetIp) != ipv4_) return drop(DropReason::kNotForUs);
  if (load16(message + arp::kOperation) != arp::kRequest) return drop(DropReason::kConsumed);
  turn_around(data);
  store16(message + arp::kOperation, arp::kReply);
  swap_bytes(message + arp::kSenderMac, message + arp::kTargetMac, 10);  // MAC and address together
  store_mac(message + arp::kSenderMac, mac_);
  return {Answer::kInPlace, DropReason::kConsumed};
}

Responder::Decision Responder::consider_ipv4(const FrameBytes& frame, uint8_t* data) const noexcept {
  uint8_t* l3 = data + ethernet::kBytes;
  if (frame.stored_bytes < ethernet::kBytes + ipv4::kMinBytes) return drop(DropReason::kTruncated);
  if (l3[ipv4::kVersionIhl] >> 4 != 4 || (l3[ipv4::kVersionIhl] & 0x0f) < 5) return drop(DropReason::kBadVersion);
  if (l3[ipv4::kVersionIhl] != 0x45) return drop(DropReason::kUnsupported);
  if (!has_good_ipv4_checksum(l3, ipv4::kMinBytes)) return drop(DropReason::kBadChecksum);
  const uint32_t bytes = load16(l3 + ipv4::kTotalLength);
  if (bytes < ipv4::kMinBytes) return drop(DropReason::kBadLength);
  if (bytes > frame.stored_bytes - ethernet::kBytes) return drop(DropReason::kTruncated);
  if (ipv4_ == 0 || load32(l3 + ipv4::kDestination) != ipv4_) return drop(DropReason::kNotForUs);
  if (!is_unicast_ipv4(load32(l3 + ipv4::kSource))) return drop(DropReason::kBadSource);
  constexpr uint16_t kPartMask = ipv4::kMoreFragments | ipv4::kFragmentOffsetMask;
  const bool is_part = (load16(l3 + ipv4::kFragment) & kPartMask) != 0;
  if (is_part || l3[ipv4::kProtocol] != ip::kIcmp) return drop(DropReason::kUnsupported);

  uint8_t* icmp = l3 + ipv4::kMinBytes;
  const uint32_t icmp_bytes = bytes - ipv4::kMinBytes;
  if (icmp_bytes < icmp::kBytes) return drop(DropReason::kTruncated);
  if (ChecksumSum{}.add(icmp, icmp_bytes).checksum() != 0) return drop(DropReason::kBadChecksum);
  if (is_error(icmp[icmp::kType])) return drop(DropReason::kConsumed);
  if (load16(icmp + icmp::kType) != uint16_t{icmp::kEchoRequest} << 8) return drop(DropReason::kUnsupported);
  turn_around(data);
  swap_bytes(l3 + ipv4::kSource, l3 + ipv4::kDestination, 4);
  l3[ipv4::kTtl] = kTtl;
  store16(l3 + ipv4::kChecksum, 0);
  store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
  turn_echo(icmp, icmp::kEchoReply);
  return {Answer::kInPlace, DropReason::kConsumed};
}

Responder::Decision Responder::consider_ipv6(const FrameBytes& frame, uint8_t* data) const noexcept {
  uint8_t* l3 = data + ethernet::kBytes;
  if (frame.stored_bytes < ethernet::kBytes + ipv6::kBytes) return drop(DropReason::kTruncated);
  if (l3[0] >> 4 != 6) return drop(DropReason::kBadVersion);
  const uint16_t icmp_bytes = load16(l3 + ipv6::kPayloadLength);
  if (icmp_bytes > frame.stored_bytes - ethernet::kBytes - ipv6::kBytes) return drop(DropReason::kTruncated);
  if (l3[ipv6::kNextHeader] != ip::kIcmp6) return drop(DropReason::kUnsupported);
  if (icmp_bytes < icmp::kBytes) return drop(DropReason::kTruncated);
  uint8_t* icmp = l3 + ipv6::kBytes;
  ChecksumSum sum = ipv6_pseudo_header(l3 + ipv6::kSource, icmp_bytes, ip::kIcmp6);
  if (sum.add(icmp, icmp_bytes).checksum() != 0) return drop(DropReason::kBadChecksum);
  if (icmp[icmp::kType] == icmp::k6NeighbourSolicitation) return consider_solicitation(l3, icmp_bytes);
  if (ipv6_ == Ipv6Address{} || load_ipv6(l3 + ipv6::kDestination) != ipv6_) return drop(DropReason::kNotForUs);
  if (l3[ipv6::kSource] == 0xff) return drop(DropReason::kBadSource);
  if (icmp[icmp::kType] < icmp::k6EchoRequest) return drop(DropReason::kConsumed);  // an error, as is_error()
  if (load16(icmp + icmp::kType) != uint16_t{icmp::k6EchoRequest} << 8) return drop(DropReason::kUnsupported);
  turn_around(data);
  swap_bytes(l3 + ipv6::kSource, l3 + ipv6::kDestination, 16);
  l3[ipv6::kHopLimit] = kTtl;
  turn_echo(icmp, icmp::k6EchoReply);
  return {Answer::kInPlace, DropReason::kConsumed};
}

Responder::Decision Responder::consider_solicitation(const uint8_t* l3, uint32_t icmp_bytes) const noexcept {
  const uint8_t* icmp = l3 + ipv6::kBytes;
  if (icmp_bytes < nd::kOptions) return drop(DropReason::kTruncated);
  if (l3[ipv6::kHopLimit] != nd::kHopLimit || icmp[icmp::kCode] != 0) return drop(DropReason::kBadSource);
  if (ipv6_ == Ipv6Address{} || load_ipv6(icmp + nd::kTarget) != ipv6_) return drop(DropReason::kNotForUs);
  return {Answer::kAdvertise, DropReason::kConsumed};
}

void Responder::write_advertisement(const uint8_t* solicitation, uint8_t* out) const noexcept {
  const Ipv6Address asker = load_ipv6(solicitation + ethernet::kBytes + ipv6::kSource);
  const bool is_probe = asker == Ipv6Address{};  // duplicate address detection: told to all
  constexpr uint16_t kIcmpBytes = nd::kOptions + nd::kLinkOptionBytes;
  std::fill_n(out, kAdvertisementBytes, uint8_t{0});
  store_mac(out, is_probe ? kAllNodesMac : load_mac(solicitation + ethernet::kSource));
  store_mac(out + ethernet::kSource, mac_);
  store16(out + ethernet::kType, ethernet::kTypeIpv6);
  uint8_t* l3 = out + ethernet::kBytes;
  store32(l3, 6u << 28);
  store16(l3 + ipv6::kPayloadLength, kIcmpBytes);
  l3[ipv6::kNextHeader] = ip::kIcmp6;
  l3[ipv6::kHopLimit] = nd::kHopLimit;
  store_ipv6(l3 + ipv6::kSource, ipv6_);
  store_ipv6(l3 + ipv6::kDestination, is_probe ? kAllNodes : asker);
  uint8_t* icmp = l3 + ipv6::kBytes;
  icmp[icmp::kType] = icmp::k6NeighbourAdvertisement;
  icmp[nd::kFlags] = is_probe ? nd::kOverride : nd::kSolicited | nd::kOverride;
  store_ipv6(icmp + nd::kTarget, ipv6_);
  icmp[nd::kOptions] = nd::kTargetLinkAddress;
  icmp[nd::kOptions + 1] = 1;
  store_mac(icmp + nd::kOptions + 2, mac_);
  ChecksumSum sum = ipv6_pseudo_header(l3 + ipv6::kSource, kIcmpBytes, ip::kIcmp6);
  store16(icmp + icmp::kChecksum, sum.add(icmp, kIcmpBytes).checksum());
}

}  // namespace softspine::testbeds
