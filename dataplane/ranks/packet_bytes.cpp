// SPDX-License-Identifier: Apache-2.0
#include "dataplane/ranks/packet_bytes.hpp"

#include <utility>

namespace softspine::dataplane {

namespace {

struct Head {
  Instant at;
  uint32_t to = 0;
  uint32_t flow = 0;  // with the bit of a copy
  uint16_t port = 0;
  uint16_t stored_bytes = 0;
};

}  // namespace

void put_message(RankBytes& out, Message message) {
  Packet packet = std::move(message.packet);
  put(out, Head{.at = message.at,
                .to = message.to.value(),
                .flow = packet.mbuf()->hash.usr,
                .port = message.port.value(),
                .stored_bytes = static_cast<uint16_t>(packet.stored_bytes())});
  PacketMeta meta = packet.meta();
  meta.next = nullptr;
  put(out, meta);
  put_bytes(out, packet.data(), packet.stored_bytes());
  PacketPool::release(std::move(packet));
}

std::optional<Message> take_message(RankReader& in, PacketPool& pool) {
  const Head head = in.take<Head>();
  const PacketMeta meta = in.take<PacketMeta>();
  const auto bytes = in.take_bytes(head.stored_bytes);
  if (!in.is_whole()) return std::nullopt;
  Message out{
      .packet = pool.make_any(head.stored_bytes), .at = head.at, .to = NodeId{head.to}, .port = PortNo{head.port}};
  if (!out.packet) return out;
  out.packet.meta() = meta;
  out.packet.mbuf()->hash.usr = head.flow;
  __builtin_memcpy(out.packet.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace softspine::dataplane
