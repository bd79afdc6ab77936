// SPDX-License-Identifier: Apache-2.0
// A packet: a move-only handle over one single-segment mbuf, and what the fabric knows about it.
//
// Ownership: exactly one of a node's stage, a queue, a link or an edge. Passing it on is a move;
// only `PacketPool::release` frees. A handle that dies while it still holds a packet is a leak, and
// debug builds stop there.
//
// Two lengths. `stored_bytes` are in memory; `frame_bytes` (in the meta) is the length of the frame
// on the wire, without FCS. They differ for built-in traffic, which leaves its payload out: the
// missing bytes are zeros and lie before the last four stored ones (the ICRC).
//
//   stored:  | Ethernet IP UDP BTH RETH |                | ICRC |
//   frame:   | Ethernet IP UDP BTH RETH | 0 0 0 … 0 0 0  | ICRC |     elided = frame − stored
#pragma once

#include <rte_mbuf.h>

#include <cassert>
#include <cstdint>
#include <utility>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/remark.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

// The flow() of a packet that carries no built-in flow's payload: an answer, a pause, a frame from outside.
inline constexpr uint32_t kNoFlow = UINT32_MAX >> 1;
inline constexpr uint32_t kCopyBit = kNoFlow + 1;          // beside the flow, in the same field
inline constexpr uint32_t kMaxFrameBytes = 9216 + 14 + 4;  // jumbo payload, Ethernet, one tag

// The decision of a pipeline so far.
enum class Verdict : uint8_t {
  kContinue,    // no stage has ended it yet
  kForward,     // to out_port, queue
  kFlood,       // to every other member of its VLAN
  kLocal,       // addressed to this switch, or needs an answer from it
  kMacControl,  // PFC or pause: for this port's egress
  kDrop,        // with reason
};

// Whom a frame is for, by its destination MAC.
enum class Cast : uint8_t { kUnicast, kMulticast, kBroadcast };

// One cache line beside the mbuf. Each field is written by the stage that its comment names, and read by all later
// ones.
struct alignas(64) PacketMeta {
  Instant at;              // link: last bit arrived
  Instant born;            // source: first bit left
  rte_mbuf* next;          // queue, inbox: the list it stands in
  uint32_t frame_bytes;    // source, edge: length on the wire without FCS
  uint32_t hash;           // hash
  uint32_t next_hop;       // route: index of the group or adjacency
  uint16_t in_port;        // link
  uint16_t out_port;       // route, bridge
  uint16_t ether_type;     // parse: behind the tag, if there is one
  uint16_t vlan;           // parse: the whole TCI of a tag; bridge: the VLAN
  uint16_t l3_offset;      // parse
  uint16_t l4_offset;      // parse
  Verdict verdict;         // any stage
  DropReason reason;       // any stage, with kDrop
  uint8_t flags;           // parse
  uint8_t ip_protocol;     // parse
  uint8_t traffic_class;   // classify
  uint8_t priority_group;  // classify
  uint8_t queue;           // classify
  uint8_t dscp_ecn;        // parse: the whole TOS or traffic class byte
  bool has_right_sums;     // source: it is a built-in host's, whose checksum and ICRC each switch keeps right
  Cast cast;               // egress, on admission: at departure the frame's bytes have left the cache
  uint16_t cells;          // egress, on admission: cells of the buffer that the frame holds
  uint16_t held_by;        // egress, on admission: the priority group that is charged for the cells (Mmu::number_of_pg)
  Remark remark;           // egress: for captures
  bool is_sound;           // parse of a switch, or source: what parse writes is right already, and no header has a
                           // fault. Switches alone have changed bytes since, and keep these fields up to date
};
static_assert(sizeof(PacketMeta) == 64);

class Packet {
 public:
  Packet() = default;
  explicit Packet(rte_mbuf* mbuf) : mbuf_(mbuf) {}
  Packet(Packet&& other) noexcept : mbuf_(std::exchange(other.mbuf_, nullptr)) {}
  Packet& operator=(Packet&& other) noexcept {
    assert(mbuf_ == nullptr);
    mbuf_ = std::exchange(other.mbuf_, nullptr);
    return *this;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;
  ~Packet() { assert(mbuf_ == nullptr); }

  explicit operator bool() const { return mbuf_ != nullptr; }
  // Gives the mbuf away: to a list, a device, the pool.
  rte_mbuf* take() { return std::exchange(mbuf_, nullptr); }
  rte_mbuf* mbuf() const { return mbuf_; }

  PacketMeta& meta() const { return *meta_of(mbuf_); }
  uint8_t* data() const { return rte_pktmbuf_mtod(mbuf_, uint8_t*); }
  uint32_t stored_bytes() const { return mbuf_->data_len; }
  uint32_t frame_bytes() const { return meta().frame_bytes; }
  uint32_t elided_bytes() const { return frame_bytes() - stored_bytes(); }

  // The number of the built-in flow whose payload the packet carries, written by the sending host: wherever the packet
  // ends, it is known which flow lost it. No stage reads the number. The flow is stored in the mbuf itself, in a cache
  // line that is written anyway, in the field for a device's RSS hash.
  uint32_t flow() const { return flow_of(mbuf_); }
  bool is_of_flow() const { return flow() != kNoFlow; }
  void set_flow(uint32_t flow) { mbuf_->hash.usr = flow; }
  // Whether a switch made it by flooding: of all copies of a packet at most one gets where the packet was to go.
  bool is_copy() const { return is_copy_of(mbuf_); }
  void mark_as_copy() { mbuf_->hash.usr |= kCopyBit; }
  static uint32_t flow_of(const rte_mbuf* mbuf) { return mbuf->hash.usr & ~kCopyBit; }
  static bool is_copy_of(const rte_mbuf* mbuf) { return (mbuf->hash.usr & kCopyBit) != 0; }

  // Inserts `count` bytes of unset content (≤ the headroom) behind the first `offset` bytes, for a tag.
  uint8_t* insert_bytes(uint32_t offset, uint16_t count) {
    uint8_t* before = data();
    mbuf_->data_off = static_cast<uint16_t>(mbuf_->data_off - count);
    mbuf_->data_len = static_cast<uint16_t>(mbuf_->data_len + count);
    mbuf_->pkt_len = mbuf_->data_len;
    meta().frame_bytes += count;
    __builtin_memmove(before - count, before, offset);
    return before - count + offset;
  }
  void remove_bytes(uint32_t offset, uint16_t count) {
    uint8_t* before = data();
    mbuf_->data_off = static_cast<uint16_t>(mbuf_->data_off + count);
    mbuf_->data_len = static_cast<uint16_t>(mbuf_->data_len - count);
    mbuf_->pkt_len = mbuf_->data_len;
    meta().frame_bytes -= count;
    __builtin_memmove(before + count, before, offset);
  }

  // Cuts the frame to its first `bytes` bytes, which must be stored ones.
  void cut_to(uint32_t bytes) {
    mbuf_->data_len = static_cast<uint16_t>(bytes);
    mbuf_->pkt_len = bytes;
    meta().frame_bytes = bytes;
  }

  static PacketMeta* meta_of(rte_mbuf* mbuf) { return static_cast<PacketMeta*>(rte_mbuf_to_priv(mbuf)); }
  // Prefetches all that a stage reads of a packet, without reading any of it: the data begin where the pool put them,
  // but for a tag. (Always inlined, as every prefetch here: GCC 12 treats a function that only prefetches as one
  // without effect, and drops calls of it.)
  [[gnu::always_inline]] static void prefetch(rte_mbuf* mbuf) {
    char* bytes = reinterpret_cast<char*>(mbuf);
    __builtin_prefetch(bytes, 1);
    __builtin_prefetch(bytes + sizeof(rte_mbuf), 1);
    __builtin_prefetch(bytes + sizeof(rte_mbuf) + sizeof(PacketMeta) + RTE_PKTMBUF_HEADROOM, 1);
  }
  [[gnu::always_inline]] void prefetch_meta() const { __builtin_prefetch(meta_of(mbuf_), 1); }
  [[gnu::always_inline]] void prefetch_data() const {
    __builtin_prefetch(static_cast<uint8_t*>(mbuf_->buf_addr) + mbuf_->data_off, 1);
  }

 private:
  rte_mbuf* mbuf_ = nullptr;
};

// An observer's view of a packet that is somebody else's; valid while nothing runs.
struct PacketGlance {
  const PacketMeta& meta;
  const uint8_t* bytes;
  uint32_t stored_bytes;
  uint32_t flow;
  bool is_copy;

  static PacketGlance at(rte_mbuf* m) {
    return {*Packet::meta_of(m), rte_pktmbuf_mtod(m, const uint8_t*), m->data_len, Packet::flow_of(m),
            Packet::is_copy_of(m)};
  }
};

// First in, first out, through PacketMeta::next: no memory of its own, so it can't be full.
class PacketList {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(Packet packet) {
    rte_mbuf* m = packet.take();
    Packet::meta_of(m)->next = nullptr;
    if (head_ == nullptr) {
      head_ = m;
    } else {
      Packet::meta_of(tail_)->next = m;
    }
    tail_ = m;
  }
  Packet pop() {
    rte_mbuf* m = head_;
    head_ = Packet::meta_of(m)->next;
    return Packet{m};
  }
  const PacketMeta& front() const { return *Packet::meta_of(head_); }
  // Slow, for observers only: calls see(glance) for each packet.
  template <typename See>
  void for_each(See&& see) const {
    for (rte_mbuf* m = head_; m != nullptr; m = Packet::meta_of(m)->next) see(PacketGlance::at(m));
  }
  [[gnu::always_inline]] void prefetch_front() const {
    if (head_ != nullptr) Packet::prefetch(head_);
  }

 private:
  rte_mbuf* head_ = nullptr;
  rte_mbuf* tail_ = nullptr;
};

}  // namespace softspine::dataplane
