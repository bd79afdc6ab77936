// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/pcap_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "dataplane/edge/patient_write.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr size_t kWriteBytes = 16 << 10;
constexpr std::array<uint8_t, kMaxFrameBytes> kZeros{};

struct FileHeader {
  uint32_t magic = 0xA1B23C4D;
  uint16_t major = 2;
  uint16_t minor = 4;
  uint32_t zone = 0;
  uint32_t accuracy = 0;
  uint32_t snap_bytes;
  uint32_t link_type = 1;
};
static_assert(sizeof(FileHeader) == 24);

struct RecordHeader {
  uint32_t seconds;
  uint32_t nanoseconds;
  uint32_t captured;
  uint32_t length;
};
static_assert(sizeof(RecordHeader) == 16);

}  // namespace

std::expected<PcapWriter, EdgeError> PcapWriter::open(const std::string& path, uint32_t snap_bytes) {
  OwnedFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (!file) return std::unexpected(EdgeError{path, std::strerror(errno)});
  stop_blocking(file.get());
  PcapWriter writer{std::move(file), snap_bytes};
  writer.waiting_.reserve(kWriteBytes + sizeof(RecordHeader) + kMaxFrameBytes);
  const FileHeader header{.snap_bytes = snap_bytes};
  if (::write(writer.file_.get(), &header, sizeof header) != static_cast<ssize_t>(sizeof header)) {
    return std::unexpected(EdgeError{path, std::strerror(errno)});
  }
  writer.file_bytes_ = sizeof header;
  return writer;
}

bool PcapWriter::write(const Packet& packet, Instant at) noexcept {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  if (failed()) return false;
  const int64_t ns = at.count_ps() / 1000;
  const uint32_t length = packet.frame_bytes();
  uint32_t room = std::min(length, snap_bytes_);
  const RecordHeader header{static_cast<uint32_t>(ns / kNsPerSecond), static_cast<uint32_t>(ns % kNsPerSecond), room,
                            length};
  put(&header, sizeof header);
  const auto part = [&](const uint8_t* bytes, uint32_t count) {
    count = std::min(count, room);
    room -= count;
    put(bytes, count);
  };
  const uint32_t elided = packet.elided_bytes();
  const uint32_t head = elided == 0 ? packet.stored_bytes() : packet.stored_bytes() - kIcrcBytes;
  part(packet.data(), head);
  part(kZeros.data(), elided);
  part(packet.data() + head, packet.stored_bytes() - head);
  if (waiting_.size() >= kWriteBytes) flush();
  return true;
}

void PcapWriter::put(const void* bytes, size_t count) noexcept {
  const auto* first = static_cast<const uint8_t*>(bytes);
  waiting_.insert(waiting_.end(), first, first + count);
}

void PcapWriter::flush() noexcept {
  const Written written = write_patiently(file_.get(), waiting_.data(), waiting_.size(), ending_);
  error_ = written.error;
  if (failed()) return give_up(written.bytes);
  file_bytes_ += written.bytes;
  waiting_.clear();
}

// `written` bytes of those that waited are in the file: records that are not whole there are lost.
void PcapWriter::give_up(size_t written) noexcept {
  size_t whole = 0;
  for (size_t at = 0; at < waiting_.size();) {
    RecordHeader header{};
    std::memcpy(&header, waiting_.data() + at, sizeof header);
    at += sizeof header + header.captured;
    if (at <= written) {
      whole = at;
    } else {
      ++lost_.packets;
      lost_.bytes += header.length;
    }
  }
  file_bytes_ += whole;
  waiting_.clear();
  struct stat found{};
  if (fstat(file_.get(), &found) == 0 && S_ISREG(found.st_mode)) {
    static_cast<void>(ftruncate(file_.get(), static_cast<off_t>(file_bytes_)));
  }
}

void PcapWriter::finish() noexcept {
  if (!file_) return;
  if (!failed()) flush();
  if (::close(file_.release()) != 0 && !failed()) error_ = errno;
}

std::string PcapWriter::error() const {
  return failed() ? why_not_written(error_) : "";
}

}  // namespace softspine::dataplane
