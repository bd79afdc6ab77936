// SPDX-License-Identifier: Apache-2.0
// A table without its row's type: which keys a map has, what is said of them, and where in a row each is read to.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "control/format/key_type.hpp"

namespace softspine::control {

class TableCore {
 public:
  struct NamedSize {
    std::string_view word;
    std::vector<std::string_view> keys;     // that it has values for
    std::function<void(void* row)> assign;  // all of them
  };
  using Rule = std::function<bool(Reader&, Value, const void* row)>;

  // `untouched`: a row that nothing has been read into: what keys are when they are left out.
  TableCore(std::string_view name, std::string_view doc, const void* untouched)
      : name_(name), doc_(doc), untouched_(untouched) {}

  void add(std::string_view key, std::string_view doc, bool required, size_t place,
           std::unique_ptr<const KeyType> type);
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  void add(NamedSize size);
  void among_others() { others_ = true; }
  void beside(std::span<const std::string_view> names) { beside_ = names; }
  void chosen_by(std::string_view key, std::string_view word);

  std::string_view name() const { return name_; }
  std::string_view choice() const { return choice_; }

  // The size that a map names, its values assigned to the row; of a word that is no size any, without its values. Null:
  // the map names none.
  const NamedSize* assign_size(Value map, void* row) const;
  bool read(Reader& reader, Value map, const NamedSize* size, void* row) const;
  void merge(const void* from, void* into) const;
  Json schema(SchemaBook& book) const;

 private:
  using NamedSizes = std::vector<NamedSize>;
  class SizeType;

  struct Key {
    std::string_view key;
    std::string_view doc;
    bool required = false;
    size_t place = 0;  // in the row, in bytes
    std::shared_ptr<const KeyType> type;
  };

  const Key* key_called(std::string_view word) const;
  bool has_named_value(std::string_view key) const;
  bool unknown_key(Reader& reader, Value key) const;
  void pass_over(Reader& reader, Value map, Value key, Value content) const;
  bool read_keys(Reader& reader, Value map, const NamedSize* size, void* row) const;
  Json define(SchemaBook& book) const;

  std::string_view name_;
  std::string_view doc_;
  std::string_view choice_;
  const void* untouched_;
  bool others_ = false;
  std::span<const std::string_view> beside_;
  std::vector<Key> keys_;
  std::shared_ptr<NamedSizes> sizes_;
  std::vector<Rule> rules_;
};

}  // namespace softspine::control
