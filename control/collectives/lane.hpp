// SPDX-License-Identifier: Apache-2.0
// What one of NCCL's thread blocks, or half of one, does for a collective: step after step, never two at once.
//
// A step receives from `from`, works on what it received and on data of its own, and sends the result to `to`. So
// RecvReduceSend, RecvCopySend, Send, Recv and all the others are one thing. A step that `exchanges` sends data of its
// own that its work does not touch, beside the work: MPI's Sendrecv, which needs no slots.
//
// `data` says what data a work takes and leaves; nothing here decides when. The collective's tests move data by it
// and know no algorithm.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace softspine::control {

// A rank's buffers. kScratch is as large as all ranks' data; the others as the collective says.
enum class DataPlace : uint8_t { kNowhere, kInput, kOutput, kScratch };

// value = the sum of what was received and of `reads`, if any; then `writes` takes its place, if any, or, if it `adds`,
// is added to it.
struct DataUse {
  DataPlace reads = DataPlace::kNowhere;
  DataPlace writes = DataPlace::kNowhere;
  uint64_t read_offset = 0;
  uint64_t write_offset = 0;
  uint64_t bytes = 0;   // of one piece
  uint32_t pieces = 1;  // `stride` bytes apart, both where it reads and where it writes
  uint64_t stride = 0;
  bool adds = false;

  uint64_t all_bytes() const { return bytes * pieces; }
};

constexpr uint32_t kUnmarked = UINT32_MAX;
constexpr uint32_t kMaxPeers = 3;  // of a tree: two servers below, and a GPU of its own

class Peers {
 public:
  void clear() { count_ = 0; }
  void add(uint32_t rank) { ranks_[count_++] = rank; }
  std::span<const uint32_t> all() const { return {ranks_.data(), count_}; }
  bool empty() const { return count_ == 0; }

 private:
  std::array<uint32_t, kMaxPeers> ranks_{};
  uint32_t count_ = 0;
};

struct Step {
  Peers from;
  Peers to;
  bool works = true;
  DataUse data;
  bool exchanges = false;
  DataUse sent;                  // of an exchange
  uint32_t channel = kUnmarked;  // of its messages, if not the lane's
  bool new_peers = false;        // nothing was sent to or received from them before
  // A work that has a mark can be waited for, by lanes of this rank. Of several with one mark the last one is.
  uint32_t mark = kUnmarked;
  uint32_t after = kUnmarked;

  const DataUse& sends() const { return exchanges ? sent : data; }
};

class Lane {
 public:
  explicit Lane(uint32_t channel) : channel_(channel) {}
  virtual ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  uint32_t channel() const { return channel_; }
  // Others of its rank come first.
  virtual bool waits() const noexcept { return false; }
  // `out` as a Step is made. False: there are no more.
  virtual bool next(Step& out) noexcept = 0;

 private:
  uint32_t channel_;
};

}  // namespace softspine::control
