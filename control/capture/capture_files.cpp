// SPDX-License-Identifier: Apache-2.0
#include "control/capture/capture_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "dataplane/edge/patient_write.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr size_t kWriteBytes = 1 << 20;

int open_anew(const std::string& path, int flags) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0644);
}

bool reader_has_gone(int file) {
  pollfd pipe{.fd = file, .events = 0, .revents = 0};
  return ::poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

std::string why_not_open(const std::string& path) {
  const std::string why = errno == ENXIO ? "nobody reads from this pipe" : std::strerror(errno);
  return "cannot write the capture " + path + ": " + why;
}

// "out-00001.pcapng" of out.pcapng
std::string numbered_name(const std::filesystem::path& path, const std::string& number) {
  return (path.parent_path() / (path.stem().string() + "-" + number + path.extension().string())).string();
}

}  // namespace

CaptureFiles::CaptureFiles(int file) : file_(file) {
  dataplane::stop_blocking(file_);
}

std::expected<CaptureFiles, std::string> CaptureFiles::open(const std::string& path, const Rotation& rotation,
                                                            bool wait_for_reader) {
  CaptureFiles out{-1, path, rotation};
  const std::string first = rotation.any() ? out.numbered(1) : path;
  out.file_ = open_anew(first, wait_for_reader ? 0 : O_NONBLOCK);
  if (out.file_ < 0) return std::unexpected(why_not_open(first));
  dataplane::stop_blocking(out.file_);
  return out;
}

CaptureFiles::CaptureFiles(int file, std::string path, const Rotation& rotation)
    : file_(file), path_(std::move(path)), rotation_(rotation) {
  name_ = rotation.any() ? numbered_name(path_, "*") : path_;
  if (rotation_.every.count_ps() > 0) next_turn_ = Instant{} + rotation_.every;
}

CaptureFiles::CaptureFiles(CaptureFiles&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      rotation_(other.rotation_),
      head_(std::move(other.head_)),
      room_for_end_(other.room_for_end_),
      out_(std::move(other.out_)),
      bytes_(other.bytes_),
      bytes_in_file_(other.bytes_in_file_),
      frames_in_file_(other.frames_in_file_),
      next_turn_(other.next_turn_),
      number_(other.number_),
      error_(std::move(other.error_)),
      ending_(other.ending_.load(std::memory_order_relaxed)) {}

std::string CaptureFiles::numbered(uint32_t number) const {
  const std::string digits = std::to_string(number);
  return numbered_name(path_, std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits);
}

void CaptureFiles::begin(const pcapng::Bytes& head, size_t room_for_end) {
  head_ = head;
  room_for_end_ = room_for_end;
  out_.insert(out_.end(), head_.begin(), head_.end());
  bytes_ += head_.size();
  bytes_in_file_ = head_.size();
  frames_in_file_ = 0;
}

bool CaptureFiles::is_time_for_the_next(Instant at, size_t encoded_bytes) {
  const bool is_late = at >= next_turn_;
  if (is_late) {
    const int64_t every = rotation_.every.count_ps();
    next_turn_ = Instant::at_ps((at.count_ps() / every + 1) * every);
  }
  if (frames_in_file_ == 0) return false;
  return is_late || (rotation_.bytes != 0 && bytes_in_file_ + encoded_bytes + room_for_end_ > rotation_.bytes);
}

void CaptureFiles::append(const pcapng::Frame& frame, size_t encoded_bytes) {
  if (is_time_for_the_next(frame.at, encoded_bytes)) turn();
  pcapng::append(out_, frame);
  bytes_ += encoded_bytes;
  bytes_in_file_ += encoded_bytes;
  ++frames_in_file_;
  if (out_.size() >= kWriteBytes) flush();
}

void CaptureFiles::append(const pcapng::Statistics& statistics) {
  pcapng::append(out_, statistics);
  bytes_ += pcapng::kStatisticsBytes;
  bytes_in_file_ += pcapng::kStatisticsBytes;
}

void CaptureFiles::turn() {
  flush();
  if (!error_.empty()) return;
  close();
  if (!error_.empty()) return;
  const std::string next = numbered(++number_);
  file_ = open_anew(next, O_NONBLOCK);
  if (file_ < 0) {
    error_ = next + ": " + std::strerror(errno);
    return;
  }
  if (rotation_.keep != 0 && number_ > rotation_.keep) ::unlink(numbered(number_ - rotation_.keep).c_str());
  begin(pcapng::Bytes{head_}, room_for_end_);
}

void CaptureFiles::flush() {
  if (out_.empty()) {
    if (error_.empty() && reader_has_gone(file_)) error_ = dataplane::why_not_written(EPIPE);
    return;
  }
  if (error_.empty()) {
    const dataplane::Written written = dataplane::write_patiently(file_, out_.data(), out_.size(), &ending_);
    if (written.error != 0) error_ = dataplane::why_not_written(written.error);
  }
  out_.clear();
}

void CaptureFiles::close() {
  if (file_ < 0) return;
  flush();
  if (::close(std::exchange(file_, -1)) != 0 && error_.empty()) error_ = std::strerror(errno);
}

}  // namespace softspine::control
