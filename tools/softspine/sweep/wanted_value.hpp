// SPDX-License-Identifier: Apache-2.0
// What a sweep collects of each run's report: paths as those of expectations (control/expect/report_path.hpp).
//
//   flows.perm.fct_p99                a column flows.perm.fct_p99_ps
//   flows.*.fct_p99                   a column for each that there is
//   max(switches.*.pfc_tx_packets)    one column: sum, mean, min, max, p50, p99 or count of all that there are
//   slow=flows.perm.fct_p99           a column slow_ps
//
// Quantiles are by nearest rank. What is no number is left out of a function; of none, it is empty.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/telemetry/json.hpp"

namespace softspine::tools {

enum class Gathering : uint8_t { kEach, kSum, kMean, kMin, kMax, kMedian, kP99, kCount };

struct WantedValue {
  std::string name;  // empty: by its path
  Gathering gathering = Gathering::kEach;
  std::string path;
};

std::expected<WantedValue, std::string> wanted_value(std::string_view text);

struct CollectedValue {
  std::string column;
  std::string key;      // the report's last key: it ends in its unit
  control::Json value;  // a number, a word, true or false; null: there is none
};

std::vector<CollectedValue> collected(const control::Json& report, const WantedValue& wanted);

// "51.3 us", "200 Gb/s", by the key's unit.
std::string quantity_text(const std::string& key, const control::Json& value);

}  // namespace softspine::tools
