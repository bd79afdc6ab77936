// SPDX-License-Identifier: Apache-2.0
// One testbed, run several ways that must not differ: by more workers, in flat windows, with samples at an odd
// interval, watched by a capture and an event log or by nothing, over ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/telemetry/json.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/units/time.hpp"
#include "testbeds/run/fabric_capture.hpp"

namespace softspine::testbeds {

struct Variant {
  uint32_t workers = 1;  // of each rank
  uint32_t ranks = 1;    // more: threads that share nothing but bytes (tests/harness/rank_threads.hpp)
  bool flat = false;
  bool captures = false;
  Watched watched = Watched::kBoth;  // by the capture
  bool logs_events = false;
  std::optional<dataplane::Duration> samples;  // their interval
  bool records = false;                        // into a database, at that interval or at an odd one
  bool records_steps = false;
  bool writes_ns3 = false;  // pauses and queue lengths
  bool traces = false;      // for Perfetto
  bool poisons = false;     // packets come with other bytes each time
  std::string text() const;
};

using RecordedTables = std::map<std::string, std::vector<std::string>>;  // rows, by table

struct VariantOutcome {
  control::FabricSnapshot snapshot;
  control::Json report;
  std::string capture;   // files' bytes
  std::string received;  // the capture of a variant that watched only what is received
  std::string events;
  std::string steps;   // as JSON
  std::string series;  // counters over time
  std::string flows;   // likewise
  RecordedTables recording;
  std::string pauses;  // as ns-3 has them, as are the next
  std::string queues;
  std::string trace;                         // for Perfetto
  std::map<std::string, std::string> edges;  // what they wrote, by the file's name
  std::string refused;                       // why the testbed cannot be built; empty: it has run
};

// Failures of the run itself (counters that do not add up, packets that leak) are the test's.
VariantOutcome run_variant(const std::string& text, const Variant& variant);

// The first difference between two outcomes, in a sentence; empty: none. What only one of them wrote is not compared.
std::string difference(const VariantOutcome& a, const VariantOutcome& b);

}  // namespace softspine::testbeds
