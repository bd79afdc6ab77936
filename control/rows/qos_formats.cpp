// SPDX-License-Identifier: Apache-2.0
#include "control/rows/qos_formats.hpp"

#include <algorithm>
#include <charconv>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

bool is_port(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '/' || c == '-';
  });
}
bool is_priority(std::string_view text) {
  return text.size() == 1 && text[0] >= '0' && text[0] <= '7';
}
uint8_t digit(char c) {
  return static_cast<uint8_t>(c - '0');
}

// Calls f(part) for each of what the commas separate, until one returns false.
template <typename F>
bool each_part(std::string_view text, F&& f) {
  for (;;) {
    const size_t comma = text.find(',');
    if (!f(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool Format<Reference>::read(Reader& reader, Value value, Reference& out) {
  if (!read_text(reader, value, out.name)) return false;
  const bool bracketed = out.name.starts_with('[') && out.name.ends_with(']');
  const size_t bar = out.name.find('|');
  if (bracketed && bar != std::string::npos) out.name = out.name.substr(bar + 1, out.name.size() - bar - 2);
  return true;
}

bool Format<ReferenceList>::read(Reader& reader, Value value, ReferenceList& out) {
  if (value.kind() == ValueKind::kSequence) {
    bool good = true;
    for (const Value item : value.items()) good &= Format<Reference>::read(reader, item, out.names.emplace_back());
    return good;
  }
  Reference all;
  if (!Format<Reference>::read(reader, value, all)) return false;
  return all.name.empty() || each_part(all.name, [&](std::string_view part) {
           // Each name of "[TABLE|a],[TABLE|b]", as SONiC wrote it before 2021.
           const size_t bar = part.rfind('|');
           if (bar != std::string_view::npos) part.remove_prefix(bar + 1);
           while (part.starts_with('[') || part.starts_with(' ')) part.remove_prefix(1);
           while (part.ends_with(']') || part.ends_with(' ')) part.remove_suffix(1);
           out.names.push_back({std::string(part)});
           return true;
         });
}

Json Format<ReferenceList>::schema(SchemaBook&) {
  return {{"anyOf", {text_schema(), Json{{"type", "array"}, {"items", text_schema()}}}}};
}

Json Format<ReferenceList>::write(const ReferenceList& list) {
  Json out = Json::array();
  for (const Reference& reference : list.names) out.push_back(reference.name);
  return out;
}

bool Format<DynamicTh>::read(Reader& reader, Value value, DynamicTh& out) {
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "a whole number from -8 to 8");
  const std::string_view text = value.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (error == std::errc{} && end == text.data() + text.size() && out.value >= -8 && out.value <= 8) return true;
  out.value = 0;
  return reader.wrong_type(value, "a whole number from -8 to 8");
}

Json Format<DynamicTh>::schema(SchemaBook&) {
  return {{"type", {"integer", "string"}}, {"minimum", -8}, {"maximum", 8}, {"pattern", "^-?0*[0-8]$"}};
}

bool Format<Xoff>::read(Reader& reader, Value value, Xoff& out) {
  out.automatic = value.kind() == ValueKind::kScalar && value.text() == "auto";
  return out.automatic || Format<Bytes>::read(reader, value, out.bytes);
}

// With its unit in a config_db.json, too.
bool Format<CableLength>::read(Reader& reader, Value value, CableLength& out) {
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "a length such as 300m");
  const auto parsed = parse_quantity(value.text(), kLengthQuantity);
  if (!parsed) return reader.fail(value, parsed.error());
  out.length = {static_cast<uint64_t>(*parsed)};
  return true;
}

bool Format<PriorityList>::read(Reader& reader, Value value, PriorityList& out) {
  constexpr std::string_view kExpected = "priorities such as \"3,4\" or [3, 4]";
  if (value.kind() == ValueKind::kSequence) {
    bool good = true;
    for (const Value item : value.items()) {
      if (item.kind() == ValueKind::kScalar && is_priority(item.text())) {
        out.mask |= static_cast<uint8_t>(1U << digit(item.text()[0]));
      } else {
        good = reader.wrong_type(item, "a priority from 0 to 7");
      }
    }
    return good;
  }
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, kExpected);
  if (value.text().empty()) return true;
  const bool good = each_part(value.text(), [&](std::string_view part) {
    if (!is_priority(part)) return false;
    out.mask |= static_cast<uint8_t>(1U << digit(part[0]));
    return true;
  });
  if (good) return true;
  out.mask = 0;
  return reader.wrong_type(value, kExpected);
}

Json Format<PriorityList>::schema(SchemaBook&) {
  const Json priority{{"type", {"integer", "string"}}, {"minimum", 0}, {"maximum", 7}, {"pattern", "^[0-7]$"}};
  return {{"anyOf",
           {Json{{"type", {"string", "integer"}}, {"pattern", "^([0-7](,[0-7])*)?$"}, {"minimum", 0}, {"maximum", 7}},
            Json{{"type", "array"}, {"items", priority}}}}};
}

Json Format<PriorityList>::write(PriorityList list) {
  Json out = Json::array();
  for (unsigned p = 0; p < 8; ++p) {
    if ((list.mask >> p & 1) != 0) out.push_back(p);
  }
  return out;
}

std::optional<RowName> KeyTraits<RowName>::parse(std::string_view text) {
  constexpr std::string_view kAlso = "_.:@+-";
  const bool good = !text.empty() && text.size() <= 128 && is_alphanumeric(text.front()) &&
                    std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || kAlso.contains(c); });
  return good ? std::optional(RowName{std::string(text)}) : std::nullopt;
}

std::optional<PortSet> KeyTraits<PortSet>::parse(std::string_view text) {
  if (text == "*" || text == "all" || text == "global" || text == "GLOBAL") return PortSet{};
  PortSet out;
  const bool good = each_part(text, [&](std::string_view part) {
    out.names.emplace_back(part);
    return is_port(part);
  });
  return good ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<PortRange> KeyTraits<PortRange>::parse(std::string_view text) {
  PortRange out;
  if (const size_t bar = text.rfind('|'); bar != std::string_view::npos) {
    std::string_view before = text.substr(0, bar);
    if (const size_t second = before.rfind('|'); second != std::string_view::npos) {
      const std::string_view card = before.substr(0, second);
      const size_t first = card.find('|');
      if (first == std::string_view::npos || !is_port(card.substr(0, first)) || !is_port(card.substr(first + 1))) {
        return std::nullopt;
      }
      out.host = card.substr(0, first);
      out.asic = card.substr(first + 1);
      before.remove_prefix(second + 1);
    }
    auto ports = KeyTraits<PortSet>::parse(before);
    if (!ports) return std::nullopt;
    out.ports = std::move(*ports);
    text.remove_prefix(bar + 1);
  }
  const bool is_range = text.size() == 3 && text[1] == '-';
  if (!is_priority(text.substr(0, 1)) || !is_priority(text.substr(text.empty() ? 0 : text.size() - 1)) ||
      !(text.size() == 1 || is_range)) {
    return std::nullopt;
  }
  out.first = digit(text.front());
  out.last = digit(text.back());
  return out.first <= out.last ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace softspine::control
