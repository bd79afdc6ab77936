// SPDX-License-Identifier: Apache-2.0
// Writes frames into a nanosecond pcap file (magic a1b23c4d, Ethernet), in this machine's byte order.
// Elided payload is written as the zeros it stands for; a frame beyond the snap length is cut there, with
// its true length beside it. The time of a frame is emulated time, zero at the fabric's start, rounded down.
#pragma once

#include <cstdint>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PcapWriter {
 public:
  static constexpr uint32_t kWholeFrames = 262'144;  // what readers take as "not cut"
  static std::expected<PcapWriter, EdgeError> open(const std::string& path, uint32_t snap_bytes = kWholeFrames);

  void write(const Packet& packet, Instant at) noexcept;
  // Closes the file; empty unless something could not be written.
  std::string finish() noexcept;

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  PcapWriter(std::FILE* file, uint32_t snap_bytes) : file_(file), snap_bytes_(snap_bytes) {}
  void put(const void* bytes, size_t count) noexcept;

  std::unique_ptr<std::FILE, Close> file_;
  uint32_t snap_bytes_;
  int error_ = 0;  // errno of the first write that failed
};

}  // namespace softspine::dataplane
