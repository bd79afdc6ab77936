// SPDX-License-Identifier: Apache-2.0
// Finds the values that a dotted path with stars means in a report, or in the outline of one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/model/expectation.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

// The unit that a key's ending gives to its numbers: fct_p99_ps is a duration, in picoseconds.
struct KeyUnit {
  std::string_view ending;  // "_ps"
  Dimension dimension = Dimension::kNumber;
  double scale = 1;  // of one, in the dimension's base unit (Measure::value)
};
// Nothing if the key ends in no unit.
std::optional<KeyUnit> unit_of_key(std::string_view key);

// Whether the key's numbers lie between 0 and 1 (`links.*.share`), as control/report/report_fields.hpp has it.
bool is_share_of_one(std::string_view key);
// Whether per cent of one are something to compare with it: a share of one, or a ratio that may be more.
bool is_ratio(std::string_view key);

struct Match {
  std::string path;  // with the stars filled in and the last key as the report spells it
  std::string key;   // the last one
  const Json* value = nullptr;
};

struct Found {
  std::vector<Match> matches;  // in the report's order
  std::string missing;         // without a match: how far the path leads, and what is there instead
};
Found find_in_report(const Json& report, std::string_view path);
// The same in a report without numbers (testbeds/run/report_outline.hpp). A list there has one entry, a model of all,
// and so has a map with the key "*": any place or name leads to it. Where such a list is empty, or the model null, what
// lies below is known only after a run: any path matches, with unknown_value() as its value.
Found find_in_outline(const Json& outline, std::string_view path);
const Json& unknown_value();

}  // namespace softspine::control
