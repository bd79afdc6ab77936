// SPDX-License-Identifier: Apache-2.0
// What the kernel says of a frame, and is told, in front of its bytes (IFF_VNET_HDR): struct virtio_net_hdr of virtio
// 1.2, 5.1.6. Not <linux/virtio_net.h>, which is no C++. Numbers are in the machine's byte order.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

struct VirtioHeader {
  uint8_t flags;
  uint8_t segments;          // what the frame is to be cut into
  uint16_t header_bytes;     // Ethernet, IP and TCP; a hint
  uint16_t segment_bytes;    // of payload in each frame but the last
  uint16_t checksum_start;   // what it covers, up to the frame's end
  uint16_t checksum_offset;  // from there: where it stands

  static constexpr uint8_t kNeedsChecksum = 1;  // flags: the pseudo header's sum stands in the checksum's place
  static constexpr uint8_t kWhole = 0;          // segments
  static constexpr uint8_t kTcp4 = 1;
  static constexpr uint8_t kTcp6 = 4;
  static constexpr uint8_t kReducedBit = 0x80;  // beside kTcp4 and kTcp6: the first frame may have CWR
};
static_assert(sizeof(VirtioHeader) == 10);

}  // namespace softspine::dataplane
