// SPDX-License-Identifier: Apache-2.0
#include "control/load/wred_resolve.hpp"

#include <algorithm>
#include <string>

namespace softspine::control {

namespace dp = dataplane;

namespace {

struct Line {
  const char* min_key;
  const char* max_key;
  const char* probability_key;
  const std::optional<Bytes>& min;
  const std::optional<Bytes>& max;
  const std::optional<Share>& probability;
  bool given() const { return min || max || probability; }
};

dp::WredLine line_of(Reader& reader, Value where, const Line& line) {
  if (!line.min) reader.fail(where, "the key '" + std::string(line.min_key) + "' is missing");
  if (!line.max) reader.fail(where, "the key '" + std::string(line.max_key) + "' is missing");
  if (!line.probability) reader.fail(where, "the key '" + std::string(line.probability_key) + "' is missing");
  if (!line.min || !line.max || !line.probability) return {};
  if (*line.min > *line.max) {
    reader.fail(where.child(line.max_key), "is less than '" + std::string(line.min_key) + "'");
  }
  constexpr uint64_t kMaxThreshold = UINT32_MAX - 1;
  return {.min_bytes = static_cast<uint32_t>(std::min(line.min->count, kMaxThreshold)),
          .max_bytes = static_cast<uint32_t>(std::min(line.max->count, kMaxThreshold)),
          .max_probability = dp::WredLine::kCertain * line.probability->millionths / 1'000'000};
}

}  // namespace

dp::WredPlan wred_of(Reader& reader, const WredRow& row) {
  const Line green{"green_min_threshold",   "green_max_threshold",   "green_drop_probability",
                   row.green_min_threshold, row.green_max_threshold, row.green_drop_probability};
  const Line marks{"ecn_green_min_threshold",   "ecn_green_max_threshold",   "ecn_green_mark_probability",
                   row.ecn_green_min_threshold, row.ecn_green_max_threshold, row.ecn_green_mark_probability};
  const EcnMode ecn = row.ecn.value_or(EcnMode::kOff);
  const bool marks_green =
      ecn == EcnMode::kAll || ecn == EcnMode::kGreen || ecn == EcnMode::kGreenYellow || ecn == EcnMode::kGreenRed;
  dp::WredPlan out;
  if (marks_green) out.mark = line_of(reader, row.where, marks.given() ? marks : green);
  if (row.wred_green_enable.value_or(false)) out.drop = line_of(reader, row.where, green);
  return out;
}

}  // namespace softspine::control
