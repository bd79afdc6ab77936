// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/roce_reader.hpp"

#include <array>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/icrc.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// What follows the BTH, and what the packet is to its message.
struct OpcodeTraits {
  uint8_t extension_bytes = 0;
  bool is_known = false;
  bool starts_message = false;
  bool ends_message = false;
  bool is_response = false;
};

constexpr uint8_t kCnpReservedBytes = 16;

constexpr std::array<OpcodeTraits, 256> opcode_traits() {
  std::array<OpcodeTraits, 256> t{};
  t[bth::kSendFirst] = {0, true, true, false, false};
  t[bth::kSendMiddle] = {0, true, false, false, false};
  t[bth::kSendLast] = {0, true, false, true, false};
  t[bth::kSendLastImmediate] = {immdt::kBytes, true, false, true, false};
  t[bth::kSendOnly] = {0, true, true, true, false};
  t[bth::kSendOnlyImmediate] = {immdt::kBytes, true, true, true, false};
  t[bth::kWriteFirst] = {reth::kBytes, true, true, false, false};
  t[bth::kWriteMiddle] = {0, true, false, false, false};
  t[bth::kWriteLast] = {0, true, false, true, false};
  t[bth::kWriteLastImmediate] = {immdt::kBytes, true, false, true, false};
  t[bth::kWriteOnly] = {reth::kBytes, true, true, true, false};
  t[bth::kWriteOnlyImmediate] = {reth::kBytes + immdt::kBytes, true, true, true, false};
  t[bth::kAcknowledge] = {aeth::kBytes, true, false, false, true};
  t[bth::kCnp] = {kCnpReservedBytes, true, false, false, true};
  return t;
}
constexpr std::array<OpcodeTraits, 256> kTraits = opcode_traits();

struct Layer3 {
  IpVersion version;
  uint32_t packet_bytes;  // by its own length field
  uint8_t traffic_class;
  DropReason reason;  // meaningful unless is_sound
  bool is_sound;
};

Layer3 read_ipv4(const uint8_t* l3, bool has_right_sums) {
  Layer3 read{IpVersion::k4, load16(l3 + ipv4::kTotalLength), l3[ipv4::kTos], DropReason::kBadChecksum, true};
  read.is_sound = has_right_sums || has_good_ipv4_checksum(l3, ipv4::kMinBytes);
  return read;
}

Layer3 read_ipv6(const uint8_t* l3) {
  const auto traffic_class = static_cast<uint8_t>(load32(l3) >> ipv6::kTrafficClassShift);
  return {IpVersion::k6, ipv6::kBytes + load16(l3 + ipv6::kPayloadLength), traffic_class, DropReason::kBadVersion,
          l3[0] >> 4 == 6};
}

// Behind UDP; null: it is no RoCEv2.
const uint8_t* transport_of(FrameBytes frame) noexcept {
  constexpr uint32_t kTagBytes = 4;
  const bool is_tagged =
      frame.stored_bytes >= ethernet::kBytes + kTagBytes && load16(frame.data + ethernet::kType) == ethernet::kTypeVlan;
  if (is_tagged) frame = {frame.data + kTagBytes, frame.stored_bytes - kTagBytes, frame.frame_bytes - kTagBytes};
  if (!claims_roce(frame)) return nullptr;
  const bool is_v4 = load16(frame.data + ethernet::kType) == ethernet::kTypeIpv4;
  return frame.data + ethernet::kBytes + (is_v4 ? ipv4::kMinBytes : ipv6::kBytes) + udp::kBytes;
}

}  // namespace

bool claims_roce(const FrameBytes& frame) noexcept {
  const uint8_t* l3 = frame.data + ethernet::kBytes;
  if (frame.stored_bytes < ethernet::kBytes + roce_header_bytes(IpVersion::k4) + kIcrcBytes) return false;
  const uint16_t type = load16(frame.data + ethernet::kType);
  if (type == ethernet::kTypeIpv4) {
    constexpr uint16_t kPartMask = ipv4::kMoreFragments | ipv4::kFragmentOffsetMask;
    return l3[ipv4::kVersionIhl] == 0x45 && l3[ipv4::kProtocol] == ip::kUdp &&
           (load16(l3 + ipv4::kFragment) & kPartMask) == 0 &&
           load16(l3 + ipv4::kMinBytes + udp::kDestinationPort) == udp::kRoceV2Port;
  }
  return type == ethernet::kTypeIpv6 &&
         frame.stored_bytes >= ethernet::kBytes + roce_header_bytes(IpVersion::k6) + kIcrcBytes &&
         l3[ipv6::kNextHeader] == ip::kUdp && load16(l3 + ipv6::kBytes + udp::kDestinationPort) == udp::kRoceV2Port;
}

std::optional<uint32_t> psn_of(FrameBytes frame) noexcept {
  const uint8_t* const transport = transport_of(frame);
  if (transport == nullptr) return std::nullopt;
  return load32(transport + bth::kPsn - 1) & bth::kMask24;
}

std::optional<uint32_t> psn_of_message_end(FrameBytes frame) noexcept {
  const uint8_t* const transport = transport_of(frame);
  if (transport == nullptr || !kTraits[transport[bth::kOpcode]].ends_message) return std::nullopt;
  return load32(transport + bth::kPsn - 1) & bth::kMask24;
}

namespace {

[[gnu::always_inline]] inline std::expected<RoceFrame, DropReason> read(const FrameBytes& frame,
                                                                        bool has_right_sums) noexcept {
  const uint8_t* l3 = frame.data + ethernet::kBytes;
  const bool is_v4 = load16(frame.data + ethernet::kType) == ethernet::kTypeIpv4;
  const Layer3 network = is_v4 ? read_ipv4(l3, has_right_sums) : read_ipv6(l3);
  if (!network.is_sound) [[unlikely]]
    return std::unexpected{network.reason};

  const uint32_t zeros = frame.frame_bytes - frame.stored_bytes;
  const uint32_t there = frame.frame_bytes - ethernet::kBytes;
  const uint32_t header_bytes = roce_header_bytes(network.version);
  const uint8_t* base = l3 + header_bytes - bth::kBytes;
  const OpcodeTraits& traits = kTraits[base[bth::kOpcode]];
  const uint32_t around = header_bytes + traits.extension_bytes + kIcrcBytes;
  const uint32_t padding = (base[bth::kFlags] & bth::kPadMask) >> bth::kPadShift;
  if (network.packet_bytes > there) [[unlikely]]
    return std::unexpected{DropReason::kTruncated};
  const uint32_t udp_bytes = load16(base - udp::kBytes + udp::kLength);
  // Left-out zeros lie before the last stored bytes: then the packet must end with the frame.
  if (udp_bytes + (header_bytes - bth::kBytes - udp::kBytes) != network.packet_bytes ||
      (zeros != 0 && network.packet_bytes != there) || zeros > kMaxIcrcZeros) [[unlikely]] {
    return std::unexpected{DropReason::kBadLength};
  }
  if (network.packet_bytes < around + padding || network.packet_bytes - zeros < header_bytes + kIcrcBytes)
      [[unlikely]] {
    return std::unexpected{DropReason::kTruncated};
  }
  const uint32_t covered = network.packet_bytes - zeros - kIcrcBytes;
  if (!has_right_sums && icrc_of(l3, covered, zeros, network.version) != load_icrc(l3 + covered)) [[unlikely]] {
    return std::unexpected{DropReason::kBadIcrc};
  }
  if (!traits.is_known || (base[bth::kFlags] & bth::kVersionMask) != 0) [[unlikely]] {
    return std::unexpected{DropReason::kUnsupported};
  }
  return RoceFrame{.destination_qp = load24(base + bth::kDestinationQp),
                   .psn = load24(base + bth::kPsn),
                   .payload_bytes = network.packet_bytes - around - padding,
                   .opcode = base[bth::kOpcode],
                   .starts_message = traits.starts_message,
                   .ends_message = traits.ends_message,
                   .is_response = traits.is_response,
                   .is_marked = (network.traffic_class & ip::kEcnMask) == ip::kCe,
                   .bth = base};
}

}  // namespace

std::expected<RoceFrame, DropReason> read_roce(const FrameBytes& frame) noexcept {
  return read(frame, false);
}

std::expected<RoceFrame, DropReason> read_right_roce(const FrameBytes& frame) noexcept {
  return read(frame, !kDoubts);
}

}  // namespace softspine::testbeds
