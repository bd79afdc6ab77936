// SPDX-License-Identifier: Apache-2.0
// A table: the keys of one kind of map in the file, each declared once: name, member, whether it must be there,
// its limits, its meaning. Reading, error messages and the JSON Schema come from it.
//
//   const Table<LinkSpec>& Tables<LinkSpec>::table() {
//     static const Table<LinkSpec> table = Table<LinkSpec>("link", "What a link is like.")
//         .required("rate", &LinkSpec::rate, "bits per second", at_least(Rate::min()))
//         .optional("length", &LinkSpec::length, "of the cable");       the default is what LinkSpec{} holds
//     return table;
//   }
//
// A named size stands for the values of several keys: `size: published`. Keys that are given beside it go before its
// values, and those that it has values for need not be given.
//
// A row struct has a member `Value where`, which is set so that later checks can report a position. The row may have a
// member `bool read_well`, by which later checks pass over rows with errors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "control/format/table_core.hpp"
#include "dataplane/units/parameter_key.hpp"

namespace softspine::control {

template <typename Row>
class Table {
 public:
  Table(std::string_view name, std::string_view doc) : core_(name, doc, &untouched()) {}

  template <typename T>
  Table& required(std::string_view key, T Row::* member, std::string_view doc, Limits<InnerType<T>> limits = {}) {
    core_.add(key, doc, true, place_of(member), std::make_unique<KeyOf<T>>(std::move(limits)));
    return *this;
  }
  template <typename T>
  Table& optional(std::string_view key, T Row::* member, std::string_view doc, Limits<InnerType<T>> limits = {}) {
    core_.add(key, doc, false, place_of(member), std::make_unique<KeyOf<T>>(std::move(limits)));
    return *this;
  }
  // The keys of a struct that the row holds whole, as they are declared beside that struct. Each may be left out;
  // is_given(row.where, key) says whether one was.
  template <typename Held, typename... Keys>
  Table& parameters(Held Row::* held, const std::tuple<Keys...>& keys) {
    std::apply([&](const auto&... each) { (add_parameter(held, each), ...); }, keys);
    return *this;
  }
  // A rule over several keys; runs only if each of them could be read.
  Table& check(bool (*rule)(Reader&, Value, const Row&)) {
    core_.add([rule](Reader& reader, Value value, const void* row) {
      return rule(reader, value, *static_cast<const Row*>(row));
    });
    return *this;
  }
  // `size: WORD` stands for `values`, which has one for each of `keys`.
  Table& named_size(std::string_view word, Row values, std::vector<std::string_view> keys) {
    core_.add({word, std::move(keys), [values = std::move(values)](void* row) { *static_cast<Row*>(row) = values; }});
    return *this;
  }
  // A table of another system's: a key that is not declared here is no error, and a warning unless it is `beside`.
  Table& among_others() {
    core_.among_others();
    return *this;
  }
  // Keys that another system's files have, and that mean nothing here. They outlive the table.
  Table& beside(std::span<const std::string_view> names) {
    core_.beside(names);
    return *this;
  }
  // A key that chooses the table itself (`kind: leaf-spine`): known here, read elsewhere.
  Table& chosen_by(std::string_view key, std::string_view word) {
    core_.chosen_by(key, word);
    return *this;
  }

  std::string_view name() const { return core_.name(); }
  std::string_view choice() const { return core_.choice(); }

  bool read(Reader& reader, Value value, Row& row) const {
    const TableCore::NamedSize* size = core_.assign_size(value, &row);
    if constexpr (requires { row.where = value; }) row.where = value;
    const bool good = core_.read(reader, value, size, &row);
    if constexpr (requires { row.read_well = good; }) row.read_well = good;
    return good;
  }
  // The values of `from` replace those of `into`, key by key; optional members only.
  void merge(const Row& from, Row& into) const {
    if constexpr (requires { into.where = from.where; }) into.where = from.where;
    core_.merge(&from, &into);
  }
  Json schema(SchemaBook& book) const { return core_.schema(book); }

 private:
  static const Row& untouched() {
    static const Row row{};
    return row;
  }
  template <typename T>
  static size_t place_of(T Row::* member) {
    const Row& row = untouched();
    return static_cast<size_t>(reinterpret_cast<const std::byte*>(&(row.*member)) -
                               reinterpret_cast<const std::byte*>(&row));
  }

  template <typename Held, typename T>
  void add_parameter(Held Row::* held, const dataplane::ParameterKey<Held, T>& it) {
    const Held& whole = untouched().*held;
    const size_t place = place_of(held) + static_cast<size_t>(reinterpret_cast<const std::byte*>(&(whole.*it.member)) -
                                                              reinterpret_cast<const std::byte*>(&whole));
    const Limits<InnerType<T>> limits{.least = it.least, .most = it.most};
    std::unique_ptr<const KeyType> type = std::make_unique<KeyOf<T>>(limits);
    if (!it.has_default) type = std::make_unique<KeyWithoutDefault<T>>(limits);
    core_.add(it.key, it.help, false, place, std::move(type));
  }

  TableCore core_;
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

// A map whose `kind` selects one of several tables.
template <typename... Rows>
  requires(HasTable<Rows> && ...)
struct Format<std::variant<Rows...>> {
  using Choice = std::variant<Rows...>;
  static bool read(Reader& reader, Value value, Choice& out) {
    if (value.kind() != ValueKind::kMap) return reader.wrong_type(value, "a map");
    const std::optional<Value> kind = entry(value, "kind");
    const std::vector<std::string_view> known{Tables<Rows>::table().choice()...};
    if (!kind) return reader.fail(value, "the key 'kind' is missing (" + listed(known) + ")");
    size_t chosen = 0;
    if (!read_word(reader, *kind, known, {}, chosen)) return false;
    bool good = true;
    size_t i = 0;
    const auto attempt = [&]<typename Row>(std::type_identity<Row>) {
      if (i++ == chosen) good = Tables<Row>::table().read(reader, value, out.template emplace<Row>());
    };
    (attempt(std::type_identity<Rows>{}), ...);
    return good;
  }
  static Json schema(SchemaBook& book) { return {{"oneOf", Json::array({Tables<Rows>::table().schema(book)...})}}; }
  static Json write(const Choice&) { return Json::object(); }
};

}  // namespace softspine::control
