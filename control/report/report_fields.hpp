// SPDX-License-Identifier: Apache-2.0
// The report's fields that are no counters of the tables (counter.hpp): what each is and what it means. docs/reference
// is made from both, and making it fails if a field of a report is in neither.
#pragma once

#include <string>
#include <vector>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

struct ReportField {
  std::string path;  // as expectations name it; `*` for names that a testbed gives, and for places in a list
  std::string is;    // its unit, or its kind: packets, ps, bit/s, text, a list
  std::string help;  // a sentence
};

// The fields that report_json() writes.
const std::vector<ReportField>& report_fields();

// [{"field": …, "unit": …, "help": …}, …]
void add_report_fields(Json& out, const std::vector<ReportField>& fields);

}  // namespace softspine::control
