// SPDX-License-Identifier: Apache-2.0
// A capture file, frame by frame: pcap in micro- or nanoseconds, and pcapng, as libpcap reads them.
// Streamed: one frame is in memory at a time, however long the file. Ethernet captures only.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "dataplane/edge/edge_counters.hpp"

struct pcap;

namespace softspine::dataplane {

struct RecordedFrame {
  int64_t at_ns = 0;               // since 1970, or whatever the file's writer took as zero
  const uint8_t* bytes = nullptr;  // valid until the next read
  uint32_t captured = 0;           // bytes there
  uint32_t length = 0;             // bytes that were on the wire: at least as many
};

class PcapReader {
 public:
  static std::expected<PcapReader, EdgeError> open(const std::string& path);

  // False at the end of the file, or where it can't be read further: error() distinguishes these.
  bool next(RecordedFrame& frame) noexcept;
  // Empty unless the file broke off.
  std::string error() const;

 private:
  struct Close {
    void operator()(pcap* file) const noexcept;
  };
  explicit PcapReader(pcap* file) : file_(file) {}
  std::unique_ptr<pcap, Close> file_;
  bool broken_ = false;
};

}  // namespace softspine::dataplane
