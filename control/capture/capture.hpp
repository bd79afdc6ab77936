// SPDX-License-Identifier: Apache-2.0
// One pcapng file for the whole fabric: an interface per port, frames in emulated time.
//
//   auto capture = Capture::open("storm.pcapng", options);         expected: the reason if it can't
//   Tap* tap = (*capture)->add_port("tor1:Ethernet4", rate, worker);   null: no pattern names this port
//   (*capture)->start();                                           head and interfaces are written
//   … engine.run(); now and then, from an action: (*capture)->flush(now) …
//   auto totals = (*capture)->close();                             everything held is written
//
// Threads. A port's tap is called by the worker that owns the port and copies at most `snaplen`
// bytes into that worker's buffer. flush(floor) runs while every worker stands still and only swaps
// buffers; a thread of the capture's own sorts and writes (capture_writer.hpp). `floor` is an instant
// before which everything has been handled: the `now` of an engine action. Frames that a window has
// already put on the wire but that leave after the floor are held until a later flush.
//
// Captured is the frame up to the snap length. Only the head of a frame with elided payload is captured, since
// its zeros were never in memory, and the ICRC behind them would stand in a wrong place. The original length is the
// frame's. A dissector that wants to read to a frame's end calls such a frame malformed, so `full` puts the zeros back,
// in the file alone. They are written, not left as holes of a sparse file: a payload has 4096 bytes at most, so it
// hardly ever fills a whole block of a file system.
//
// When a worker's buffer is full: with `grow` it grows (virtual clock: no frame is ever missed, and the
// file is byte-identical for any number of workers); without, frames are missed, counted, and the next
// one of that port carries their number (epb_dropcount). A buffer half full calls `on_pressure` once
// per flush, from its worker: the owner posts a flush to the engine.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/capture/capture_writer.hpp"
#include "control/capture/frame_filter.hpp"
#include "dataplane/link/tap.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::control {

struct CaptureOptions {
  uint32_t snaplen = 256;          // ≥ 1
  bool full = false;               // whole frames, whatever the snap length, with the zeros of their payloads
  std::vector<std::string> ports;  // patterns of "node:port" as a shell has them: tor1:*; none: every port
  uint64_t max_bytes = 0;          // of the file; 0: no limit
  size_t buffer_bytes = 8 << 20;   // of each worker
  bool grow = false;               // rather than miss a frame
  uint32_t workers = 1;
  std::string comment;  // of the file: what was run, with which seed
  std::string filter;   // libpcap's syntax; empty: every frame
  Rotation rotation;
  bool wait_for_reader = false;  // of a named pipe: else one without a reader is an error
};

struct CaptureTotals {
  uint64_t frames = 0;   // in the file, or in all of them
  uint64_t bytes = 0;    // of the file, or of all files, removed ones included
  uint64_t missed = 0;   // no room in a worker's buffer
  uint64_t omitted = 0;  // after max_bytes or an error
  uint32_t files = 1;
};

class Capture {
 public:
  static std::expected<std::unique_ptr<Capture>, std::string> open(const std::string& path, CaptureOptions options);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Before start(). The order of calls numbers the interfaces. The tap lives as long as the capture.
  // `description`: of the interface in the file, see pcapng::link_description().
  dataplane::Tap* add_port(const std::string& name, dataplane::Rate speed, uint32_t worker,
                           const std::string& description = {});
  // Before start(). Called by a worker in the middle of a window, or by the writer's thread when a flush
  // had to be put off: it may post to the engine, and nothing else. The engine outlives close().
  void on_pressure(std::function<void()> call);
  // Before start(). Called by the writer's thread, once, when nothing more can be written.
  void on_failure(std::function<void(const std::string& why)> call);
  // Frames of `until` and later are not taken.
  void start(dataplane::Instant until = dataplane::Instant::never());

  // While no worker runs (an engine action). Never waits for the disk, unless the capture may grow:
  // then it waits when the disk is more than two flushes behind.
  // `further`: frames that other processes have seen.
  void flush(dataplane::Instant floor, std::vector<CaptureBuffer> further = {});
  // Likewise: the workers' buffers, for the process that writes the file. Nothing of them is written here.
  std::vector<CaptureBuffer> take();

  // To be called after the last window, or when no tap is called any more; then from any thread. Idempotent. The error
  // is the operating system's message.
  std::expected<CaptureTotals, std::string> close(std::vector<CaptureBuffer> further = {});

  // From any thread, while it goes on: frames, bytes and files so far.
  CaptureTotals so_far() const;
  // From any thread: why nothing more can be written; empty while it can.
  std::string failure() const { return writer_ ? writer_->error() : std::string{}; }
  // The file, or the pattern of its names.
  const std::string& name() const { return name_; }
  size_t ports() const { return taps_.size(); }

 private:
  class PortTap;
  struct WorkerSide;

  Capture(CaptureFiles files, FrameFilter filter, CaptureOptions options);
  bool wants(const std::string& port) const;
  CaptureWriter::Batch batch_of(dataplane::Instant floor, std::vector<CaptureBuffer> further);
  CaptureBuffer fresh_buffer();

  std::optional<CaptureFiles> files_;  // until start()
  std::string name_;
  FrameFilter filter_;
  CaptureOptions options_;
  std::function<void()> on_pressure_;
  std::function<void(const std::string&)> on_failure_;
  dataplane::Instant until_;
  pcapng::Bytes head_;
  std::vector<std::unique_ptr<WorkerSide>> workers_;
  std::vector<std::unique_ptr<PortTap>> taps_;
  std::unique_ptr<CaptureWriter> writer_;
  bool closed_ = false;
};

}  // namespace softspine::control
