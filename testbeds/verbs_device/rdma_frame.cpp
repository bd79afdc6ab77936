// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/rdma_frame.hpp"

#include <algorithm>
#include <cstring>

#include "dataplane/packet/checksum.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// By operation: the lower five bits of a reliable opcode.
constexpr std::array<OpcodeParts, 32> reliable_parts() {
  std::array<OpcodeParts, 32> t{};
  for (uint8_t o = bth::kSendFirst; o <= rdma::kFetchAdd; ++o) t[o].is_known = true;
  for (const uint8_t o : {bth::kWriteFirst, bth::kWriteOnly, bth::kWriteOnlyImmediate, bth::kReadRequest})
    t[o].reth = true;
  for (const uint8_t o :
       {bth::kSendLastImmediate, bth::kSendOnlyImmediate, bth::kWriteLastImmediate, bth::kWriteOnlyImmediate})
    t[o].immediate = true;
  for (const uint8_t o : {bth::kReadResponseFirst, bth::kReadResponseLast, bth::kReadResponseOnly, bth::kAcknowledge,
                          rdma::kAtomicAcknowledge})
    t[o].aeth = true;
  t[rdma::kAtomicAcknowledge].atomic_ack = true;
  t[rdma::kCompareSwap].atomic = t[rdma::kFetchAdd].atomic = true;
  return t;
}
constexpr std::array<OpcodeParts, 32> kReliable = reliable_parts();

struct Network {
  IpVersion version;
  uint32_t bytes;  // by the packet's own length field
};

std::expected<Network, DropReason> network_of(const FrameBytes& frame) noexcept {
  const uint8_t* const l3 = frame.data + ethernet::kBytes;
  if (load16(frame.data + ethernet::kType) == ethernet::kTypeIpv4) {
    if (!has_good_ipv4_checksum(l3, ipv4::kMinBytes)) return std::unexpected{DropReason::kBadChecksum};
    return Network{IpVersion::k4, load16(l3 + ipv4::kTotalLength)};
  }
  if (l3[0] >> 4 != 6) return std::unexpected{DropReason::kBadVersion};
  return Network{IpVersion::k6, ipv6::kBytes + uint32_t{load16(l3 + ipv6::kPayloadLength)}};
}

void read_extension(const uint8_t* at, const OpcodeParts& parts, RdmaFrame& out) noexcept {
  if (parts.deth) {
    out.qkey = load32(at);
    out.source_qp = load32(at + 4) & bth::kMask24;
    at += rdma::kDethBytes;
  }
  if (parts.reth) {
    out.address = load64(at + reth::kVirtualAddress);
    out.key = load32(at + reth::kRemoteKey);
    out.dma_bytes = load32(at + reth::kDmaLength);
    at += reth::kBytes;
  }
  if (parts.atomic) {
    out.address = load64(at);
    out.key = load32(at + 8);
    out.swap_or_add = load64(at + 12);
    out.compare = load64(at + 20);
    at += rdma::kAtomicEthBytes;
  }
  if (parts.aeth) {
    out.syndrome = at[aeth::kSyndrome];
    out.msn = load24(at + aeth::kMsn);
    at += aeth::kBytes;
  }
  if (parts.atomic_ack) {
    out.original = load64(at);
    at += rdma::kAtomicAckBytes;
  }
  if (parts.immediate) std::memcpy(&out.immediate, at, sizeof out.immediate);
}

void write_extension(uint8_t* at, const OpcodeParts& parts, const RdmaFields& fields) noexcept {
  if (parts.deth) {
    store32(at, fields.qkey);
    store32(at + 4, fields.source_qp);
    at += rdma::kDethBytes;
  }
  if (parts.reth) {
    store64(at + reth::kVirtualAddress, fields.address);
    store32(at + reth::kRemoteKey, fields.key);
    store32(at + reth::kDmaLength, fields.dma_bytes);
    at += reth::kBytes;
  }
  if (parts.atomic) {
    store64(at, fields.address);
    store32(at + 8, fields.key);
    store64(at + 12, fields.swap_or_add);
    store64(at + 20, fields.compare);
    at += rdma::kAtomicEthBytes;
  }
  if (parts.aeth) {
    at[aeth::kSyndrome] = fields.syndrome;
    store24(at + aeth::kMsn, fields.msn);
    at += aeth::kBytes;
  }
  if (parts.atomic_ack) {
    store64(at, fields.original);
    at += rdma::kAtomicAckBytes;
  }
  if (parts.immediate) std::memcpy(at, &fields.immediate, sizeof fields.immediate);
}

}  // namespace

OpcodeParts parts_of(uint8_t opcode) noexcept {
  const uint8_t operation = opcode & rdma::kOperationMask;
  switch (opcode & rdma::kTransportMask) {
    case rdma::kRc: return kReliable[operation];
    case rdma::kUc: return operation <= bth::kWriteOnlyImmediate ? kReliable[operation] : OpcodeParts{};
    case rdma::kUd: {
      const bool is_send = operation == bth::kSendOnly || operation == bth::kSendOnlyImmediate;
      OpcodeParts parts = is_send ? kReliable[operation] : OpcodeParts{};
      parts.deth = is_send;
      return parts;
    }
    default: return {};
  }
}

std::expected<RdmaFrame, DropReason> read_rdma(const FrameBytes& frame) noexcept {
  const auto network = network_of(frame);
  if (!network) return std::unexpected{network.error()};
  const uint32_t headers = roce_header_bytes(network->version);
  const uint32_t there = frame.stored_bytes - ethernet::kBytes;
  if (frame.stored_bytes != frame.frame_bytes) return std::unexpected{DropReason::kUnsupported};  // no payload
  if (network->bytes > there || network->bytes < headers + kIcrcBytes) return std::unexpected{DropReason::kTruncated};
  const uint8_t* const l3 = frame.data + ethernet::kBytes;
  const uint8_t* const base = l3 + headers - bth::kBytes;
  if (load16(base - udp::kBytes + udp::kLength) + (headers - bth::kBytes - udp::kBytes) != network->bytes)
    return std::unexpected{DropReason::kBadLength};
  const uint32_t covered = network->bytes - kIcrcBytes;
  if (icrc_of(l3, covered, 0, network->version) != load_icrc(l3 + covered))
    return std::unexpected{DropReason::kBadIcrc};
  const OpcodeParts parts = parts_of(base[bth::kOpcode]);
  if (!parts.is_known || (base[bth::kFlags] & bth::kVersionMask) != 0) return std::unexpected{DropReason::kUnsupported};
  const uint32_t padding = (base[bth::kFlags] & bth::kPadMask) >> bth::kPadShift;
  if (covered < headers + parts.bytes() + padding) return std::unexpected{DropReason::kTruncated};
  RdmaFrame out;
  out.opcode = base[bth::kOpcode];
  out.is_solicited = (base[bth::kFlags] & rdma::kSolicitedBit) != 0;
  out.asks_for_ack = (base[bth::kAckRequest] & bth::kAckRequestBit) != 0;
  out.destination_qp = load24(base + bth::kDestinationQp);
  out.psn = load24(base + bth::kPsn);
  out.l3 = l3;
  out.version = network->version;
  out.payload = l3 + headers + parts.bytes();
  out.payload_bytes = covered - headers - parts.bytes() - padding;
  read_extension(l3 + headers, parts, out);
  return out;
}

FrameLayout layout_of(IpVersion version, uint8_t opcode, uint32_t payload_bytes) noexcept {
  const uint32_t payload = ethernet::kBytes + roce_header_bytes(version) + parts_of(opcode).bytes();
  return {payload, payload + payload_bytes + rdma::padding_of(payload_bytes) + kIcrcBytes};
}

void write_headers(uint8_t* frame, const HostConfig& host, const RoceAddress& to, const RdmaFields& fields,
                   uint32_t payload_bytes) noexcept {
  const OpcodeParts parts = parts_of(fields.opcode);
  const FrameLayout layout = layout_of(version_of(to.destination), fields.opcode, payload_bytes);
  std::fill_n(frame, layout.payload, uint8_t{0});
  const uint32_t behind = parts.bytes() + payload_bytes + rdma::padding_of(payload_bytes) + kIcrcBytes;
  const HeaderPlaces at = write_roce_headers(frame, host, to, fields.opcode, behind);
  if (version_of(to.destination) == IpVersion::k4)
    store16(at.l3 + ipv4::kChecksum, ipv4_checksum(at.l3, ipv4::kMinBytes));
  at.bth[bth::kFlags] = static_cast<uint8_t>((fields.is_solicited ? rdma::kSolicitedBit : 0) | bth::kMigrationBit |
                                             rdma::padding_of(payload_bytes) << bth::kPadShift);
  at.bth[bth::kAckRequest] = fields.asks_for_ack ? bth::kAckRequestBit : 0;
  store24(at.bth + bth::kPsn, fields.psn);
  write_extension(at.extension, parts, fields);
}

void seal(uint8_t* frame, IpVersion version, const FrameLayout& layout, uint32_t payload_bytes) noexcept {
  uint8_t* const end = frame + layout.payload + payload_bytes;
  std::fill_n(end, rdma::padding_of(payload_bytes), uint8_t{0});
  const uint8_t* const l3 = frame + ethernet::kBytes;
  const uint32_t covered = layout.bytes - ethernet::kBytes - kIcrcBytes;
  store_icrc(frame + layout.bytes - kIcrcBytes, icrc_of(l3, covered, 0, version));
}

}  // namespace softspine::testbeds
