// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/frame_batch.hpp"

#include <utility>

namespace softspine::testbeds {

using namespace dataplane;

uint8_t* FrameBatch::add(const RoceAddress& to, const RdmaFields& fields, uint32_t payload_bytes) noexcept {
  const IpVersion version = version_of(to.destination);
  const FrameLayout layout = layout_of(version, fields.opcode, payload_bytes);
  Packet packet = ground_.pool.make(layout.bytes);
  if (!packet) {
    ++ground_.counters.send_err;
    return nullptr;
  }
  RoceAddress address = to;
  if (address.ecn == 0) address.ecn = ground_.ecn;
  write_headers(packet.data(), ground_.host, address, fields, payload_bytes);
  uint8_t* const payload = packet.data() + layout.payload;
  Frame& frame = frames_[count_++];
  frame.packet = std::move(packet);
  frame.layout = layout;
  frame.version = version;
  frame.payload_bytes = payload_bytes;
  frame.is_request = !is_response(fields.opcode);
  return payload;
}

bool FrameBatch::send(Instant now) noexcept {
  if (!memory_.empty() && !memory_.read()) {
    drop();
    return false;
  }
  for (uint32_t i = 0; i < count_; ++i) {
    Frame& frame = frames_[i];
    seal(frame.packet.data(), frame.version, frame.layout, frame.payload_bytes);
    ++ground_.counters.sent_pkts;
    ++pair_.in_nic;
    if (frame.is_request) pair_.requester.handed_over();
    ground_.port.send(std::move(frame.packet), pair_.number | (frame.is_request ? kRequestBit : 0), now);
  }
  count_ = 0;
  return true;
}

void FrameBatch::drop() noexcept {
  for (uint32_t i = 0; i < count_; ++i) PacketPool::release(std::move(frames_[i].packet));
  count_ = 0;
  memory_.forget();
}

}  // namespace softspine::testbeds
