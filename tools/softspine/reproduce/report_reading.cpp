// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/report_reading.hpp"

#include <string>

#include "control/telemetry/json.hpp"
#include "tools/softspine/reproduce/figures.hpp"

namespace softspine::tools {

using control::Json;

double number_of(const Json& report, std::initializer_list<std::string_view> keys) {
  const Json* at = &report;
  for (const std::string_view key : keys) {
    const auto found = at->is_object() ? at->find(std::string(key)) : at->end();
    if (found == at->end()) return kNoNumber;
    at = &*found;
  }
  return at->is_number() ? at->get<double>() : kNoNumber;
}

double bus_bandwidth_of(const Json& report, std::string_view collective, size_t index) {
  const Json& sizes = report.at("collectives").at(std::string(collective)).at("sizes");
  if (index >= sizes.size()) return kNoNumber;
  const Json& rate = std::next(sizes.begin(), static_cast<std::ptrdiff_t>(index)).value().at("busbw_bps");
  return rate.is_number() ? rate.get<double>() / 8e9 : kNoNumber;
}

double sum_over(const Json& report, std::string_view section, std::string_view begin, std::string_view key) {
  double sum = 0;
  const Json& rows = report.at(std::string(section));
  for (const auto& [name, row] : rows.items()) {
    if (name.starts_with(begin)) sum += number_of(row, {key});
  }
  return sum;
}

}  // namespace softspine::tools
