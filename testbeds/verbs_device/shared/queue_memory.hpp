// SPDX-License-Identifier: Apache-2.0
// Memory that a verbs program and the device share: a ring a queue, and the doorbells of a process.
//
// The device makes each memory, sealed, so that nobody can shorten it, and both sides map it. It trusts nothing in it:
// it keeps its own copies of all sizes, and of each index that it writes, and copies a slot before it checks it.
//
//   queue          slots are written by   `produced` by   `consumed` by
//   send, receive  the program            the program     the device
//   completions    the device             the device      the program
// Indices only grow, modulo 2^32; a slot's place is its index modulo the number of slots, a power of two.
// No DPDK, and nothing of the fabric: the program's library includes this.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softspine::testbeds {

inline constexpr uint32_t kQueuePairLimit = 4096;  // of a device
inline constexpr uint32_t kCompletionQueueLimit = 4096;
inline constexpr uint32_t kSharedLimit = 1024;    // shared receive queues; channels
inline constexpr uint32_t kSlotLimit = 1U << 16;  // of a queue; of completion queues 2^20
inline constexpr uint32_t kCompletionSlotLimit = 1U << 20;
inline constexpr uint32_t kPieceLimit = 16;  // of one message's memory
inline constexpr uint32_t kInlineLimit = 1024;
inline constexpr uint32_t kDatagramInline = 256;  // a queue pair for datagrams has no less

struct QueueHead {
  alignas(64) std::atomic<uint32_t> produced;
  alignas(64) std::atomic<uint32_t> consumed;
  alignas(64) std::atomic<uint32_t> armed;  // completions: kNotArmed … kAnyArmed, written by both
};
inline constexpr uint32_t kNotArmed = 0;
inline constexpr uint32_t kSolicitedArmed = 1;
inline constexpr uint32_t kAnyArmed = 2;  // solicited or not

// A piece of the program's memory (an ibv_sge).
struct MemoryPiece {
  uint64_t address;
  uint32_t length;
  uint32_t key;
};

struct SendSlot {
  uint64_t id;
  uint32_t opcode;     // ibv_wr_opcode
  uint32_t flags;      // ibv_send_flags
  uint32_t immediate;  // as the program gave it: in network order
  uint32_t remote_key;
  uint64_t remote_address;
  uint64_t compare_add;
  uint64_t swap;
  uint32_t pieces;
  uint32_t inline_bytes;  // behind the slot, in the place of pieces
  // Datagrams.
  uint8_t remote_gid[16];
  uint32_t remote_qp;
  uint32_t remote_qkey;
  uint32_t flow_label;
  uint8_t traffic_class;
  uint8_t hop_limit;
  uint8_t gid_index;
  uint8_t unused;
};
struct ReceiveSlot {
  uint64_t id;
  uint32_t pieces;
  uint32_t unused;
};
struct CompletionSlot {
  uint64_t id;
  uint32_t status;  // ibv_wc_status
  uint32_t opcode;  // ibv_wc_opcode
  uint32_t bytes;
  uint32_t immediate;
  uint32_t qp;
  uint32_t source_qp;
  uint32_t flags;  // ibv_wc_flags
  uint32_t service_level;
  uint64_t unused_too[3];
};
static_assert(sizeof(SendSlot) == 88 && sizeof(ReceiveSlot) == 16 && sizeof(CompletionSlot) == 64);

constexpr uint32_t send_slot_bytes(uint32_t pieces, uint32_t inline_bytes) {
  const auto tail = static_cast<uint32_t>(pieces * sizeof(MemoryPiece));
  return static_cast<uint32_t>(sizeof(SendSlot)) + ((tail > inline_bytes ? tail : inline_bytes) + 31U) / 32U * 32U;
}
constexpr uint32_t receive_slot_bytes(uint32_t pieces) {
  return static_cast<uint32_t>(sizeof(ReceiveSlot) + pieces * sizeof(MemoryPiece));
}
constexpr size_t queue_bytes(uint32_t slots, uint32_t slot_bytes) {
  return sizeof(QueueHead) + size_t{slots} * slot_bytes;
}

// One bit a queue pair of the device, by its number modulo the limit: something was posted to its send queue. A summary
// bit a word. The program sets bits, the word's before the summary's; the device takes them.
// A device that has nothing to do sets `asleep`, and then looks at the summary once more. A program that has set bits
// looks at `asleep` afterwards: if it is set, it clears it, and wakes the device (Call::kWake).
struct Doorbells {
  alignas(64) std::atomic<uint64_t> summary;
  std::atomic<uint32_t> asleep;
  alignas(64) std::atomic<uint64_t> words[kQueuePairLimit / 64];
};

}  // namespace softspine::testbeds
