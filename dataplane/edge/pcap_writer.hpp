// SPDX-License-Identifier: Apache-2.0
// Writes frames into a nanosecond pcap file (magic a1b23c4d, Ethernet), in this machine's byte order.
// Elided payload is written as the zeros it stands for; a frame beyond the snap length is cut there, with
// its true length beside it. The time of a frame is emulated time, zero at the fabric's start, rounded down.
//
// A pipe whose reader takes nothing is waited for (patient_write.hpp). The first error (disk full, …) ends the writing.
// The file then ends behind its last whole frame, so that it can still be read, and lost() counts the frames that
// write() took and that are not in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PcapWriter {
 public:
  static constexpr uint32_t kWholeFrames = 262'144;  // what readers take as "not cut"
  static std::expected<PcapWriter, EdgeError> open(const std::string& path, uint32_t snap_bytes = kWholeFrames);

  // Once `ending` is true, a reader that takes nothing is given up. `ending` must outlive the writing.
  void give_up_when(const std::atomic<bool>& ending) { ending_ = &ending; }
  // False: not taken, since an error has ended the writing.
  bool write(const Packet& packet, Instant at) noexcept;
  // Closes the file.
  void finish() noexcept;

  bool failed() const { return error_ != 0; }
  // Why writing has failed; empty unless failed().
  std::string error() const;
  // Frames that write() took and that are not in the file.
  struct Lost {
    uint64_t packets = 0;
    uint64_t bytes = 0;  // of whole frames, however much of each was to be written
  };
  const Lost& lost() const { return lost_; }

 private:
  PcapWriter(OwnedFd file, uint32_t snap_bytes) : file_(std::move(file)), snap_bytes_(snap_bytes) {}
  void put(const void* bytes, size_t count) noexcept;
  void flush() noexcept;
  void give_up(size_t written) noexcept;

  OwnedFd file_;
  uint32_t snap_bytes_;
  const std::atomic<bool>* ending_ = nullptr;
  std::vector<uint8_t> waiting_;  // whole records, not in the file yet
  uint64_t file_bytes_ = 0;
  int error_ = 0;  // errno of the first write that failed
  Lost lost_;
};

}  // namespace softspine::dataplane
