// SPDX-License-Identifier: Apache-2.0
// What a NIC does with frames that the kernel leaves unfinished (virtio 1.2, 5.1.6.2): it completes checksums, and cuts
// a super-frame (TSO: one header and the payload of many TCP segments, up to 64 KiB) into the frames of the wire.
//
//   IPv4   total length, ID (one more in each frame), header checksum     IPv6   payload length
//   TCP    sequence number, checksum; FIN and PSH only in the last frame, CWR only in the first
// All other bytes, and so the Ethernet header, a tag, options, DSCP and ECN, are those of the super-frame. In the place
// of the TCP checksum the kernel leaves the sum of the pseudo header, which covers the super-frame's length.
// Frames are cut one by one, when there is room for them; the super-frame stays the caller's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/edge/virtio_header.hpp"

namespace softspine::dataplane {

class FrameCutter {
 public:
  // False: it is no TCP super-frame, or its header is not whole. `frame` is there until has_more() is false.
  bool begin(const VirtioHeader& kernel, const uint8_t* frame, uint32_t bytes) noexcept;
  bool has_more() const { return at_ < bytes_; }
  // Of the next frame, without FCS.
  uint32_t next_bytes() const { return header_bytes_ + next_payload(); }
  // Of the longest frame that comes.
  uint32_t most_bytes() const { return header_bytes_ + std::min(payload_bytes_, bytes_ - header_bytes_); }
  // Writes next_bytes() bytes.
  void cut(uint8_t* out) noexcept;
  void give_up() { at_ = bytes_; }

 private:
  uint32_t next_payload() const { return std::min(payload_bytes_, bytes_ - at_); }
  void write_ip(uint8_t* l3, uint32_t ip_bytes) const noexcept;
  void write_tcp(uint8_t* l4, uint32_t tcp_bytes) const noexcept;

  const uint8_t* frame_ = nullptr;
  uint32_t bytes_ = 0;
  uint32_t at_ = 0;  // of the payload that comes next
  uint32_t header_bytes_ = 0;
  uint32_t payload_bytes_ = 0;  // of all frames but the last
  uint32_t frames_ = 0;         // cut so far
  uint32_t l3_ = 0;
  uint32_t l4_ = 0;
  bool is_ipv4_ = false;
};

// Completes the checksum that begins at `start` and stands `offset` behind it. False: that is outside the frame.
bool complete_checksum(uint8_t* frame, uint32_t bytes, uint32_t start, uint32_t offset) noexcept;

}  // namespace softspine::dataplane
