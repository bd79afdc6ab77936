// SPDX-License-Identifier: Apache-2.0
// How the bytes of a collective are cut: blocks of ranks, parts of channels, chunks, slices. NCCL 2.30's rules.
//
//   block    what one rank gives (AllGather) or gets (ReduceScatter), or one pair of ranks exchanges (AllToAll):
//            ⌊bytes / ranks⌋. What is left over belongs to nobody, as in nccl-tests. Of the others: all bytes
//   part     of a channel: contiguous, whole cells of ≥ 32 KiB of traffic (AllReduce 2 bytes of traffic a byte,
//            AllGather and ReduceScatter one a rank; LL four times as many). So few bytes take fewer channels.
//            direct: equal parts of whole 4 KiB
//   step     a slot of the protocol's buffer: Simple 512 KiB, LL 32 KiB and LL128 576,000 B of data
//   chunk    what a rank handles in one step of an algorithm. Ring with Simple: 4 steps for AllReduce, AllGather and
//            ReduceScatter; so with the hierarchy's ring, and with any plan. Everything else: 1 step; the tree halves
//            it while a part has too few chunks for its depth. direct: 128 KiB, a half below 8 chunks a pair of ranks,
//            a quarter below one
//   slice    a message. A chunk of 4 steps goes as two, of max(⌈chunk / 32⌉ · 16 B, full chunk / 64); the second may
//            be empty
//   slots    8 steps of buffer: 4 slices of two steps, else 8 messages
//   wire     LL: 16 bytes for 8 of data. LL128: 128 bytes for 120
#pragma once

#include <cstdint>

#include "control/model/collective.hpp"

namespace softspine::control {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

class Cut {
 public:
  explicit Cut(const CollectiveShape& shape);

  uint64_t block_bytes() const { return block_bytes_; }
  uint32_t channels() const { return channels_; }  // that have bytes
  // Of the block, on this channel.
  ByteRange part(uint32_t channel) const;
  // Of one channel's part.
  uint64_t chunk_bytes(uint64_t part_bytes) const;
  uint32_t slices() const { return slices_; }
  ByteRange slice(uint64_t chunk_bytes, uint32_t slice) const;
  uint32_t slots() const { return slots_; }

 private:
  bool in_steps_of_four() const;
  uint64_t pair_chunk() const;
  uint64_t tree_chunk(uint64_t part_bytes) const;

  CollectiveShape shape_;
  uint64_t block_bytes_ = 0;
  uint64_t part_bytes_ = 0;
  uint32_t channels_ = 0;
  uint32_t slices_ = 1;
  uint32_t slots_ = 1;
  uint64_t least_slice_bytes_ = 0;
};

uint64_t wire_bytes(CollectiveProtocol protocol, uint64_t data_bytes);

}  // namespace softspine::control
