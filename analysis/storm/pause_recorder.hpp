// SPDX-License-Identifier: Apache-2.0
// Takes a capture's frames as they come and keeps what the analysis needs: pauses, not frames. Ports are the
// capture's interfaces by name (one name in two sections is one port); unnamed interfaces are ports of their own. A
// capture of all interfaces of a machine (`-i any`) has as many ports as the machine, of the node kThisMachine. Pause
// frames that came mirrored over IP are of a port of their own for each switch and session (mirrored_frame.hpp).
//
// Memory grows with the pauses (an XOFF and its refreshes are one) up to the bounds of PauseList, which puts short ones
// together where there are many, and with the senders (port, way, source MAC), at most kMaxSenders, and with the ports
// that frames name, at most kMaxPorts; what exceeds these is counted in Tally::omitted.
// Pause frames may come out of order, up to PauseOrder::kHeld of a port; what comes later still is omitted, too.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/storm/capture_reader.hpp"
#include "analysis/storm/clock_follower.hpp"
#include "analysis/storm/copy_log.hpp"
#include "analysis/storm/mac_log.hpp"
#include "analysis/storm/mirrored_frame.hpp"
#include "analysis/storm/pause_frame.hpp"
#include "analysis/storm/pause_list.hpp"
#include "analysis/storm/pause_order.hpp"
#include "analysis/storm/pause_timer.hpp"
#include "analysis/storm/recorded_port.hpp"

namespace softspine::analysis::storm {

struct Sender {
  uint32_t port = 0;  // where its frames were captured
  Way way = Way::kUnknown;
  uint64_t mac = 0;
  friend auto operator<=>(const Sender&, const Sender&) = default;
};

struct Tally {
  uint64_t frames = 0;
  uint64_t pause_frames = 0;
  uint64_t cut_pause_frames = 0;   // too short to be read
  uint64_t cut_frames = 0;         // too short to show whether they pause
  uint64_t strange = 0;            // to the address of pause frames, of a kind that is not known here
  uint64_t other_mac_control = 0;  // opcodes that pause nobody
  uint64_t other_links = 0;        // frames of interfaces that are not Ethernet
  uint64_t missed = 0;             // frames that the capture counts as missed
  uint64_t disordered = 0;         // frames older than the one before them on their port
  uint64_t omitted = 0;            // pause frames beyond this recorder's bounds, or too late for their order
  uint64_t timeless = 0;           // frames without a time, or with one that cannot be
  bool is_filtered = false;        // a filter chose what was captured, and may have left pause frames out
};

class PauseRecorder {
 public:
  static constexpr size_t kMaxSenders = 65'536;
  static constexpr size_t kMaxPorts = 65'536;

  // `speed`: of every port, in place of the capture's. Zero: the capture's speeds are used.
  // `storm_after`: no pause that is shorter is looked at alone, whatever the link's speed (storm_analysis.hpp).
  explicit PauseRecorder(dataplane::Rate speed = {}, dataplane::Duration storm_after = dataplane::Duration::max())
      : speed_(speed), storm_after_(storm_after) {}

  void take(const CapturedFrame& frame, const std::vector<CapturedInterface>& interfaces);
  // To be called after the last frame: ends what is still paused, and sorts the pauses by their begin. Interfaces that
  // no frame came from are ports, too. `timeless`: frames that the reader had to leave out.
  void finish(const std::vector<CapturedInterface>& interfaces, uint64_t timeless = 0);

  // Where the clock was set, or was silent for so long that this is no part of the capture.
  const std::vector<ClockStep>& steps() const { return steps_; }
  const Tally& tally() const { return tally_; }
  dataplane::Instant first() const { return first_; }
  dataplane::Instant last() const { return last_; }
  const std::vector<RecordedPort>& ports() const { return ports_; }
  const std::vector<Sender>& senders() const { return senders_; }
  const std::vector<RecordedPause>& pauses() const { return pauses_.all(); }
  const MacLog& macs() const { return macs_; }
  const CopyLog& copies() const { return copies_; }  // places are senders()

 private:
  using Timers = std::array<std::optional<PauseTimer>, kPauseClasses>;

  void place(const CapturedFrame& frame, const std::vector<CapturedInterface>& interfaces);
  uint32_t port_of(uint32_t interface, const std::vector<CapturedInterface>& interfaces);
  uint32_t add(RecordedPort port);
  uint32_t add_if_room(RecordedPort port);  // kNoPort: there are too many
  void take(uint32_t port, const CapturedFrame& frame);
  void take_other(uint32_t port, const CapturedFrame& frame);
  uint32_t port_of_mirror(const MirroredFrame& frame, const RecordedPort& collector);
  void learn(uint32_t port, const CapturedFrame& frame);
  void hold(uint32_t port, Way way, dataplane::Instant at, const PauseFrame& frame);
  std::optional<uint32_t> sender_of(const Sender& sender);
  void pause(const PauseOrder::Held& held);
  void take_statistics(const std::vector<CapturedInterface>& interfaces);
  void add(uint32_t sender, uint8_t priority, const std::optional<PauseSpan>& span);

  dataplane::Rate speed_;
  dataplane::Duration storm_after_;
  ClockFollower clock_;
  std::vector<ClockStep> steps_;
  Tally tally_;
  dataplane::Instant first_;
  dataplane::Instant last_;
  std::vector<uint32_t> port_of_interface_;
  std::vector<RecordedPort> ports_;
  std::vector<dataplane::Instant> previous_;  // of ports_: the last frame's time
  std::vector<PauseOrder> orders_;            // of ports_
  std::vector<uint64_t> missed_;              // of interfaces, by their frames
  std::vector<uint64_t> frames_;              // of interfaces
  std::unordered_map<std::string, uint32_t> port_by_name_;
  std::map<Sender, uint32_t> sender_ids_;
  std::vector<Sender> senders_;
  std::vector<Timers> timers_;  // of senders_
  uint32_t last_sender_ = 0;
  PauseList pauses_;
  MacLog macs_;
  CopyLog copies_;
};

}  // namespace softspine::analysis::storm
