// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/early_detection.hpp"

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

bool EarlyDetection::is_dropped_early(const Packet& packet, QueueCounters& queue) noexcept {
  const PacketMeta& meta = packet.meta();
  const bool is_ip = (meta.flags & (kIsIpv4 | kIsIpv6)) != 0;
  const WredPlan& wred = wred_of(meta);
  if (is_ip && (meta.dscp_ecn & 3) != 0 && !wred.mark.off()) return false;  // it is marked instead
  if (!wred.drop.hits(queue.current_bytes + meta.frame_bytes, rng_)) return false;
  queue.refused(meta.frame_bytes);
  return true;
}

void EarlyDetection::mark(Packet& packet, QueueCounters& queue) noexcept {
  PacketMeta& meta = packet.meta();
  constexpr uint8_t kCe = 3;
  const uint8_t ecn = meta.dscp_ecn & kCe;
  if (ecn == 0 || ecn == kCe || (meta.flags & (kIsIpv4 | kIsIpv6)) == 0) return;
  if (!wred_of(meta).mark.hits(queue.current_bytes, rng_)) return;
  meta.dscp_ecn |= kCe;
  meta.remark = Remark::kCeMarked;
  uint8_t* l3 = packet.data() + meta.l3_offset;
  if ((meta.flags & kIsIpv4) != 0) {
    replace_tos(l3, meta.dscp_ecn);
  } else {
    l3[1] |= kCe << 4;  // the traffic class' low bits: 4 to 7 of the second byte
  }
  ++queue.ecn_marked_packets;
}

}  // namespace softspine::dataplane
