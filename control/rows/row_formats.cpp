// SPDX-License-Identifier: Apache-2.0
#include "control/rows/row_formats.hpp"

#include <algorithm>
#include <charconv>

#include "control/rows/measure.hpp"

namespace softspine::control {
namespace {

template <typename T>
std::optional<T> whole_number(std::string_view text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<MacAddress> WordTraits<MacAddress>::parse(std::string_view text) {
  const auto mac = parse_mac(text);
  return mac && !mac->is_multicast() && !mac->is_zero() ? mac : std::nullopt;
}

std::optional<AnyAddress> WordTraits<AnyAddress>::parse(std::string_view text) {
  // The unspecified address is nobody's; here it stands for one that could not be read.
  if (const auto v4 = parse_ipv4(text); v4 && *v4 != Ipv4Address{}) return *v4;
  if (const auto v6 = parse_ipv6(text); v6 && *v6 != Ipv6Address{}) return *v6;
  return std::nullopt;
}
std::string WordTraits<AnyAddress>::print(const AnyAddress& address) {
  return std::visit([](const auto& a) { return to_string(a); }, address);
}

std::optional<AnyPrefix> WordTraits<AnyPrefix>::parse(std::string_view text) {
  if (const auto v4 = parse_ipv4_prefix(text); v4 && *v4 != Ipv4Prefix{}) return *v4;
  if (const auto v6 = parse_ipv6_prefix(text); v6 && *v6 != Ipv6Prefix{}) return *v6;
  return std::nullopt;
}
std::string WordTraits<AnyPrefix>::print(const AnyPrefix& prefix) {
  return std::visit([](const auto& p) { return to_string(p); }, prefix);
}

std::optional<Endpoint> WordTraits<Endpoint>::parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view node = text.substr(0, colon);
  if (!is_name(node)) return std::nullopt;
  if (colon == std::string_view::npos) return Endpoint{std::string(node), ""};
  const std::string_view port = text.substr(colon + 1);
  return is_port_name(port) ? std::optional(Endpoint{std::string(node), std::string(port)}) : std::nullopt;
}

namespace {

// 0.001 to 1000, in thousandths.
std::optional<uint32_t> thousandths(std::string_view text) {
  const size_t point = text.find('.');
  const auto whole = whole_number<uint32_t>(text.substr(0, point));
  if (!whole || *whole > 1'000) return std::nullopt;
  uint32_t out = *whole * 1'000;
  if (point != std::string_view::npos) {
    const std::string_view digits = text.substr(point + 1);
    const auto fraction = whole_number<uint32_t>(digits);
    if (!fraction || digits.size() > 3) return std::nullopt;
    out += *fraction * (digits.size() == 1 ? 100 : digits.size() == 2 ? 10 : 1);
  }
  return out == 0 || out > 1'000'000 ? std::nullopt : std::optional(out);
}

std::string decimal(uint32_t thousandths) {
  std::string out = std::to_string(thousandths / 1'000);
  if (thousandths % 1'000 == 0) return out;
  std::string fraction = std::to_string(1'000 + thousandths % 1'000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return out + "." + fraction;
}

}  // namespace

std::optional<Ratio> WordTraits<Ratio>::parse(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto down = thousandths(text.substr(0, colon));
  const auto up = thousandths(text.substr(colon + 1));
  return down && up ? std::optional(Ratio{*down, *up}) : std::nullopt;
}
std::string WordTraits<Ratio>::print(Ratio ratio) {
  return decimal(ratio.down_thousandths) + ":" + decimal(ratio.up_thousandths);
}

std::optional<SourcePort> WordTraits<SourcePort>::parse(std::string_view text) {
  if (text == "per_qp") return SourcePort{};
  const auto port = whole_number<uint16_t>(text);
  return port && *port > 0 ? std::optional(SourcePort{*port}) : std::nullopt;
}

bool Format<HashFieldList>::read(Reader& reader, Value value, HashFieldList& out) {
  if (value.kind() == ValueKind::kSequence) return Format<std::vector<HashField>>::read(reader, value, out.fields);
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "fields such as [SRC_IP, DST_IP]");
  std::string_view rest = value.text();
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const auto& all = Words<HashField>::all;
    const auto* found = std::ranges::find(all, word, [](const auto& each) -> std::string_view { return each.first; });
    if (found == all.end()) return reader.fail(value, "there is no field " + shown(word));
    out.fields.push_back(found->second);
  }
  return true;
}

Json Format<HashFieldList>::schema(SchemaBook& book) {
  return {{"anyOf", {Format<std::vector<HashField>>::schema(book), text_schema()}}};
}

bool Format<HostsOrCount>::read(Reader& reader, Value value, HostsOrCount& out) {
  if (value.kind() == ValueKind::kSequence) return Format<std::vector<std::string>>::read(reader, value, out.names);
  uint32_t count = 0;
  if (value.kind() == ValueKind::kScalar && !whole_number<uint32_t>(value.text())) {
    out.names.emplace_back(value.text());
    return true;
  }
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "names, or how many");
  count = *whole_number<uint32_t>(value.text());
  out.count = count;
  return count > 0 || reader.fail(value, "must be at least 1, not '0'");
}

Json Format<HostsOrCount>::schema(SchemaBook& book) {
  return {{"anyOf",
           {Json{{"type", "integer"}, {"minimum", 1}}, Json{{"type", {"string", "boolean"}}},
            Format<std::vector<std::string>>::schema(book)}}};
}

bool Format<Expected>::read(Reader& reader, Value value, Expected& out) {
  if (value.kind() != ValueKind::kScalar)
    return reader.wrong_type(value, "a number, a quantity, a word, true or false");
  const std::string_view text = value.text();
  if (value.is_plain() && (text == "true" || text == "false")) {
    out = text == "true";
    // Quoted, as in JSON, a quantity with its unit is still one; a bare number is a word then.
  } else if (const auto measure = parse_measure(text);
             measure && (value.is_plain() || measure->dimension != Dimension::kNumber)) {
    out = *measure;
  } else {
    out = std::string(text);
  }
  return true;
}

std::optional<NumberRange> read_number_key(Reader& reader, Value key, unsigned keys) {
  const std::string_view text = key.text();
  const size_t dash = text.find('-', 1);
  const auto first = whole_number<uint8_t>(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number<uint8_t>(text.substr(dash + 1));
  if (first && last && *first <= *last && *last < keys) return NumberRange{*first, *last};
  reader.fail(key, "expected a number from 0 to " + std::to_string(keys - 1) + ", found " + shown(text));
  return std::nullopt;
}

}  // namespace softspine::control
