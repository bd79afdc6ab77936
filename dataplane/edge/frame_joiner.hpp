// SPDX-License-Identifier: Apache-2.0
// What a NIC does that joins the TCP segments it receives (GRO in hardware): segments of a flow that follow each other
// go to the kernel as one super-frame, in one system call. By Linux's rules of GRO the joined segments could be cut
// again into the very frames that came:
//
//   joined      ACK set, no flag but PSH; payload; checksums right; next sequence number; the same Ethernet header,
//   TOS,
//               TTL, acknowledgement, window and options; IPv4: no fragment, no options, the next ID; IPv6: no
//               extension
//   run ends    behind a segment with PSH, behind a shorter one, at 64 KiB, before a segment of its flow that does
//               not follow, `gap` after its last segment, `longest` after its first
// Segments of one flow keep their order. All other frames pass at once, and so does a segment with PSH that begins a
// run: a host that asks and waits for an answer is not delayed.
//
//   take(packet)      held, or the caller's to hand out, behind the runs that are closed
//   next_closed()     a run for the kernel; its frames are the caller's, who releases them and calls reuse()
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "dataplane/edge/tcp_segment.hpp"
#include "dataplane/edge/virtio_header.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class FrameRun {
 public:
  static constexpr uint32_t kMostFrames = 64;
  static constexpr uint32_t kMostBytes = 65'535;  // of the super-frame: IPv4's length can say no more

  uint32_t frames() const { return count_; }
  uint64_t bytes() const { return bytes_; }  // of all its frames
  // The super-frame in pieces, and what the kernel has to be told with it. Changes the first frame's header.
  struct ForKernel {
    VirtioHeader header;
    std::array<iovec, kMostFrames + 2> parts;  // the first is `header`
    int count;
  };
  void write(ForKernel& out) noexcept;
  Packet take_frame(uint32_t i) { return Packet{std::exchange(frames_[i], nullptr)}; }

 private:
  friend class FrameJoiner;
  enum class State : uint8_t { kFree, kOpen, kClosed };
  void begin(Packet packet, const TcpSegment& segment, Instant now) noexcept;
  bool is_followed_by(const uint8_t* frame, const TcpSegment& segment) const noexcept;
  bool is_flow_of(const uint8_t* frame, const TcpSegment& segment) const noexcept;
  void add(Packet packet, const TcpSegment& segment, Instant now) noexcept;
  const uint8_t* first() const { return rte_pktmbuf_mtod(frames_[0], const uint8_t*); }

  State state_ = State::kFree;
  uint32_t count_ = 0;
  uint32_t payload_bytes_ = 0;  // of all
  uint32_t next_sequence_ = 0;
  uint64_t bytes_ = 0;
  TcpSegment segment_{};  // the first
  Instant since_;
  Instant last_;
  std::array<rte_mbuf*, kMostFrames> frames_{};
};

class FrameJoiner {
 public:
  static constexpr uint32_t kRuns = 8;
  struct Patience {
    Duration gap = Duration::us(5);
    Duration longest = Duration::us(50);
  };
  explicit FrameJoiner(const Patience& patience) : patience_(patience) {}

  // True: held. False: `packet` is the caller's still.
  bool take(Packet& packet, Instant now) noexcept;
  // When close_due() has something to close; never() if nothing is held.
  Instant due() const { return due_; }
  void close_due(Instant now) noexcept;
  void close_all() noexcept { close_due(Instant::never()); }
  // Null: there is none.
  FrameRun* next_closed() noexcept;
  void reuse(FrameRun& run) noexcept;
  uint64_t frames() const { return frames_; }  // held

 private:
  bool hold(Packet& packet, const TcpSegment& segment, Instant now) noexcept;
  FrameRun* find(const uint8_t* frame, const TcpSegment& segment) noexcept;
  void close(FrameRun& run) noexcept;
  void find_due() noexcept;
  Instant due_of(const FrameRun& run) const {
    return std::min(run.last_ + patience_.gap, run.since_ + patience_.longest);
  }

  Patience patience_;
  Instant due_ = Instant::never();
  uint64_t frames_ = 0;
  uint32_t open_ = 0;
  uint32_t closed_ = 0;
  std::array<FrameRun, kRuns> runs_;
};

}  // namespace softspine::dataplane
