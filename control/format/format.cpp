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

Json bool_schema() {
  return {{"enum", {true, false, "true", "false"}}};
}

Json number_schema() {
  return {{"type", {"integer", "string"}}, {"minimum", 0}, {"pattern", "^[0-9]+$"}};
}

Json words_schema(const std::vector<std::string_view>& words) {
  return {{"enum", words}};
}

Json example_schema(std::string_view example) {
  Json out = text_schema();
  out["examples"] = {example};
  return out;
}

Json list_schema(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

Json either_schema(Json one, Json other) {
  return {{"anyOf", {std::move(one), std::move(other)}}};
}

Json map_schema(std::string_view keys, Json values) {
  return {{"type", "object"}, {"propertyNames", {{"pattern", keys}}}, {"additionalProperties", std::move(values)}};
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

bool read_word(Reader& reader, Value value, const std::vector<std::string_view>& words,
               const std::vector<std::string_view>& old, size_t& found) {
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "one of " + listed(words));
  found = static_cast<size_t>(std::ranges::find(words, value.text()) - words.begin());
  if (found < words.size()) return true;
  found += static_cast<size_t>(std::ranges::find(old, value.text()) - old.begin());
  if (found < words.size() + old.size()) return true;
  const std::string guess = reader.guess(value.text(), words);
  return reader.fail(value, shown(value.text()) + " is not one of " + listed(words) + guess);
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
