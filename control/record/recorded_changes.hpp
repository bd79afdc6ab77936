// SPDX-License-Identifier: Apache-2.0
// What a recording has of things that change now and then: the ways of flows, the groups among whose members switches
// choose, the waits of ranks. Each is written when it has changed, and numbered in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/model/port_numbers.hpp"
#include "control/record/database.hpp"
#include "control/steps/step_history.hpp"

namespace softspine::control {

// The way of a flow from an instant on, by the ports that send it.
struct RecordedWay {
  std::optional<uint32_t> flow;  // none: later ways are not recorded
  bool is_drawn = false;
  std::string end = {};
  std::vector<LinkEnd> ports = {};
};

// The groups among whose members a switch chooses, from an instant on.
struct RecordedGroup {
  struct Member {
    std::string name;
    uint32_t buckets = 0;
    std::vector<LinkEnd> ports = {};
  };
  std::string name;
  std::string mode;
  std::string destinations;
  bool is_lag = false;
  std::vector<Member> members = {};
};
struct RecordedGroups {
  std::optional<uint32_t> node;  // none: later groups are not recorded
  std::vector<RecordedGroup> groups = {};
};

template <typename Changed>
struct Since {
  int64_t t_ps = 0;
  Changed of;
};

class RecordedChanges {
 public:
  // Both must outlive it.
  RecordedChanges(Database& into, const PortNumbers& ports) : into_(into), ports_(ports) {}

  void write(std::span<const Since<RecordedWay>> ways);
  void write(std::span<const Since<RecordedGroups>> groups);
  void write(std::span<const FoundWait> waits);

 private:
  Database& into_;
  const PortNumbers& ports_;
  int64_t ways_ = 0;
  int64_t hash_tables_ = 0;
  int64_t hash_groups_ = 0;
};

// Before all steps and waits.
void record_jobs(Database& into, std::span<const StepJob> jobs, bool explained);

}  // namespace softspine::control
