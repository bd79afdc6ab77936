// SPDX-License-Identifier: Apache-2.0
#include "control/format/format.hpp"

#include <algorithm>
#include <charconv>

#include "control/document/words.hpp"

namespace softspine::control {

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_alphanumeric(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; });
}

bool is_port_name(std::string_view text) {
  return !text.empty() && text.size() <= 31 && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '/' || c == '.';
  });
}

Json text_schema() {
  return {{"type", {"string", "number", "boolean"}}};
}

bool read_text(Reader& reader, Value value, std::string& out) {
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "a text");
  out = value.text();
  return true;
}

bool read_bool(Reader& reader, Value value, bool& out) {
  const bool fits = value.kind() == ValueKind::kScalar && (value.text() == "true" || value.text() == "false");
  if (!fits) return reader.wrong_type(value, "true or false");
  out = value.text() == "true";
  return true;
}

bool read_number(Reader& reader, Value value, uint64_t most, uint64_t& out) {
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "a whole number");
  const std::string_view text = value.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool is_number = end == text.data() + text.size() && !text.empty();
  if (is_number && (error == std::errc::result_out_of_range || out > most)) {
    out = 0;
    return reader.fail(value, shown(text) + " is too large: at most " + std::to_string(most));
  }
  if (is_number) return true;
  out = 0;
  return reader.wrong_type(value, "a whole number, not negative");
}

bool read_quantity(Reader& reader, Value value, const QuantityKind& kind, int64_t& out) {
  if (value.kind() != ValueKind::kScalar) {
    return reader.wrong_type(value, std::string(kind.name) + " such as " + std::string(kind.example));
  }
  const bool bare = value.dialect() == Dialect::kConfigDb;
  const auto parsed = bare ? parse_bare_quantity(value.text(), kind) : parse_quantity(value.text(), kind);
  if (!parsed) return reader.fail(value, parsed.error());
  out = *parsed;
  return true;
}

Json quantity_schema(const QuantityKind& kind) {
  std::string units;
  for (const Unit& unit : kind.units) units += (units.empty() ? "" : "|") + std::string(unit.name);
  return {{"type", "string"}, {"pattern", "^[+]?[0-9]+(\\.[0-9]+)? ?(" + units + ")$"}, {"examples", {kind.example}}};
}

}  // namespace softspine::control
