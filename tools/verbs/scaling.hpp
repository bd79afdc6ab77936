// SPDX-License-Identifier: Apache-2.0
// How messages go over queue pairs (Meta's two ways of QP scaling, SIGCOMM 2024):
//
//   split        message i is cut into a part for each queue pair; the first (bytes mod n) parts are one byte longer
//   round_robin  message i goes whole over queue pair i mod n
//
// So queue pair q carries the messages q, q + n, q + 2n …, or all of them; either way in order, so that a receiver
// knows which one comes next.
#pragma once

#include <cstdint>

namespace softspine::tools {

enum class Scaling : uint8_t { kSplit, kRoundRobin };

struct Spread {
  Scaling scaling = Scaling::kRoundRobin;
  uint32_t queue_pairs = 1;
  uint64_t message_bytes = 65'536;

  // The bytes of a message over this queue pair.
  uint64_t part_bytes(uint32_t queue_pair) const {
    if (scaling == Scaling::kRoundRobin) return message_bytes;
    return message_bytes / queue_pairs + (queue_pair < message_bytes % queue_pairs ? 1 : 0);
  }
  uint64_t largest_part_bytes() const { return part_bytes(0); }
  // Queue pairs that message i needs: [first, first + parts).
  uint32_t first_queue_pair(uint64_t message) const {
    return scaling == Scaling::kSplit ? 0 : static_cast<uint32_t>(message % queue_pairs);
  }
  uint32_t parts() const { return scaling == Scaling::kSplit ? queue_pairs : 1; }
  // Which message the n-th part over this queue pair belongs to.
  uint64_t message_of(uint32_t queue_pair, uint64_t nth) const {
    return scaling == Scaling::kSplit ? nth : nth * queue_pairs + queue_pair;
  }
  // How many parts go over it, of so many messages.
  uint64_t parts_over(uint32_t queue_pair, uint64_t messages) const {
    if (scaling == Scaling::kSplit) return messages;
    return messages / queue_pairs + (queue_pair < messages % queue_pairs ? 1 : 0);
  }
};

}  // namespace softspine::tools
