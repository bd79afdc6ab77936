// SPDX-License-Identifier: Apache-2.0
// A recording, answering as a running fabric does over HTTP (control/report/fabric_map.hpp), but for an instant that is
// asked for: the last sample that is not after it.
//
//   map             as of a running fabric, and `recording`: {"end_ps", "samples", "lacks": [sentence, …]}
//   loads           counters and queues at the instant
//   thresholds      of a switch: what its queues and priority groups hold, and where they mark and pause
//   flow_paths      the flows through a port, and their ways (recorded_flows.hpp)
//   hash_groups     of a switch (recorded_groups.hpp)
//   rank_waits      and rank_spans (recorded_ranks.hpp)
//   samples         instants of samples, thinned out if there are more than wanted
//   events          up to the instant: the last ones, as /events has them, and how many of each kind
//   section         of the report at the end of the run
//
// What hosts sent is what arrived at the other end of their link, since a recording has no counters of hosts' ports but
// pauses. Times are picoseconds of emulated time.
#pragma once

#include <expected>
#include <memory>
#include <set>
#include <string>

#include "analysis/playback/recorded_ranks.hpp"
#include "analysis/playback/recorded_state.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

class Playback {
 public:
  // Reads the recording once. The error names the file.
  static std::expected<std::unique_ptr<Playback>, std::string> open(const std::string& path);

  const std::string& testbed() const { return testbed_; }
  const std::string& version() const { return version_; }  // of the program that recorded
  int64_t end_ps() const { return end_ps_; }

  control::Json map();
  control::Json fabric();
  control::Json loads(int64_t at_ps);
  // Null: there is no such switch.
  control::Json thresholds(const std::string& node, int64_t at_ps);
  // Null: there is no such port or host.
  control::Json flow_paths(const std::string& port, const std::string& node, int64_t at_ps, int64_t most);
  // Null: there is no such switch.
  control::Json hash_groups(const std::string& node, int64_t at_ps);
  // Null: the recording does not have them.
  control::Json rank_waits(int64_t at_ps);
  control::Json rank_spans(int64_t at_ps);
  control::Json samples(int64_t most);
  // `without`: kinds that are counted, and not listed.
  control::Json events(int64_t at_ps, int64_t most, const std::set<std::string>& without);
  // Null: the recording does not have it.
  control::Json section(const std::string& key);
  control::Json report();

  // Why the last answer is not whole; empty: it is.
  const std::string& error() const { return recording_.error(); }

 private:
  explicit Playback(control::Database recording);
  std::string fact(const std::string& key);
  control::Json down(int64_t at_ps);
  control::Json lacks();
  control::Json queue_thresholds(const std::string& node, const RecordedState& state);
  control::Json group_thresholds(const std::string& node, const RecordedState& state);

  control::Database recording_;
  RecordedStates states_;
  RecordedRanks ranks_{recording_};
  std::vector<uint32_t> peers_;  // of each port
  std::vector<bool> is_host_;    // of each port
  std::string testbed_;
  std::string version_;
  int64_t end_ps_ = 0;
};

}  // namespace softspine::analysis
