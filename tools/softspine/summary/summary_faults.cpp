// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_faults.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

std::string packets_of(const Json& count) {
  return count.dump() + (count == 1 ? " packet" : " packets");
}

// ", detected after 10 us"; nothing if it has not come to that.
std::string after(const Json& fault, const char* what, const char* key) {
  const Json& at = fault["loss_window"][key];
  if (at.is_null()) return "";
  return fmt::format(", {} after {}", what, short_time(at.get<int64_t>() - fault["at_ps"].get<int64_t>()));
}

std::string by_reason(const Json& reasons) {
  std::string out;
  for (const Json& each : reasons) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", each["packets"].dump(), each["reason"].get<std::string>());
  }
  return out;
}

}  // namespace

std::string loss_window_text(const Json& fault) {
  const Json& window = fault["loss_window"];
  std::string out = "      lost nothing";
  if (window["lost_packets"] != 0) {
    out = fmt::format("      lost {} ({}) of {} {} within {}: {}", packets_of(window["lost_packets"]),
                      short_number(window["lost_bytes"].get<double>(), "B"), window["flows_lost"].dump(),
                      window["flows_lost"] == 1 ? "flow" : "flows", short_time(window["window_ps"]),
                      by_reason(window["reasons"]));
  }
  const auto stalled = window["flows_stalled"].get<uint64_t>();
  if (stalled > 0) {
    out += fmt::format("; {} {} still, at most for {}", stalled, stalled == 1 ? "flow stood" : "flows stood",
                       short_time(window["longest_stall_ps"]));
    if (window["moving_ps"].is_null()) out += ", to the end of the run";
  }
  const std::string times = after(fault, "detected", "detected_ps") + after(fault, "routes followed", "converged_ps") +
                            after(fault, "over", "ended_ps") + after(fault, "all as before", "recovered_ps");
  return out + "\n" + (times.empty() ? "" : "      " + times.substr(2) + "\n");
}

std::string unexplained_text(const Json& losses) {
  return losses.empty() ? "" : "  Lost by no fault: " + by_reason(losses) + "\n";
}

}  // namespace softspine::tools
