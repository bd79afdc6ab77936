// SPDX-License-Identifier: Apache-2.0
// The capture's own thread: takes the workers' buffers, brings their frames into one order and writes
// the file, so that no worker waits for a disk.
//
// Order: (time, interface, direction, sequence on the interface). A batch comes with a floor: every
// frame before it is in this batch or an earlier one, so frames before the floor are written and the
// others are held. The file is therefore the same however the frames were spread over workers and
// however often they were handed over.
//
// The first error (disk full, …) or the file's maximum ends the writing; what follows is counted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "control/capture/capture_buffer.hpp"
#include "control/capture/capture_files.hpp"

namespace softspine::control {

class CaptureWriter {
 public:
  struct Batch {
    std::vector<CaptureBuffer> buffers;
    dataplane::Instant floor;
  };
  static constexpr size_t kMaxWaiting = 2;  // batches; a third waits in the workers' buffers

  // Begins with the head. `max_bytes`: of all files together; 0: no limit. `on_room`: see has_room(). `on_failure`:
  // called once, by the writer's thread, when nothing more can be written. Both functions may be empty. `interfaces`:
  // how many of them finish() will write statistics of, so that there is room for it.
  CaptureWriter(CaptureFiles files, pcapng::Bytes head, uint64_t max_bytes, std::function<void()> on_room,
                std::function<void(const std::string& why)> on_failure = {}, size_t interfaces = 0);
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  // False when kMaxWaiting batches wait. The writer's thread then calls on_room once there is room.
  bool has_room();
  // Waits for room.
  void put(Batch batch);
  // An empty buffer that already has memory, if there is one.
  CaptureBuffer recycled();

  // Writes everything that was put or held, and `last`; then of each interface how many frames were written, and how
  // many were `missed` (by interface; none: nothing is said); and closes the file. Does not wait for room. A reader
  // that takes nothing is given up after dataplane::kLastWait.
  void finish(Batch last = {}, std::vector<uint64_t> missed = {});

  // No more frames will be written: the maximum is reached, or an error.
  bool full() const { return full_.load(std::memory_order_relaxed); }

  // From any thread: what has been written, or is about to be.
  uint64_t frames() const { return frames_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint32_t files() const { return file_count_.load(std::memory_order_relaxed); }
  // Why nothing more can be written; empty while it can.
  std::string error();

  // Called after finish().
  uint64_t omitted() const { return omitted_; }

 private:
  struct Ready {
    const CaptureRecord* record;
    const CaptureBuffer* buffer;
  };
  void run();
  bool take(Batch& batch);
  void write_batch(const Batch& batch);
  void sort_out(const CaptureBuffer& buffer, dataplane::Instant floor, CaptureBuffer& hold);
  void write_frame(const Ready& ready);
  void write_statistics();
  void note_progress();
  void tell();
  void release_buffers(std::vector<CaptureBuffer> buffers);

  uint64_t max_bytes_;
  size_t room_for_end_;
  size_t room_for_next_ = 0;  // a frame may begin another file
  std::function<void()> on_room_;
  std::function<void(const std::string&)> on_failure_;

  // Used by the writer's thread, and after finish() by any other.
  pcapng::Bytes head_;
  CaptureBuffer held_;
  std::vector<Ready> ready_;
  CaptureFiles files_;
  uint64_t written_ = 0;              // frames
  std::vector<uint64_t> written_of_;  // by interface
  std::vector<uint64_t> missed_of_;   // by interface, from finish()
  dataplane::Instant last_;           // frame that was written
  uint64_t omitted_ = 0;

  std::atomic<uint64_t> frames_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint32_t> file_count_{1};
  std::atomic<bool> full_{false};
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  std::vector<CaptureBuffer> spare_;
  bool asked_for_room_ = false;
  bool finishing_ = false;
  std::string error_;
  std::thread thread_;
};

}  // namespace softspine::control
