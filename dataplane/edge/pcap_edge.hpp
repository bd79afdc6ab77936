// SPDX-License-Identifier: Apache-2.0
// An edge whose outside are files: frames of one file enter at their recorded times, arriving frames are written to
// another. Works on both clocks; on the virtual one it is exact: same file, same bytes out.
//
//   start = max(recorded time − zero + offset, port free)     zero: the recorded time that is the fabric's start
//   written time = arrival of the last bit
//
// The recorded time is taken as the instant of the first bit. A frame recorded before its predecessor, or
// faster than the link, enters as soon as the port is free. The file is read one frame ahead, and no further while
// that frame waits for a pause or the NIC's rate (edge/nic.hpp), so that neither loses a frame. Pause frames that
// arrive end in the NIC, as at every other host, and are not written.
//
// A frame that the capture has cut (captured < length) enters at its full length, with zeros for the missing bytes
// (elided, with four zeros as the stored tail). Dropped and counted, not entered: shorter than 14 bytes on the wire
// or in the file (truncated), longer than any port takes (oversize), no packet left (no_buffer). A file that breaks
// off ends the input there. A file that cannot be written any further (disk full) keeps what it has; further frames
// end as edge_full. Both errors are in faults().
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "dataplane/edge/nic.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/edge/pcap_writer.hpp"

namespace softspine::dataplane {

class PcapEdge final : public Nic {
 public:
  struct Config {
    std::string read_path;   // empty: nothing enters
    std::string write_path;  // empty: arriving frames are only counted
    Duration offset;
    std::optional<int64_t> zero_ns;  // none: that of the file's first frame
    uint32_t snap_bytes = PcapWriter::kWholeFrames;
  };
  static std::expected<std::unique_ptr<PcapEdge>, EdgeError> open(std::string name, const Config& config,
                                                                  PacketPool& pool, const NicConfig& nic = {});

  // Before the first window: when the first frame was recorded, if there is one; and another zero than Config's.
  std::optional<int64_t> first_recorded_ns() const;
  void set_zero(int64_t zero_ns) noexcept;

  Instant run(Instant until) noexcept override;
  void drain() noexcept override;
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  // Closes the file; frames that arrive later are only counted.
  void finish(Instant now) noexcept override;

 private:
  PcapEdge(std::string name, const Config& config, const NicConfig& nic, PacketPool& pool)
      : Nic(std::move(name), nic, pool), config_(config) {}
  void read_ahead(Instant now) noexcept;
  void plan_entry(Instant now) noexcept;
  Instant next_entry() const;
  void enter(Instant now) noexcept;
  Packet packet_of(const RecordedFrame& frame) noexcept;
  void write(Packet packet, Instant now) noexcept;
  void give_up_output(Instant now) noexcept;

  Config config_;
  std::atomic<bool> ending_{false};
  std::optional<PcapReader> reader_;
  std::optional<PcapWriter> writer_;
  bool output_failed_ = false;
  RecordedFrame next_;                     // the frame that enters at next_start_
  Instant next_start_ = Instant::never();  // never: the input has ended
  std::optional<int64_t> zero_ns_;
};

}  // namespace softspine::dataplane
