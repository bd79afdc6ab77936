// SPDX-License-Identifier: Apache-2.0
#include "control/imports/size_file.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

constexpr size_t kPercentDecimals = 10;
static_assert(kWholeShare == 100 * 10'000'000'000ULL);

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

// Exact: 12.5 is 125000000000. More decimals than there are would be another number.
std::optional<uint64_t> share_of_percent(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  std::string decimals(point < text.size() ? text.substr(point + 1) : "");
  if (decimals.size() > kPercentDecimals) return std::nullopt;
  decimals.resize(kPercentDecimals, '0');
  const auto whole = whole_number(text.substr(0, point));
  const auto rest = whole_number(decimals);
  if (!whole || !rest || *whole > 100) return std::nullopt;
  const uint64_t out = *whole * (kWholeShare / 100) + *rest;
  return out <= kWholeShare ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<SizeDistribution> read_size_file(std::string_view text, ErrorsByKind& errors) {
  FieldLines lines(text);
  std::vector<SizePoint> points;
  std::vector<Field> fields = lines.next();
  if (fields.empty()) errors.fail("empty", {"", 1, 1}, "has no line of BYTES PERCENT");
  while (!fields.empty()) {
    const std::vector<Field> next = lines.next();
    if (fields.size() != 2 || points.size() == kMaxSizePoints) {
      errors.fail("fields", fields[0],
                  fields.size() != 2 ? "a line is BYTES PERCENT"
                                     : "more than " + std::to_string(kMaxSizePoints) + " lines, the most that is read");
      break;
    }
    const auto bytes = whole_number(fields[0].text);
    const auto share = share_of_percent(fields[1].text);
    if (!bytes) errors.fail("bytes", fields[0], shown(fields[0].text) + " is no number of bytes");
    if (!share) errors.fail("percent", fields[1], shown(fields[1].text) + " is no percent, 0 to 100, with 10 decimals");
    if (!bytes || !share) break;
    points.push_back({*bytes, *share});
    const std::string fault = fault_of(points, points.size() - 1, next.empty());
    if (!fault.empty()) errors.fail("order", fields[0], fault);
    fields = next;
  }
  if (errors.any()) return std::nullopt;
  return SizeDistribution(std::move(points));
}

}  // namespace softspine::control
