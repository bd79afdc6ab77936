// SPDX-License-Identifier: Apache-2.0
// A recording, read back, and what it should have, by code that has no part in writing it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/record/database.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::testbeds {

class RecordingReader {
 public:
  // A failure is the test's.
  explicit RecordingReader(const std::string& path);

  // Of a query with one row and one column.
  uint64_t one(const std::string& sql);
  std::string text(const std::string& sql);
  // Each row as text, in the query's order.
  std::vector<std::string> rows(const std::string& sql);

  // By "table/port or pool/number/counter": the sum of what a counter grew by, or the last value of a gauge.
  std::map<std::string, uint64_t> values();
  // Rows as they stand, by table; not what the report says of the engine.
  std::map<std::string, std::vector<std::string>> content();

 private:
  control::Database database_;
};

// The same of a snapshot, by the counters' own tables.
std::map<std::string, uint64_t> values_of(const control::FabricSnapshot& snapshot);

}  // namespace softspine::testbeds
