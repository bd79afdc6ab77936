// SPDX-License-Identifier: Apache-2.0
// How a type is written in a file. For each type T:
//   Format<T>::read(reader, value, out)   false if it has reported an error; `out` is then a harmless default
//   Format<T>::schema(book)               its JSON Schema
//   Format<T>::write(value)               as a file would show it: defaults in the schema, limits in messages
// Structs are read through their Table (table.hpp).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/document/reader.hpp"
#include "control/format/quantity.hpp"
#include "control/model/address.hpp"

namespace softspine::control {

using Json = nlohmann::ordered_json;

// The definitions that a schema refers to, each written once.
class SchemaBook {
 public:
  template <typename F>
  Json refer(std::string_view name, F&& define) {
    const std::string key(name);
    if (!definitions_.contains(key)) {
      definitions_[key] = Json::object();  // before it is defined: a type may hold itself
      definitions_[key] = define(*this);
    }
    return {{"$ref", "#/$defs/" + key}};
  }
  const Json& definitions() const { return definitions_; }

 private:
  Json definitions_ = Json::object();
};

template <typename T>
struct Format;

// Schemas of the types below, apart from them: a literal of JSON costs the compiler much, and a type has many users.
Json text_schema();
Json bool_schema();
Json number_schema();
Json words_schema(const std::vector<std::string_view>& words);
Json example_schema(std::string_view example);
Json quantity_schema(const QuantityKind& kind);
Json list_schema(Json items);
Json either_schema(Json one, Json other);
Json map_schema(std::string_view keys, Json values);  // `keys`: a pattern

// The words that stand for an enum's values; specialise with `static constexpr std::array all{std::pair{"word", value},
// …}`.
template <typename E>
struct Words;

template <typename E>
concept HasWords = requires { Words<E>::all; };

// Former words of an enum's values: still read for one release, but no message proposes them.
template <typename E>
concept HasOldWords = requires { Words<E>::old; };

template <HasWords E>
std::string_view word_of(E value) {
  for (const auto& [word, e] : Words<E>::all) {
    if (e == value) return word;
  }
  return "?";
}

// For messages: "a, b, c".
std::string listed(const std::vector<std::string_view>& words);

// Whether the value is one of `words`, or of `old` ones, which messages do not propose; `found`: its place among them
// all.
bool read_word(Reader& reader, Value value, const std::vector<std::string_view>& words,
               const std::vector<std::string_view>& old, size_t& found);

template <HasWords E>
struct Format<E> {
  static bool read(Reader& reader, Value value, E& out) {
    size_t found = 0;
    if (!read_word(reader, value, words(), old(), found)) return false;
    if constexpr (HasOldWords<E>) {
      if (found >= Words<E>::all.size()) {
        out = Words<E>::old[found - Words<E>::all.size()].second;
        return true;
      }
    }
    out = Words<E>::all[found].second;
    return true;
  }
  static Json schema(SchemaBook&) {
    std::vector<std::string_view> all = words();
    for (const std::string_view word : old()) all.push_back(word);
    return words_schema(all);
  }
  static Json write(E value) { return word_of(value); }

 private:
  static std::vector<std::string_view> words() {
    std::vector<std::string_view> out;
    for (const auto& each : Words<E>::all) out.push_back(each.first);
    return out;
  }
  static std::vector<std::string_view> old() {
    std::vector<std::string_view> out;
    if constexpr (HasOldWords<E>) {
      for (const auto& each : Words<E>::old) out.push_back(each.first);
    }
    return out;
  }
};

// Where a text is expected, `5` and `true` are texts, quoted or not. Where a number is expected, "5" is one (SONiC
// quotes all).
bool read_text(Reader& reader, Value value, std::string& out);
bool read_bool(Reader& reader, Value value, bool& out);
bool read_number(Reader& reader, Value value, uint64_t most, uint64_t& out);
bool read_quantity(Reader& reader, Value value, const QuantityKind& kind, int64_t& out);

template <>
struct Format<std::string> {
  static bool read(Reader& reader, Value value, std::string& out) { return read_text(reader, value, out); }
  static Json schema(SchemaBook&) { return text_schema(); }
  static Json write(const std::string& value) { return value; }
};

template <>
struct Format<bool> {
  static bool read(Reader& reader, Value value, bool& out) { return read_bool(reader, value, out); }
  static Json schema(SchemaBook&) { return bool_schema(); }
  static Json write(bool value) { return value; }
};

template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>)
struct Format<T> {
  static bool read(Reader& reader, Value value, T& out) {
    uint64_t number = 0;
    if (!read_number(reader, value, std::numeric_limits<T>::max(), number)) return false;
    out = static_cast<T>(number);
    return true;
  }
  static Json schema(SchemaBook&) { return number_schema(); }
  static Json write(T value) { return value; }
};

// A quantity: how T is made from base units and back.
template <typename T>
struct QuantityTraits;

template <>
struct QuantityTraits<dataplane::Rate> {
  static const QuantityKind& kind() { return kRateQuantity; }
  static dataplane::Rate make(int64_t n) { return dataplane::Rate::bps(static_cast<uint64_t>(n)); }
  static int64_t count(dataplane::Rate r) { return static_cast<int64_t>(r.count_bps()); }
};
template <>
struct QuantityTraits<dataplane::Duration> {
  static const QuantityKind& kind() { return kDurationQuantity; }
  static dataplane::Duration make(int64_t n) { return dataplane::Duration::ps(n); }
  static int64_t count(dataplane::Duration d) { return d.count_ps(); }
};
template <>
struct QuantityTraits<Bytes> {
  static const QuantityKind& kind() { return kBytesQuantity; }
  static Bytes make(int64_t n) { return {static_cast<uint64_t>(n)}; }
  static int64_t count(Bytes b) { return static_cast<int64_t>(b.count); }
};
template <>
struct QuantityTraits<Length> {
  static const QuantityKind& kind() { return kLengthQuantity; }
  static Length make(int64_t n) { return {static_cast<uint64_t>(n)}; }
  static int64_t count(Length l) { return static_cast<int64_t>(l.micrometres); }
};
template <>
struct QuantityTraits<Share> {
  static const QuantityKind& kind() { return kShareQuantity; }
  static Share make(int64_t n) { return {static_cast<uint64_t>(n)}; }
  static int64_t count(Share s) { return static_cast<int64_t>(s.millionths); }
};

template <typename T>
concept Quantity = requires { QuantityTraits<T>::kind(); };

template <Quantity T>
struct Format<T> {
  static bool read(Reader& reader, Value value, T& out) {
    int64_t count = 0;
    if (!read_quantity(reader, value, QuantityTraits<T>::kind(), count)) return false;
    out = QuantityTraits<T>::make(count);
    return true;
  }
  static Json schema(SchemaBook&) { return quantity_schema(QuantityTraits<T>::kind()); }
  static Json write(const T& value) {
    return print_quantity(QuantityTraits<T>::count(value), QuantityTraits<T>::kind());
  }
};

// Types written as one word that a function parses. Specialise with name, example, parse(text) → optional<T>, print(T).
template <typename T>
struct WordTraits;

template <typename T>
concept Word = requires { WordTraits<T>::example; };

template <Word T>
struct Format<T> {
  static bool read(Reader& reader, Value value, T& out) {
    const std::string wanted = std::string(WordTraits<T>::name) + " such as " + WordTraits<T>::example;
    if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, wanted);
    const auto parsed = WordTraits<T>::parse(value.text());
    if (!parsed) return reader.wrong_type(value, wanted);
    out = *parsed;
    return true;
  }
  static Json schema(SchemaBook&) { return example_schema(WordTraits<T>::example); }
  static Json write(const T& value) { return WordTraits<T>::print(value); }
};

template <typename T>
struct Format<std::optional<T>> {
  // A value that could not be read counts as given, so that no later check reports it as missing.
  static bool read(Reader& reader, Value value, std::optional<T>& out) {
    return Format<T>::read(reader, value, out.emplace());
  }
  static Json schema(SchemaBook& book) { return Format<T>::schema(book); }
  static Json write(const std::optional<T>& value) { return value ? Format<T>::write(*value) : Json(); }
};

// An optional value that is allocated apart, since it is large and few rows have it.
template <typename T>
struct Format<std::shared_ptr<const T>> {
  static bool read(Reader& reader, Value value, std::shared_ptr<const T>& out) {
    auto found = std::make_shared<T>();
    const bool good = Format<T>::read(reader, value, *found);
    out = std::move(found);
    return good;
  }
  static Json schema(SchemaBook& book) { return Format<T>::schema(book); }
  static Json write(const std::shared_ptr<const T>& value) { return value ? Format<T>::write(*value) : Json(); }
};

// An optional value that also holds whether all of it could be read.
template <typename T>
struct Tried {
  T value{};
  bool given = false;
  bool good = true;  // true also if the value is missing
};

template <typename T>
struct Format<Tried<T>> {
  static bool read(Reader& reader, Value value, Tried<T>& out) {
    out.given = true;
    out.good = Format<T>::read(reader, value, out.value);
    return out.good;
  }
  static Json schema(SchemaBook& book) { return Format<T>::schema(book); }
  static Json write(const Tried<T>& tried) { return tried.given ? Format<T>::write(tried.value) : Json(); }
};

template <typename T>
struct Format<std::vector<T>> {
  static bool read(Reader& reader, Value value, std::vector<T>& out) {
    if (value.kind() != ValueKind::kSequence) return reader.wrong_type(value, "a list");
    bool good = true;
    out.reserve(value.size());
    for (const Value item : value.items()) good = Format<T>::read(reader, item, out.emplace_back()) && good;
    return good;
  }
  static Json schema(SchemaBook& book) { return list_schema(Format<T>::schema(book)); }
  static Json write(const std::vector<T>& values) {
    Json out = Json::array();
    for (const T& value : values) out.push_back(Format<T>::write(value));
    return out;
  }
};

// One value, or a list of them.
template <typename T>
struct OneOrMore {
  std::vector<T> items;
};

template <typename T>
struct Format<OneOrMore<T>> {
  static bool read(Reader& reader, Value value, OneOrMore<T>& out) {
    if (value.kind() == ValueKind::kSequence) return Format<std::vector<T>>::read(reader, value, out.items);
    return Format<T>::read(reader, value, out.items.emplace_back());
  }
  static Json schema(SchemaBook& book) {
    return either_schema(Format<T>::schema(book), Format<std::vector<T>>::schema(book));
  }
  static Json write(const OneOrMore<T>& value) { return Format<std::vector<T>>::write(value.items); }
};

// A map from names of the user's choosing to values, in the file's order.
template <typename T>
struct Named {
  struct Item {
    std::string name;
    Value key;
    T value;
  };
  std::vector<Item> items;
};

// Letters, digits, '_' and '-', beginning with a letter or digit, at most 63: what fits a counter's path and a host
// name.
inline constexpr std::string_view kNamePattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$";
bool is_name(std::string_view text);

// Port names become interface names in captures and counters: also '/' and '.', at most 31.
bool is_port_name(std::string_view text);

template <typename T>
struct Format<Named<T>> {
  static bool read(Reader& reader, Value value, Named<T>& out) {
    if (value.kind() != ValueKind::kMap) return reader.wrong_type(value, "a map of names");
    bool good = true;
    out.items.reserve(value.size());
    for_each_entry(value, [&](Value key, Value content) {
      if (key.kind() != ValueKind::kScalar) return;  // the document has reported it
      if (!is_name(key.text())) {
        good = reader.fail(
            key, shown(key.text()) + " is no name: letters, digits, '_' and '-', at most 63, a letter or digit first");
      }
      auto& item = out.items.emplace_back();
      item.name = key.text();
      item.key = key;
      good = Format<T>::read(reader, content, item.value) && good;
    });
    return good;
  }
  static Json schema(SchemaBook& book) { return map_schema(kNamePattern, Format<T>::schema(book)); }
  static Json write(const Named<T>&) { return Json::object(); }
};

}  // namespace softspine::control
