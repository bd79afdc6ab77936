// SPDX-License-Identifier: Apache-2.0
#include "control/rows/measure.hpp"

#include <charconv>
#include <cmath>

#include "control/format/quantity.hpp"

namespace softspine::control {
namespace {

std::optional<Dimension> dimension_of(const QuantityKind* kind) {
  if (kind == &kDurationQuantity) return Dimension::kDuration;
  if (kind == &kRateQuantity) return Dimension::kRate;
  if (kind == &kBytesQuantity) return Dimension::kBytes;
  if (kind == &kShareQuantity) return Dimension::kShare;
  return std::nullopt;
}

}  // namespace

std::optional<Measure> parse_measure(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  if (end == text.data() + text.size()) return Measure{Dimension::kNumber, number, std::string(text)};
  const QuantityKind* kind = quantity_kind_of(text);
  const auto dimension = dimension_of(kind);
  if (!dimension) return std::nullopt;
  const auto count = parse_quantity(text, *kind);
  if (!count) return std::nullopt;
  const double scale = *dimension == Dimension::kShare ? 1e-6 : 1;
  return Measure{*dimension, static_cast<double>(*count) * scale, std::string(text)};
}

}  // namespace softspine::control
