// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/materialise.hpp"

#include <cstring>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

Packet materialise(const Packet& packet, PacketPool& pool) noexcept {
  const uint32_t elided = packet.elided_bytes();
  if (elided == 0) return pool.copy(packet);
  SOFTSPINE_CHECK(packet.stored_bytes() >= kIcrcBytes, packet.stored_bytes(), packet.frame_bytes());
  Packet out = pool.make_any(packet.frame_bytes());
  if (!out) return out;
  const uint32_t front = packet.stored_bytes() - kIcrcBytes;
  std::memcpy(out.data(), packet.data(), front);
  std::memset(out.data() + front, 0, elided);
  std::memcpy(out.data() + front + elided, packet.data() + front, kIcrcBytes);
  const PacketMeta source = packet.meta();
  out.meta() = source;
  return out;
}

}  // namespace softspine::dataplane
