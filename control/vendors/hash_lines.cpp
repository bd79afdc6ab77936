// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/hash_lines.hpp"

#include <algorithm>

namespace softspine::control {
namespace {

struct Wanted {
  KnobKind kind;
  FieldSet fields = 0;
  uint64_t value = 0;  // of a seed
  bool of_lags = false;
};

const Knob* knob_of(const VendorRow& row, const Wanted& wanted) {
  const auto found = std::ranges::find_if(row.knobs, [&](const Knob& knob) {
    return knob.kind == wanted.kind && knob.of_lags == wanted.of_lags && wanted.value <= knob.most &&
           !knob.words.contains('*') &&  // a name that is not known
           (wanted.fields == 0 || knob.fields == wanted.fields);
  });
  return found == row.knobs.end() ? nullptr : &*found;
}

// `set`, which Junos leaves out of what it shows.
std::string line_of(const VendorRow& row, const Knob& knob, const std::string& value) {
  const char* before = row.syntax == LineSyntax::kBraces ? "set " : "";
  const char* between = row.syntax == LineSyntax::kKeyValue ? " = " : " ";
  return before + std::string(knob.words) + (value.empty() ? "" : between + value);
}

}  // namespace

std::optional<std::vector<std::string>> hash_lines(Vendor vendor, const HashSetting& setting) {
  const VendorRow& row = row_of(vendor);
  std::vector<std::string> out;
  bool has_all = !setting.offset;  // no line of theirs turns it
  if (setting.of_lags && (setting.seed || setting.add_qp)) return std::nullopt;
  const auto turn = [&](const Knob* knob, const std::string& value) {
    has_all = has_all && knob != nullptr;
    if (knob != nullptr) out.push_back(line_of(row, *knob, value));
  };
  if (setting.seed)
    turn(knob_of(row, {.kind = KnobKind::kSeed, .value = *setting.seed}), std::to_string(*setting.seed));
  if (setting.algorithm) {
    const auto word = std::ranges::find(row.algorithms, *setting.algorithm, &AlgorithmWord::second);
    const bool is_known = word != row.algorithms.end();
    const Wanted wanted{.kind = KnobKind::kAlgorithm, .of_lags = setting.of_lags};
    turn(is_known ? knob_of(row, wanted) : nullptr, is_known ? std::string(word->first) : "");
  }
  if (setting.add_qp) turn(knob_of(row, {.kind = KnobKind::kInclude, .fields = set_of(HashField::kRdmaBthDestQp)}), "");
  return has_all ? std::optional(std::move(out)) : std::nullopt;
}

std::string sonic_switch_table(std::span<const HashSetting> settings) {
  std::string fields;
  const auto add = [&fields](const char* key, uint32_t value) {
    fields += (fields.empty() ? "\"" : ", \"") + std::string(key) + "\": \"" + std::to_string(value) + "\"";
  };
  for (const HashSetting& setting : settings) {
    if (setting.seed) add(setting.of_lags ? kSonicLagSeed : kSonicSeed, *setting.seed);
    if (setting.offset) add(setting.of_lags ? kSonicLagOffset : kSonicOffset, *setting.offset);
  }
  if (fields.empty()) return {};
  return "[{\"" + std::string(kSonicSwitchTable) + "\": {" + fields + "}, \"OP\": \"SET\"}]";
}

}  // namespace softspine::control
