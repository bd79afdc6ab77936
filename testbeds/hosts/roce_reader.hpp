// SPDX-License-Identifier: Apache-2.0
// Reads a RoCEv2 frame after checking it once: every length in it is compared with the bytes that are there, and its
// ICRC with its content.
//
// A frame that is read is untagged, IPv4 without options or IPv6 without extensions, and not a fragment. Bytes that the
// sender's MAC added behind the IP packet (to reach 60) are not part of it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::testbeds {

struct RoceFrame {
  uint32_t destination_qp;
  uint32_t psn;
  uint32_t payload_bytes;  // padding not counted
  uint8_t opcode;
  bool starts_message;
  bool ends_message;
  bool is_response;    // an acknowledgement or a CNP: for a sender
  bool is_marked;      // CE
  const uint8_t* bth;  // of the frame that was read; the opcode's extension lies behind it

  bool asks_for_ack() const { return (bth[dataplane::bth::kAckRequest] & dataplane::bth::kAckRequestBit) != 0; }
  // What the message was sent with; 0 if that is nothing.
  uint32_t immediate() const {
    const uint8_t* const extension = bth + dataplane::bth::kBytes;
    switch (opcode) {
      case dataplane::bth::kSendLastImmediate:
      case dataplane::bth::kSendOnlyImmediate:
      case dataplane::bth::kWriteLastImmediate: return dataplane::load32(extension);
      case dataplane::bth::kWriteOnlyImmediate: return dataplane::load32(extension + dataplane::reth::kBytes);
      default: return 0;
    }
  }
  // Of an acknowledgement.
  uint8_t syndrome() const { return bth[dataplane::bth::kBytes + dataplane::aeth::kSyndrome]; }
};

// A frame as it lies in memory (see Packet: `frame_bytes` − `stored_bytes` zeros are left out before
// the last four stored ones).
struct FrameBytes {
  const uint8_t* data;
  uint32_t stored_bytes;
  uint32_t frame_bytes;
};

// True if the frame says it is RoCEv2 and is long enough to be: read_roce() will say more.
bool claims_roce(const FrameBytes& frame) noexcept;

// Of a RoCEv2 frame wherever it is, with the host's tag or without: nothing else of it is checked.
std::optional<uint32_t> psn_of(FrameBytes frame) noexcept;
// Likewise: its PSN if a message ends with it.
std::optional<uint32_t> psn_of_message_end(FrameBytes frame) noexcept;

// Needs claims_roce(). The reason why it is not to be believed, kUnsupported if it is sound but of no
// kind that a host of ours receives.
std::expected<RoceFrame, dataplane::DropReason> read_roce(const FrameBytes& frame) noexcept;
// The same for a frame whose checksums are known to be right (PacketMeta::has_right_sums): they are not computed,
// but by builds that doubt (kDoubts).
std::expected<RoceFrame, dataplane::DropReason> read_right_roce(const FrameBytes& frame) noexcept;

}  // namespace softspine::testbeds
