// SPDX-License-Identifier: Apache-2.0
#include "control/report/slowdown_json.hpp"

#include <array>
#include <string>
#include <string_view>

#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

struct SizeClass {
  std::string_view key;
  std::string_view of;
  uint64_t above;
  uint64_t most;
};
constexpr std::array<SizeClass, 5> kSizeClasses{{{"all", "all flows", 0, UINT64_MAX},
                                                 {"10KB", "flows of at most 10 KB", 0, 10'000},
                                                 {"100KB", "flows of more than 10 KB, at most 100 KB", 10'000, 100'000},
                                                 {"1MB", "flows of more than 100 KB, at most 1 MB", 100'000, 1'000'000},
                                                 {"more", "flows of more than 1 MB", 1'000'000, UINT64_MAX}}};

struct Quantile {
  std::string_view key;
  double share;
};
constexpr std::array<Quantile, 5> kQuantiles{{{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}}};

}  // namespace

Json slowdown_json(const WorkloadTotals& totals) {
  Json out = Json::object();
  for (const SizeClass& each : kSizeClasses) {
    std::vector<int64_t> values;
    for (const auto& [bytes, millionths] : totals.slowdowns) {
      if (bytes > each.above && bytes <= each.most) values.push_back(millionths);
    }
    Json row{{"flows", values.size()}};
    for (const auto& [key, share] : kQuantiles) {
      const auto found = quantile_of(values, share);
      add_key(row, std::string(key), found ? Json(static_cast<double>(*found) / 1e6) : Json{});
    }
    add_key(out, std::string(each.key), std::move(row));
  }
  return out;
}

std::vector<ReportField> slowdown_fields() {
  std::vector<ReportField> out;
  for (const SizeClass& each : kSizeClasses) {
    const std::string path = "flows.*.slowdown." + std::string(each.key);
    out.push_back({path + ".flows", "a count", "Lists: " + std::string(each.of) + " that have ended."});
    for (const auto& [key, share] : kQuantiles)
      out.push_back(
          {path + "." + std::string(key), "times",
           "Lists: time of " + std::string(each.of) +
               " from their start to their last bit at the receiver, as a multiple of what they would take alone: " +
               (share < 1 ? std::string(key) + ", by nearest rank." : "the greatest.")});
  }
  return out;
}

}  // namespace softspine::control
