// SPDX-License-Identifier: Apache-2.0
// Recorded work of a testbed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

class RecordedWork;  // control/traces/recorded_work.hpp

enum class TraceFormat : uint8_t { kGoal, kChakra, kHtsim, kSimaiFlows };
// Of htsim's starts: programs disagree.
enum class StartUnit : uint8_t { kMicroseconds, kPicoseconds };

// Ranks that do again what a trace has recorded. Whose messages go where stands in a workload of the testbed, whose
// pairs are those of the work, in their order.
struct TraceRun {
  std::string name;
  std::string file;
  TraceFormat format = TraceFormat::kGoal;
  StartUnit start_unit = StartUnit::kMicroseconds;
  std::vector<uint32_t> ranks;  // by rank: the host, a node of the fabric
  std::shared_ptr<const RecordedWork> work;
  uint32_t window = 4096;  // operations of a rank that are open at most
  dataplane::Instant start;
  dataplane::Duration post_cost;     // of a rank's cpu for each send
  dataplane::Duration receive_cost;  // for each message received
  dataplane::Duration byte_cost;     // for each byte of both but the first
  uint32_t workload = 0;             // of the testbed
  Place place;
};

}  // namespace softspine::control
