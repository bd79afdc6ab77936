// SPDX-License-Identifier: Apache-2.0
// What the ports of a recorded fabric had counted, and held, at the samples of a recording (docs/recording.md).
//
//   state(sample) = sums of counters, and last values of gauges, over the rows of all samples up to this one
//
// Rows are read in the order they stand in, from the last checkpoint before the instant: open() reads the recording
// once, and keeps up to kMostCheckpoints states, as many as kCheckpointBytes hold. So an instant costs at most the rows
// between two of them.
//
// A column that was not recorded (`--counters`) counts as zero.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/record/database.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::analysis {

struct RecordedPort {
  std::array<int64_t, dataplane::kPriorities> paused_ps{};  // by priority
  int64_t link_paused_ps = 0;
  uint64_t tx_bytes = 0;  // without preamble, FCS and gap; of hosts: unknown, 0
  uint64_t tx_packets = 0;
  uint64_t rx_bytes = 0;
  uint64_t rx_packets = 0;
  uint64_t lost = 0;  // packets dropped that were not meant to end there
  std::array<uint32_t, dataplane::kQueues> queue_bytes{};
  std::array<uint32_t, dataplane::kPriorities> group_shared_bytes{};
  std::array<uint32_t, dataplane::kPriorities> group_headroom_bytes{};
};

struct RecordedState {
  int64_t at_ps = 0;
  int64_t sample = 0;  // 0: before the first
  std::vector<RecordedPort> ports;
  std::vector<uint64_t> lost;         // packets by reason
  std::vector<uint64_t> pool_shared;  // bytes
};

class RecordedStates {
 public:
  static constexpr size_t kMostCheckpoints = 64;
  static constexpr size_t kCheckpointBytes = 128 << 20;

  // Reads the recording once. The database must outlive it, and has what went wrong.
  explicit RecordedStates(control::Database& recording);

  // At the last sample that is not after the instant. Valid until the next call.
  const RecordedState& at(int64_t at_ps);

  int64_t samples() const { return samples_; }
  // Names of drop reasons, by their numbers; whether their packets are lost.
  struct Reason {
    std::string name;
    bool is_loss = true;
  };
  const std::vector<Reason>& reasons() const { return reasons_; }

 private:
  struct Instant {
    int64_t sample = 0;
    int64_t at_ps = 0;
    std::array<int64_t, 7> rows{};  // of each table, up to here
  };
  Instant instant_of(const std::string& which, int64_t value);
  void read_reasons();
  void advance(RecordedState& state, const Instant& to);
  void read_ports(RecordedState& state, int64_t after, int64_t up_to);
  void read_pauses(RecordedState& state, const std::string& table, int64_t after, int64_t up_to);
  void read_groups(RecordedState& state, int64_t after, int64_t up_to);
  void read_queues(RecordedState& state, int64_t after, int64_t up_to);
  void read_pools(RecordedState& state, int64_t after, int64_t up_to);
  void read_drops(RecordedState& state, int64_t after, int64_t up_to);
  control::Statement rows_of(const std::string& table, const std::vector<std::string>& columns, int64_t after,
                             int64_t up_to);
  bool has_column(const std::string& table, const std::string& column);

  control::Database& recording_;
  int64_t samples_ = 0;
  std::vector<Reason> reasons_;
  std::vector<RecordedState> checkpoints_;  // by sample
  RecordedState now_;
};

}  // namespace softspine::analysis
