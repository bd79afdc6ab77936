// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/frame_cutter.hpp"

#include <cstring>

#include "dataplane/edge/payload_sum.hpp"
#include "dataplane/edge/tcp_segment.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

bool FrameCutter::begin(const VirtioHeader& kernel, const uint8_t* frame, uint32_t bytes) noexcept {
  const uint32_t kind = kernel.segments & ~uint32_t{VirtioHeader::kReducedBit};
  if (kind != VirtioHeader::kTcp4 && kind != VirtioHeader::kTcp6) return false;
  if ((kernel.flags & VirtioHeader::kNeedsChecksum) == 0) return false;
  is_ipv4_ = kind == VirtioHeader::kTcp4;
  l3_ = l3_offset_of(frame, bytes);
  l4_ = kernel.checksum_start;
  const uint32_t l3_bytes = is_ipv4_ ? ipv4::kMinBytes : ipv6::kBytes;
  if (l3_ == 0 || l4_ < l3_ + l3_bytes || bytes < l4_ + tcp::kMinBytes || kernel.segment_bytes == 0) return false;
  header_bytes_ = l4_ + tcp::header_bytes(frame + l4_);
  if (header_bytes_ < l4_ + tcp::kMinBytes || header_bytes_ >= bytes) return false;
  frame_ = frame;
  bytes_ = bytes;
  at_ = header_bytes_;
  payload_bytes_ = kernel.segment_bytes;
  frames_ = 0;
  return true;
}

void FrameCutter::cut(uint8_t* out) noexcept {
  const uint32_t payload = next_payload();
  std::memcpy(out, frame_, header_bytes_);
  std::memcpy(out + header_bytes_, frame_ + at_, payload);
  write_ip(out + l3_, header_bytes_ + payload - l3_);
  write_tcp(out + l4_, header_bytes_ + payload - l4_);
  at_ += payload;
  ++frames_;
}

void FrameCutter::write_ip(uint8_t* l3, uint32_t ip_bytes) const noexcept {
  if (!is_ipv4_) return store16(l3 + ipv6::kPayloadLength, static_cast<uint16_t>(ip_bytes - ipv6::kBytes));
  store16(l3 + ipv4::kTotalLength, static_cast<uint16_t>(ip_bytes));
  store16(l3 + ipv4::kId, static_cast<uint16_t>(load16(l3 + ipv4::kId) + frames_));
  store16(l3 + ipv4::kChecksum, 0);
  store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, l4_ - l3_));
}

void FrameCutter::write_tcp(uint8_t* l4, uint32_t tcp_bytes) const noexcept {
  const bool is_last = l4_ + tcp_bytes - header_bytes_ == bytes_ - at_;
  store32(l4 + tcp::kSequence, load32(l4 + tcp::kSequence) + (at_ - header_bytes_));
  if (!is_last) l4[tcp::kFlags] &= static_cast<uint8_t>(~(tcp::kFin | tcp::kPush));
  if (frames_ != 0) l4[tcp::kFlags] &= static_cast<uint8_t>(~tcp::kReduced);
  const uint16_t pseudo = load16(l4 + tcp::kChecksum);
  store16(l4 + tcp::kChecksum, 0);
  const uint16_t checksum = ChecksumSum{}
                                .add_word(pseudo)
                                .add_word(static_cast<uint16_t>(~(bytes_ - l4_)))
                                .add_word(static_cast<uint16_t>(tcp_bytes))
                                .add_word(payload_sum(l4, tcp_bytes))
                                .checksum();
  store16(l4 + tcp::kChecksum, checksum);
}

bool complete_checksum(uint8_t* frame, uint32_t bytes, uint32_t start, uint32_t offset) noexcept {
  if (start + offset + 2 > bytes || start + offset < start) return false;
  const auto checksum = static_cast<uint16_t>(~payload_sum(frame + start, bytes - start));
  // Of UDP, zero means that there is none.
  store16(frame + start + offset, checksum == 0 && offset == udp::kChecksum ? uint16_t{0xffff} : checksum);
  return true;
}

}  // namespace softspine::dataplane
