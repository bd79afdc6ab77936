// SPDX-License-Identifier: Apache-2.0
// Frames that one worker has seen and nobody has written yet: what is known of each, and their bytes
// one behind the other. Filled by its worker; emptied by the capture's writer, never both at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "control/capture/pcapng.hpp"

namespace softspine::control {

struct CaptureRecord {
  dataplane::Instant at;
  uint64_t sequence = 0;       // of its interface
  uint64_t missed_before = 0;  // frames of the interface that found no room since its last record
  size_t offset = 0;           // of the frame's bytes; the comment follows them
  uint32_t interface = 0;
  uint32_t original_bytes = 0;
  uint32_t captured_bytes = 0;  // in this buffer; the file also has the zeros
  uint32_t zeros_at = 0;
  uint32_t zeros = 0;
  uint16_t comment_bytes = 0;
  pcapng::Way way = pcapng::Way::kIn;
};

class CaptureBuffer {
 public:
  size_t bytes() const { return bytes_.size(); }
  bool empty() const { return records_.empty(); }
  const std::vector<CaptureRecord>& records() const { return records_; }

  // Makes room for this much, so that add() does not allocate.
  void reserve(size_t bytes, size_t records) {
    bytes_.reserve(bytes);
    records_.reserve(records);
  }
  bool has_room_for(size_t more) const {
    return bytes_.size() + more <= bytes_.capacity() && records_.size() < records_.capacity();
  }

  void add(CaptureRecord record, const uint8_t* frame, const char* comment) {
    record.offset = bytes_.size();
    bytes_.insert(bytes_.end(), frame, frame + record.captured_bytes);
    if (comment != nullptr) bytes_.insert(bytes_.end(), comment, comment + record.comment_bytes);
    records_.push_back(record);
  }
  // Copies a frame from another buffer.
  void add(const CaptureRecord& record, const CaptureBuffer& from) {
    const auto* comment = reinterpret_cast<const char*>(from.bytes_.data() + record.offset + record.captured_bytes);
    add(record, from.bytes_.data() + record.offset, comment);
  }

  std::span<const uint8_t> frame_of(const CaptureRecord& record) const {
    return {bytes_.data() + record.offset, record.captured_bytes};
  }
  std::string_view comment_of(const CaptureRecord& record) const {
    return {reinterpret_cast<const char*>(bytes_.data() + record.offset + record.captured_bytes), record.comment_bytes};
  }

  // Keeps the memory.
  void clear() {
    records_.clear();
    bytes_.clear();
  }

  // Every member, for who brings a buffer to another process as bytes.
  template <typename Self, typename See>
  static void see_all(Self& self, See&& see) {
    see(self.records_);
    see(self.bytes_);
  }

 private:
  std::vector<CaptureRecord> records_;
  pcapng::Bytes bytes_;
};

}  // namespace softspine::control
