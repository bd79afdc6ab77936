// SPDX-License-Identifier: Apache-2.0
// What a recording says before the run: what is run, and on which fabric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/port_numbers.hpp"
#include "control/model/testbed.hpp"
#include "control/record/database.hpp"
#include "control/record/sink.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::control {

// The rows of what a long run may have too much of.
struct RecordedLimits {
  uint64_t rank_steps = 5'000'000;
  uint64_t group_members = 4'000'000;
};

struct RecordedRun {
  std::string version;  // of the program
  std::string text;     // of the testbed's file
  dataplane::Duration interval;
  std::vector<const dataplane::QosPlan*> plans = {};  // by node, at the start; null: no switch
  RecordedLimits limits = {};
};

void record_fabric(Database& into, const Testbed& testbed, const RecordedRun& run, const PortNumbers& ports);

}  // namespace softspine::control
