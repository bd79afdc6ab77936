// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/pcap_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kTailBytes = 4;  // stored bytes behind the elided ones
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
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return std::unexpected(EdgeError{path, std::strerror(errno)});
  PcapWriter writer{file, snap_bytes};
  const FileHeader header{.snap_bytes = snap_bytes};
  writer.put(&header, sizeof header);
  if (std::fflush(file) != 0) return std::unexpected(EdgeError{path, std::strerror(errno)});
  return writer;
}

void PcapWriter::write(const Packet& packet, Instant at) noexcept {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
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
  const uint32_t head = elided == 0 ? packet.stored_bytes() : packet.stored_bytes() - kTailBytes;
  part(packet.data(), head);
  part(kZeros.data(), elided);
  part(packet.data() + head, packet.stored_bytes() - head);
}

void PcapWriter::put(const void* bytes, size_t count) noexcept {
  if (error_ == 0 && count != 0 && std::fwrite(bytes, count, 1, file_.get()) != 1) error_ = errno;
}

std::string PcapWriter::finish() noexcept {
  if (file_ && std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
  return error_ == 0 ? "" : std::strerror(error_);
}

}  // namespace softspine::dataplane
