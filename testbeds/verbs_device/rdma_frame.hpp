// SPDX-License-Identifier: Apache-2.0
// RoCEv2 frames of an RNIC that moves payload: of every operation that verbs have (roce_reader.hpp reads those of
// built-in hosts). A frame that is read was checked whole, its ICRC included; all its payload is stored.
#pragma once

#include <array>
#include <cstdint>
#include <expected>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/packet/icrc.hpp"
#include "testbeds/hosts/roce_headers.hpp"
#include "testbeds/hosts/roce_reader.hpp"

namespace softspine::testbeds {

// Opcodes beyond those of wire.hpp. The upper three bits are the transport's.
namespace rdma {
inline constexpr uint8_t kRc = 0x00;
inline constexpr uint8_t kUc = 0x20;
inline constexpr uint8_t kUd = 0x60;
inline constexpr uint8_t kTransportMask = 0xe0;
inline constexpr uint8_t kOperationMask = 0x1f;
inline constexpr uint8_t kAtomicAcknowledge = 0x12;
inline constexpr uint8_t kCompareSwap = 0x13;
inline constexpr uint8_t kFetchAdd = 0x14;

inline constexpr uint32_t kAtomicEthBytes = 28;  // address 8, key 4, swap or add 8, compare 8
inline constexpr uint32_t kAtomicAckBytes = 8;
inline constexpr uint32_t kDethBytes = 8;  // Q_Key 4, source QP 4
inline constexpr uint8_t kSolicitedBit = 0x80;

// AETH's syndromes.
inline constexpr uint8_t kAck = 0x1f;  // with as many credits as one asks for
inline constexpr uint8_t kRnr = 0x20;  // and the timer's code
inline constexpr uint8_t kSequenceError = 0x60;
inline constexpr uint8_t kInvalidRequest = 0x61;
inline constexpr uint8_t kAccessError = 0x62;
inline constexpr uint8_t kOperationError = 0x63;
inline constexpr uint8_t kKindMask = 0x60;

constexpr uint32_t padding_of(uint32_t payload_bytes) {
  return (4 - payload_bytes % 4) % 4;
}
}  // namespace rdma

// What the parts of an opcode are, in the order in which their headers stand: DETH, RETH or atomic, AETH, atomic
// acknowledge, immediate.
struct OpcodeParts {
  bool is_known = false;
  bool deth = false;
  bool reth = false;
  bool atomic = false;
  bool aeth = false;
  bool atomic_ack = false;
  bool immediate = false;
  constexpr uint32_t bytes() const {
    using namespace dataplane;
    return (deth ? rdma::kDethBytes : 0) + (reth ? reth::kBytes : 0) + (atomic ? rdma::kAtomicEthBytes : 0) +
           (aeth ? aeth::kBytes : 0) + (atomic_ack ? rdma::kAtomicAckBytes : 0) + (immediate ? immdt::kBytes : 0);
  }
};
OpcodeParts parts_of(uint8_t opcode) noexcept;

constexpr bool is_response(uint8_t opcode) {
  return opcode >= dataplane::bth::kReadResponseFirst && opcode <= rdma::kAtomicAcknowledge;
}

// The fields of a frame beside its addresses. Those that its opcode does not have mean nothing.
struct RdmaFields {
  uint8_t opcode = 0;
  bool is_solicited = false;
  bool asks_for_ack = false;
  uint32_t destination_qp = 0;
  uint32_t psn = 0;
  uint32_t qkey = 0;
  uint32_t source_qp = 0;
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t dma_bytes = 0;
  uint64_t swap_or_add = 0;
  uint64_t compare = 0;
  uint8_t syndrome = 0;
  uint32_t msn = 0;
  uint64_t original = 0;   // what an atomic operation found
  uint32_t immediate = 0;  // as memory has it: in network order
};

struct RdmaFrame : RdmaFields {
  const uint8_t* l3 = nullptr;
  dataplane::IpVersion version = dataplane::IpVersion::k4;
  const uint8_t* payload = nullptr;
  uint32_t payload_bytes = 0;  // padding not counted
};

// Needs claims_roce(). The error: why the frame ends here.
std::expected<RdmaFrame, dataplane::DropReason> read_rdma(const FrameBytes& frame) noexcept;

// A frame of `bytes`, whose payload begins at `payload`. First its headers are written, then the caller writes the
// payload, then seal() its padding and ICRC.
struct FrameLayout {
  uint32_t payload;
  uint32_t bytes;
};
FrameLayout layout_of(dataplane::IpVersion version, uint8_t opcode, uint32_t payload_bytes) noexcept;
void write_headers(uint8_t* frame, const HostConfig& host, const RoceAddress& to, const RdmaFields& fields,
                   uint32_t payload_bytes) noexcept;
void seal(uint8_t* frame, dataplane::IpVersion version, const FrameLayout& layout, uint32_t payload_bytes) noexcept;

}  // namespace softspine::testbeds
