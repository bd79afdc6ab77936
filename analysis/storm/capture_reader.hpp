// SPDX-License-Identifier: Apache-2.0
// A capture, frame by frame, with what libpcap does not hand out: interface names, speeds, descriptions and the
// way a frame went. pcapng of either byte order and any number of sections; pcap in micro- or nanoseconds.
// Streamed: one block is in memory at a time.
//
// Time: emulated captures count from 0, others from 1970, which picoseconds in 64 bits do not reach. So an
// Instant here counts from `origin_seconds()` + its picoseconds: 0 for a capture that begins within 50 days of
// 1970 (emulated time), else the time of the first frame. A frame 50 days from it has a wrong time: it is left out and
// counted. The first frame's own time may be the wrong one, so the first three are read ahead, and the time counts
// that most of them agree with.
//
// Errors name the offset in the file, and the first one is final. An input that ends inside a block is cut short: this
// is an error, too, but frames read before it are valid.
// Bounds: a block that is read has at most 16 MiB (others are passed over), interfaces at most 65,536.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/storm/capture_input.hpp"
#include "analysis/storm/pcapng_blocks.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

struct CaptureError {
  uint64_t offset = 0;
  std::string message;
  bool cut_short = false;  // the input ended; what was read is valid
};

enum class Way : uint8_t { kUnknown, kIn, kOut };

struct CapturedTime {
  dataplane::Instant from = dataplane::Instant::at_ps(std::numeric_limits<int64_t>::min());
  dataplane::Instant until = dataplane::Instant::never();

  bool is_empty() const { return until < from; }
  bool overlaps(dataplane::Instant begin, dataplane::Instant end) const { return from < end && begin < until; }
  void include(dataplane::Instant begin, dataplane::Instant end) {
    from = std::min(from, begin);
    until = std::max(until, end);
  }
};

inline constexpr CapturedTime kNever{.from = dataplane::Instant::never(),
                                     .until = dataplane::Instant::at_ps(std::numeric_limits<int64_t>::min())};

struct CapturedInterface {
  std::string name;  // empty: not said
  std::string description;
  std::string filter;                     // that frames were chosen by; empty: not said
  uint64_t speed_bps = 0;                 // 0: not said
  uint64_t mac = 0;                       // 0: not said
  uint64_t dropped = 0;                   // frames, by the capture's statistics
  std::optional<uint64_t> received = {};  // by these, too
  uint16_t link_type = 0;
  // For several captures that are read as one: the machine of an interface of all ports, and the time in which its
  // frames were captured.
  std::string machine = {};
  bool is_named = true;  // false: its name was made up
  bool hears = true;     // false: nothing in its capture came in, so what pauses this port is not there
  CapturedTime time = {};
  bool is_ethernet() const { return link_type == 1; }
};

struct CapturedFrame {
  uint32_t interface = 0;  // of interfaces()
  Way way = Way::kUnknown;
  dataplane::Instant at;
  std::span<const uint8_t> bytes;  // valid until the next read
  uint32_t original_bytes = 0;
  uint64_t missed_before = 0;
};

class CaptureReader {
 public:
  static constexpr uint32_t kMaxBlockBytes = 16 << 20;
  static constexpr size_t kMaxInterfaces = 262'144;  // a pod of 15,360 hosts has 92,160 ports

  explicit CaptureReader(CaptureInput::Read read, size_t read_bytes = CaptureInput::kReadBytes)
      : input_(std::move(read), read_bytes) {}

  // Reads the next frame. False at the end.
  std::expected<bool, CaptureError> next(CapturedFrame& frame);

  const std::vector<CapturedInterface>& interfaces() const { return interfaces_; }
  uint64_t offset() const { return input_.offset(); }
  uint64_t untimed_frames() const { return untimed_; }    // simple packet blocks: left out
  uint64_t mistimed_frames() const { return mistimed_; }  // 50 days from the others: left out
  // The time of instant 0, since 1970. Meaningful after the first frame.
  int64_t origin_seconds() const { return origin_ ? origin_->seconds : 0; }
  int64_t origin_ps() const { return origin_ ? origin_->ps : 0; }

 private:
  enum class Format : uint8_t { kNotYet, kPcap, kPcapng };
  struct Clock {
    uint64_t ticks_per_second = 1'000'000;
    int64_t offset_seconds = 0;
  };
  struct Moment {
    int64_t seconds = 0;
    int64_t ps = 0;
  };
  struct Early {  // a frame that was read ahead
    CapturedFrame frame;
    Moment moment;
    std::vector<uint8_t> bytes;
  };
  static constexpr size_t kReadAhead = 3;

  std::optional<CaptureError> recognise();
  std::optional<CaptureError> open_pcap(uint32_t magic);
  void read_ahead();
  void choose_origin(const Moment& first);
  static bool is_near(const Moment& a, const Moment& b);
  // The next frame with a time that a clock may have, `at` not set.
  std::expected<bool, CaptureError> next_timed(CapturedFrame& frame, Moment& moment);
  std::expected<bool, CaptureError> next_in_pcap(CapturedFrame& frame);
  std::expected<bool, CaptureError> next_in_pcapng(CapturedFrame& frame);
  std::optional<CaptureError> open_section();
  std::expected<bool, CaptureError> take_block(uint32_t type, std::span<const uint8_t> body, CapturedFrame& frame);
  std::optional<CaptureError> add_interface(std::span<const uint8_t> body);
  std::expected<bool, CaptureError> take_packet(uint32_t type, std::span<const uint8_t> body, CapturedFrame& frame);
  std::optional<CaptureError> take_statistics(std::span<const uint8_t> body);
  void note_time(uint64_t ticks, const Clock& clock);

  CaptureError error(std::string message, size_t beyond = 0) const;
  CaptureError cut_short(const char* inside) const;

  CaptureInput input_;
  Format format_ = Format::kNotYet;
  ByteOrder order_;
  std::vector<CapturedInterface> interfaces_;
  std::vector<Clock> clocks_;      // of interfaces_
  size_t section_interfaces_ = 0;  // the first of this section
  std::optional<Moment> origin_;
  std::optional<Moment> moment_;  // of the frame that was read last; none: no clock has it
  bool has_read_ahead_ = false;
  std::deque<Early> early_;
  std::vector<uint8_t> given_;  // bytes of the early frame that was handed out last
  uint64_t untimed_ = 0;
  uint64_t mistimed_ = 0;
  size_t consumed_ = 0;  // bytes of the block that the last frame stands in: skipped by the next read
  std::optional<CaptureError> broken_;
};

}  // namespace softspine::analysis::storm
