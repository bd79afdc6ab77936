// SPDX-License-Identifier: Apache-2.0
// A table: the keys of one kind of map in the file, each declared once: name, member, whether it must be there,
// its limits, its meaning. Reading, error messages and the JSON Schema come from it.
//
//   template <> const Table<LinkSpec>& table_of<LinkSpec>() {
//     static const Table<LinkSpec> table = Table<LinkSpec>("link", "What a link is like.")
//         .required("rate", &LinkSpec::rate, "bits per second", at_least(Rate::min()))
//         .optional("length", &LinkSpec::length, "of the cable");       the default is what LinkSpec{} holds
//     return table;
//   }
//
// A named size stands for the values of several keys: `size: published`. Keys that are given beside it go before its
// values, and those that it has values for need not be given.
//
// A row struct has a member `Value where`, which is set so that later checks can report a position. It may have a
// member `bool read_well`, by which later checks pass over rows with errors.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "control/format/format.hpp"

namespace softspine::control {

struct KeyInfo {
  std::string_view key;
  std::string_view doc;
  bool required = false;
};

// The part of reading that all tables share: finds each key's place in `keys` and calls `read(place, value)`. `others`:
// keys that are not in the table are ignored.
bool read_keys(Reader& reader, Value map, std::string_view table, const std::vector<KeyInfo>& keys, bool others,
               const std::function<bool(size_t, Value)>& read);

template <typename T>
struct Inner {
  using Type = T;
};
template <typename T>
struct Inner<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct Inner<std::shared_ptr<const T>> {
  using Type = T;
};
template <typename T>
struct Inner<Tried<T>> {
  using Type = T;
};
template <typename T>
using InnerType = typename Inner<T>::Type;

template <typename T>
struct Limits {
  std::optional<T> least;
  std::optional<T> most;
  std::string (*validate)(const T&) = nullptr;  // empty: fine

  bool check(Reader& reader, Value value, const T& found) const {
    if (validate != nullptr) {
      if (std::string message = validate(found); !message.empty()) return reader.fail(value, std::move(message));
    }
    if constexpr (std::integral<T> || Quantity<T>) {
      if (least && found < *least)
        return reader.fail(value, "must be at least " + text_of(*least) + ", not " + shown(value.text()));
      if (most && found > *most)
        return reader.fail(value, "must be at most " + text_of(*most) + ", not " + shown(value.text()));
    }
    return true;
  }
  void describe(Json& schema) const {
    if constexpr (std::integral<T>) {
      if (least) schema["minimum"] = *least;
      if (most) schema["maximum"] = *most;
    }
  }
  static std::string text_of(const T& value) {
    const Json json = Format<T>::write(value);
    return json.is_string() ? json.template get<std::string>() : json.dump();
  }
};

template <typename T>
Limits<T> at_least(T least) {
  return {.least = least};
}
template <typename T>
Limits<T> within(T least, T most) {
  return {.least = least, .most = most};
}
template <typename T>
Limits<T> held_to(std::string (*validate)(const T&)) {
  return {.validate = validate};
}

template <typename Row>
class Table {
 public:
  Table(std::string_view name, std::string_view doc) : name_(name), doc_(doc) {}

  template <typename T>
  Table& required(std::string_view key, T Row::* member, std::string_view doc, Limits<InnerType<T>> limits = {}) {
    return add(key, member, doc, true, std::move(limits));
  }
  template <typename T>
  Table& optional(std::string_view key, T Row::* member, std::string_view doc, Limits<InnerType<T>> limits = {}) {
    return add(key, member, doc, false, std::move(limits));
  }
  // A rule over several keys; runs only if each of them could be read.
  Table& check(std::function<bool(Reader&, Value, const Row&)> rule) {
    rules_.push_back(std::move(rule));
    return *this;
  }
  // `size: WORD` stands for `values`, which has one for each of `keys`.
  Table& named_size(std::string_view word, Row values, std::vector<std::string_view> keys) {
    if (sizes_ == nullptr) {
      sizes_ = std::make_shared<NamedSizes>();
      keys_.push_back({kSizeKey, "values for the other keys, which go before it", false});
      reads_.push_back(
          [sizes = sizes_](Reader& reader, Value value, Row&) { return read_size(reader, value, *sizes); });
      schemas_.push_back([sizes = sizes_](SchemaBook&) {
        Json words = Json::array();
        for (const NamedSize& each : *sizes) words.push_back(each.word);
        return Json{{"enum", words}};
      });
    }
    sizes_->push_back({word, std::move(values), std::move(keys)});
    return *this;
  }
  // Keys that are not declared here belong to other readers, and are no error.
  Table& among_others() {
    others_ = true;
    return *this;
  }
  // A key that chooses the table itself (`kind: leaf-spine`): known here, read elsewhere.
  Table& chosen_by(std::string_view key, std::string_view word) {
    choice_ = word;
    keys_.push_back({key, "which", true});
    reads_.push_back([](Reader&, Value, Row&) { return true; });
    schemas_.push_back([word](SchemaBook&) { return Json{{"const", word}}; });
    return *this;
  }

  std::string_view name() const { return name_; }
  std::string_view choice() const { return choice_; }

  bool read(Reader& reader, Value value, Row& row) const {
    const std::optional<Value> given = size_key_in(value);
    const NamedSize* size = given ? size_called(*given) : nullptr;
    if (size != nullptr) row = size->values;
    // A misspelt size is one error: keys that the size should have stood for are not reported as missing.
    if (given && size == nullptr) size = &sizes_->front();
    if constexpr (requires { row.where = value; }) row.where = value;
    bool good = read_keys(reader, value, name_, size != nullptr ? keys_beside(*size) : keys_, others_,
                          [&](size_t i, Value content) { return reads_[i](reader, content, row); });
    const bool can_judge = good;
    for (size_t i = 0; can_judge && i < rules_.size(); ++i) good = rules_[i](reader, value, row) && good;
    if constexpr (requires { row.read_well = good; }) row.read_well = good;
    return good;
  }
  // The values of `from` replace those of `into`, key by key; optional members only.
  void merge(const Row& from, Row& into) const {
    if constexpr (requires { into.where = from.where; }) into.where = from.where;
    for (const auto& merge_one : merges_) merge_one(from, into);
  }
  Json schema(SchemaBook& book) const {
    return book.refer(name_, [this](SchemaBook& inner) { return define(inner); });
  }

 private:
  static constexpr std::string_view kSizeKey = "size";

  struct NamedSize {
    std::string_view word;
    Row values;
    std::vector<std::string_view> keys;  // that it has values for
  };

  using NamedSizes = std::vector<NamedSize>;

  // The value of `size`, if there is one.
  std::optional<Value> size_key_in(Value map) const {
    std::optional<Value> found;
    if (sizes_ == nullptr || map.kind() != ValueKind::kMap) return found;
    for_each_entry(map, [&](Value key, Value content) {
      if (key.kind() == ValueKind::kScalar && key.text() == kSizeKey) found = content;
    });
    return found;
  }

  const NamedSize* size_called(Value value) const {
    if (value.kind() != ValueKind::kScalar) return nullptr;
    const auto found = std::ranges::find(*sizes_, value.text(), &NamedSize::word);
    return found == sizes_->end() ? nullptr : &*found;
  }

  static bool read_size(Reader& reader, Value value, const NamedSizes& sizes) {
    std::vector<std::string_view> known;
    std::string listed;
    for (const NamedSize& each : sizes) {
      known.push_back(each.word);
      listed += (listed.empty() ? "" : ", ") + std::string(each.word);
    }
    if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "one of " + listed);
    if (std::ranges::find(known, value.text()) != known.end()) return true;
    return reader.fail(value, shown(value.text()) + " is not one of " + listed + reader.guess(value.text(), known));
  }

  std::vector<KeyInfo> keys_beside(const NamedSize& size) const {
    std::vector<KeyInfo> out = keys_;
    for (KeyInfo& info : out) {
      if (std::ranges::find(size.keys, info.key) != size.keys.end()) info.required = false;
    }
    return out;
  }

  // Whether every named size has a value for this key.
  bool has_named_value(std::string_view key) const {
    return sizes_ != nullptr && std::ranges::all_of(*sizes_, [&](const NamedSize& each) {
             return std::ranges::find(each.keys, key) != each.keys.end();
           });
  }

  template <typename T>
  Table& add(std::string_view key, T Row::* member, std::string_view doc, bool required, Limits<InnerType<T>> limits) {
    keys_.push_back({key, doc, required});
    reads_.push_back([member, limits](Reader& reader, Value value, Row& row) {
      T& out = row.*member;
      if (!Format<T>::read(reader, value, out)) return false;
      if constexpr (std::same_as<T, InnerType<T>>) {
        return limits.check(reader, value, out);
      } else if constexpr (std::same_as<T, Tried<InnerType<T>>>) {
        return limits.check(reader, value, out.value);
      } else {
        return limits.check(reader, value, *out);
      }
    });
    if constexpr (std::same_as<T, std::optional<InnerType<T>>>) {
      merges_.push_back([member](const Row& from, Row& into) {
        if (from.*member) into.*member = from.*member;
      });
    }
    schemas_.push_back([member, required, limits = std::move(limits)](SchemaBook& book) {
      Json out = Format<T>::schema(book);
      limits.describe(out);
      const bool has_default = !required && std::same_as<T, InnerType<T>>;
      if (has_default) out["default"] = Format<T>::write(Row{}.*member);
      return out;
    });
    return *this;
  }

  Json define(SchemaBook& book) const {
    Json properties = Json::object();
    Json required = Json::array();
    Json without_size = Json::array();
    for (size_t i = 0; i < keys_.size(); ++i) {
      Json property{{"description", keys_[i].doc}};
      property.update(schemas_[i](book));
      properties[std::string(keys_[i].key)] = std::move(property);
      if (keys_[i].required) (has_named_value(keys_[i].key) ? without_size : required).push_back(keys_[i].key);
    }
    Json out{{"description", doc_}, {"type", "object"}, {"properties", properties}};
    if (!required.empty()) out["required"] = required;
    if (!without_size.empty()) out["anyOf"] = {{{"required", {kSizeKey}}}, {{"required", without_size}}};
    out["additionalProperties"] = others_;
    return out;
  }

  std::string_view name_;
  std::string_view doc_;
  std::string_view choice_;
  bool others_ = false;
  std::vector<KeyInfo> keys_;
  std::shared_ptr<NamedSizes> sizes_;
  std::vector<std::function<bool(Reader&, Value, Row&)>> reads_;
  std::vector<std::function<Json(SchemaBook&)>> schemas_;
  std::vector<std::function<void(const Row&, Row&)>> merges_;
  std::vector<std::function<bool(Reader&, Value, const Row&)>> rules_;
};

template <typename Row>
struct Tables;  // specialise with `static const Table<Row>& table();`

template <typename Row>
concept HasTable = requires { Tables<Row>::table(); };

template <HasTable Row>
struct Format<Row> {
  static bool read(Reader& reader, Value value, Row& row) { return Tables<Row>::table().read(reader, value, row); }
  static Json schema(SchemaBook& book) { return Tables<Row>::table().schema(book); }
  static Json write(const Row&) { return Json::object(); }
};

// A map whose `kind` says which of several tables it follows.
template <typename... Rows>
  requires(HasTable<Rows> && ...)
struct Format<std::variant<Rows...>> {
  using Choice = std::variant<Rows...>;
  static bool read(Reader& reader, Value value, Choice& out) {
    if (value.kind() != ValueKind::kMap) return reader.wrong_type(value, "a map");
    std::optional<Value> kind;
    for_each_entry(value, [&](Value key, Value content) {
      if (key.kind() == ValueKind::kScalar && key.text() == "kind") kind = content;
    });
    const std::vector<std::string_view> known{Tables<Rows>::table().choice()...};
    std::string listed;
    for (const std::string_view word : known) listed += (listed.empty() ? "" : ", ") + std::string(word);
    if (!kind) return reader.fail(value, "the key 'kind' is missing (" + listed + ")");
    if (kind->kind() != ValueKind::kScalar) return reader.wrong_type(*kind, "one of " + listed);
    bool found = false;
    bool good = true;
    const auto attempt = [&]<typename Row>(std::type_identity<Row>) {
      if (found || kind->text() != Tables<Row>::table().choice()) return;
      found = true;
      good = Tables<Row>::table().read(reader, value, out.template emplace<Row>());
    };
    (attempt(std::type_identity<Rows>{}), ...);
    if (found) return good;
    const std::string guess = reader.guess(kind->text(), known);
    return reader.fail(*kind, shown(kind->text()) + " is not one of " + listed + guess);
  }
  static Json schema(SchemaBook& book) { return {{"oneOf", Json::array({Tables<Rows>::table().schema(book)...})}}; }
  static Json write(const Choice&) { return Json::object(); }
};

}  // namespace softspine::control
