// SPDX-License-Identifier: Apache-2.0
// One frame through parse and the stages, in memory that ends where the frame ends: with AddressSanitizer
// a byte read behind what is stored stops the run. The first byte chooses the port and how much is elided.
#include "dataplane/packet/parse.hpp"

#include <rte_mbuf.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "dataplane/forwarding/stages.hpp"
#include "dataplane/units/check.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {

// No stage makes a packet.
dataplane::PacketPool& packet_pool() {
  std::abort();
}

namespace {

using namespace dataplane;

constexpr size_t kMaxInput = 9300;

// An mbuf of its own whose buffer has the usual room in front and none behind.
class TightPacket {
 public:
  TightPacket(const uint8_t* data, size_t size)
      : head_(static_cast<uint8_t*>(std::aligned_alloc(64, sizeof(rte_mbuf) + sizeof(PacketMeta)))),
        buffer_(new uint8_t[RTE_PKTMBUF_HEADROOM + size]) {
    auto* mbuf = new (head_.get()) rte_mbuf{};
    mbuf->priv_size = sizeof(PacketMeta);
    mbuf->buf_addr = buffer_.get();
    mbuf->data_off = RTE_PKTMBUF_HEADROOM;
    mbuf->data_len = static_cast<uint16_t>(size);
    if (size != 0) std::memcpy(buffer_.get() + RTE_PKTMBUF_HEADROOM, data, size);
    PacketPool::adopt(mbuf);
  }
  rte_mbuf* mbuf() { return reinterpret_cast<rte_mbuf*>(head_.get()); }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t[], Free> head_;
  std::unique_ptr<uint8_t[]> buffer_;
};

void check_layers(const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  if (meta.verdict == Verdict::kDrop) return;
  SOFTSPINE_CHECK(meta.l3_offset <= packet.stored_bytes(), meta.l3_offset, packet.stored_bytes());
  if ((meta.flags & (kIsIpv4 | kIsIpv6)) == 0) return;
  SOFTSPINE_CHECK(meta.l4_offset <= packet.stored_bytes(), meta.l4_offset, packet.stored_bytes());
  SOFTSPINE_CHECK(meta.l4_offset > meta.l3_offset, meta.l4_offset, meta.l3_offset);
  if ((meta.flags & kIsRoce) != 0) SOFTSPINE_CHECK(meta.l4_offset + 20u <= packet.stored_bytes(), meta.l4_offset, 0);
}

void forward(SwitchTables& tables, Packet packet, bool is_routed) {
  Burst burst;
  burst.push(std::move(packet));
  classify(tables, burst);
  if (is_routed) {
    accept_routed(tables, burst);
  } else {
    bridge(tables, burst);
  }
  route(tables, burst);
  rewrite(tables, burst);
  (void)burst[0].take();
}

}  // namespace
}  // namespace softspine::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace softspine::tests;
  static SwitchTables tables{std::make_shared<const ForwardingState>(bench_state()), Fdb{}, NeighbourTable{}};
  if (size == 0) return 0;
  const uint8_t choice = *data++;
  size = std::min(size - 1, kMaxInput);
  TightPacket tight{data, size};
  Packet packet{tight.mbuf()};
  packet.meta().in_port = choice % kBenchPorts;
  packet.meta().frame_bytes += (choice & 0x08) != 0 && size >= 4 ? (choice >> 4) * 600u : 0u;
  parse(packet);
  check_layers(packet);
  const bool is_routed = packet.meta().in_port >= 4 && (choice & 0x10) != 0;
  forward(tables, std::move(packet), is_routed);
  return 0;
}
