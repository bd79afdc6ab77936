// SPDX-License-Identifier: Apache-2.0
#include "control/capture/capture_writer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace softspine::control {

namespace {

auto order_of(const CaptureRecord& r) {
  return std::tuple{r.at, r.interface, r.way, r.sequence};
}

}  // namespace

CaptureWriter::CaptureWriter(CaptureFiles files, pcapng::Bytes head, uint64_t max_bytes, std::function<void()> on_room,
                             std::function<void(const std::string& why)> on_failure, size_t interfaces)
    : max_bytes_(max_bytes),
      room_for_end_(interfaces * pcapng::kStatisticsBytes),
      on_room_(std::move(on_room)),
      on_failure_(std::move(on_failure)),
      head_(std::move(head)),
      files_(std::move(files)) {
  if (files_.rotates()) room_for_next_ = head_.size();
  thread_ = std::thread{[this] { run(); }};
}

CaptureWriter::~CaptureWriter() {
  finish();
}

bool CaptureWriter::has_room() {
  const std::lock_guard guard{lock_};
  asked_for_room_ = waiting_.size() >= kMaxWaiting;
  return !asked_for_room_;
}

void CaptureWriter::put(Batch batch) {
  {
    std::unique_lock lock{lock_};
    changed_.wait(lock, [this] { return waiting_.size() < kMaxWaiting; });
    waiting_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

CaptureBuffer CaptureWriter::recycled() {
  const std::lock_guard guard{lock_};
  if (spare_.empty()) return {};
  CaptureBuffer buffer = std::move(spare_.back());
  spare_.pop_back();
  return buffer;
}

void CaptureWriter::release_buffers(std::vector<CaptureBuffer> buffers) {
  for (CaptureBuffer& buffer : buffers) buffer.clear();
  const std::lock_guard guard{lock_};
  for (CaptureBuffer& buffer : buffers) spare_.push_back(std::move(buffer));
}

void CaptureWriter::finish(Batch last, std::vector<uint64_t> missed) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard{lock_};
    waiting_.push_back(std::move(last));
    missed_of_ = std::move(missed);
    finishing_ = true;
  }
  files_.end_soon();
  changed_.notify_all();
  thread_.join();
}

std::string CaptureWriter::error() {
  const std::lock_guard guard{lock_};
  return error_;
}

void CaptureWriter::run() {
  files_.begin(head_, room_for_end_);
  files_.flush();
  tell();
  for (Batch batch; take(batch);) {
    write_batch(batch);
    release_buffers(std::move(batch.buffers));
  }
  write_batch(Batch{{}, dataplane::Instant::never()});
  write_statistics();
  files_.close();
  tell();
}

// False at the end: nothing waits and nothing will come.
bool CaptureWriter::take(Batch& batch) {
  bool asked = false;
  {
    std::unique_lock lock{lock_};
    changed_.wait(lock, [this] { return finishing_ || !waiting_.empty(); });
    if (waiting_.empty()) return false;
    batch = std::move(waiting_.front());
    waiting_.pop_front();
    asked = std::exchange(asked_for_room_, false) && !finishing_;
  }
  changed_.notify_all();
  if (asked && on_room_) on_room_();
  return true;
}

void CaptureWriter::write_batch(const Batch& batch) {
  const CaptureBuffer before = std::move(held_);
  CaptureBuffer hold;
  ready_.clear();
  sort_out(before, batch.floor, hold);
  for (const CaptureBuffer& buffer : batch.buffers) sort_out(buffer, batch.floor, hold);
  std::sort(ready_.begin(), ready_.end(),
            [](const Ready& a, const Ready& b) { return order_of(*a.record) < order_of(*b.record); });
  for (const Ready& ready : ready_) write_frame(ready);
  files_.flush();
  tell();
  held_ = std::move(hold);
}

void CaptureWriter::sort_out(const CaptureBuffer& buffer, dataplane::Instant floor, CaptureBuffer& hold) {
  for (const CaptureRecord& record : buffer.records()) {
    if (record.at < floor || floor.is_never()) {
      ready_.push_back({&record, &buffer});
    } else {
      hold.add(record, buffer);
    }
  }
}

void CaptureWriter::write_frame(const Ready& ready) {
  const CaptureRecord& r = *ready.record;
  const pcapng::Frame frame{.interface = r.interface,
                            .way = r.way,
                            .at = r.at,
                            .original_bytes = r.original_bytes,
                            .bytes = ready.buffer->frame_of(r),
                            .zeros_at = r.zeros_at,
                            .zeros = r.zeros,
                            .missed_before = r.missed_before,
                            .comment = ready.buffer->comment_of(r)};
  const size_t encoded = pcapng::encoded_bytes(frame);
  if (!files_.error().empty() ||
      (max_bytes_ != 0 && files_.bytes() + encoded + room_for_next_ + room_for_end_ > max_bytes_)) {
    full_.store(true, std::memory_order_relaxed);
  }
  if (full()) {
    ++omitted_;
    return;
  }
  ++written_;
  if (written_of_.size() <= r.interface) written_of_.resize(r.interface + 1);
  ++written_of_[r.interface];
  last_ = r.at;
  note_progress();
  files_.append(frame, encoded);  // may wait for who reads the other end of a pipe
}

// At the end, so that frames that were missed after a port's last one are counted, too.
void CaptureWriter::write_statistics() {
  written_of_.resize(std::max(written_of_.size(), missed_of_.size()));
  for (uint32_t i = 0; i < missed_of_.size(); ++i) {
    files_.append(pcapng::Statistics{
        .interface = i, .at = last_, .received = written_of_[i] + missed_of_[i], .dropped = missed_of_[i]});
  }
}

void CaptureWriter::note_progress() {
  frames_.store(written_, std::memory_order_relaxed);
  bytes_.store(files_.bytes(), std::memory_order_relaxed);
  file_count_.store(files_.count(), std::memory_order_relaxed);
}

// The other threads.
void CaptureWriter::tell() {
  note_progress();
  if (files_.error().empty()) return;
  full_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard guard{lock_};
    if (!error_.empty()) return;
    error_ = files_.error();
  }
  if (on_failure_) on_failure_(files_.error());
}

}  // namespace softspine::control
