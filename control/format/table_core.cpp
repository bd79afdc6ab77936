// SPDX-License-Identifier: Apache-2.0
#include "control/format/table_core.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace softspine::control {
namespace {

constexpr std::string_view kSizeKey = "size";

std::byte* at(void* row, size_t place) {
  return static_cast<std::byte*>(row) + place;
}
const std::byte* at(const void* row, size_t place) {
  return static_cast<const std::byte*>(row) + place;
}

// A file of SONiC's has much that means nothing here. A table of it is counted by its rows, a key by its name.
void ignore(Reader& reader, Value map, Value key, Value content) {
  if (key.dialect() != Dialect::kConfigDb) return;
  const std::string path = map.path();
  if (path.empty()) {
    reader.ignore(key, std::string(key.text()), "", content.is_leaf() ? 1 : content.size());
  } else {
    reader.ignore(key, path.substr(0, path.find('.')), std::string(key.text()));
  }
}

// A key that has been read before its map: its allowed words, and nothing more.
class ChoiceType final : public KeyType {
 public:
  explicit ChoiceType(std::string_view word) : word_(word) {}
  bool read(Reader&, Value, void*) const override { return true; }
  Json schema(SchemaBook&) const override { return {{"const", word_}}; }
  std::optional<Json> default_of(const void*) const override { return std::nullopt; }
  void merge(const void*, void*) const override {}

 private:
  std::string_view word_;
};

}  // namespace

// Its value has been assigned before the other keys are read: what is left is the error that there is no such size.
class TableCore::SizeType final : public KeyType {
 public:
  explicit SizeType(std::shared_ptr<const NamedSizes> sizes) : sizes_(std::move(sizes)) {}

  bool read(Reader& reader, Value value, void*) const override {
    size_t found = 0;
    return read_word(reader, value, words(), {}, found);
  }
  Json schema(SchemaBook&) const override { return words_schema(words()); }
  std::optional<Json> default_of(const void*) const override { return std::nullopt; }
  void merge(const void*, void*) const override {}

 private:
  std::vector<std::string_view> words() const {
    std::vector<std::string_view> out;
    for (const NamedSize& each : *sizes_) out.push_back(each.word);
    return out;
  }

  std::shared_ptr<const NamedSizes> sizes_;
};

void TableCore::add(std::string_view key, std::string_view doc, bool required, size_t place,
                    std::unique_ptr<const KeyType> type) {
  keys_.push_back({key, doc, required, place, std::move(type)});
}

void TableCore::add(NamedSize size) {
  if (sizes_ == nullptr) {
    sizes_ = std::make_shared<NamedSizes>();
    add(kSizeKey, "values for the other keys, which go before it", false, 0, std::make_unique<SizeType>(sizes_));
  }
  sizes_->push_back(std::move(size));
}

void TableCore::chosen_by(std::string_view key, std::string_view word) {
  choice_ = word;
  add(key, "which", true, 0, std::make_unique<ChoiceType>(word));
}

const TableCore::Key* TableCore::key_called(std::string_view word) const {
  const auto found = std::ranges::find(keys_, word, &Key::key);
  return found == keys_.end() ? nullptr : &*found;
}

// Whether every named size has a value for this key.
bool TableCore::has_named_value(std::string_view key) const {
  return sizes_ != nullptr && std::ranges::all_of(*sizes_, [&](const NamedSize& each) {
           return std::ranges::find(each.keys, key) != each.keys.end();
         });
}

const TableCore::NamedSize* TableCore::assign_size(Value map, void* row) const {
  const std::optional<Value> given = sizes_ != nullptr ? entry(map, kSizeKey) : std::nullopt;
  if (!given) return nullptr;
  const auto found =
      given->kind() == ValueKind::kScalar ? std::ranges::find(*sizes_, given->text(), &NamedSize::word) : sizes_->end();
  // A misspelt size is one error: keys that the size should have stood for are not reported as missing.
  if (found == sizes_->end()) return &sizes_->front();
  found->assign(row);
  return &*found;
}

bool TableCore::read(Reader& reader, Value map, const NamedSize* size, void* row) const {
  bool good = read_keys(reader, map, size, row);
  const bool can_judge = good;
  for (size_t i = 0; can_judge && i < rules_.size(); ++i) good = rules_[i](reader, map, row) && good;
  return good;
}

bool TableCore::unknown_key(Reader& reader, Value key) const {
  if (key.text() == "<<")
    return reader.fail(key, "merge keys ('<<') are not read: name the base of a profile with 'base'");
  std::vector<std::string_view> known;
  for (const Key& each : keys_) known.push_back(each.key);
  const std::string guess = reader.guess(key.text(), known);
  return reader.fail(key, "unknown key " + shown(key.text()) + guess);
}

// A key that is known by its name and means nothing here is counted; an unknown one is probably misspelt.
void TableCore::pass_over(Reader& reader, Value map, Value key, Value content) const {
  if (std::ranges::find(beside_, key.text()) != beside_.end()) return ignore(reader, map, key, content);
  std::vector<std::string_view> known(beside_.begin(), beside_.end());
  for (const Key& each : keys_) known.push_back(each.key);
  reader.unknown(key, known);
}

bool TableCore::read_keys(Reader& reader, Value map, const NamedSize* size, void* row) const {
  if (map.kind() != ValueKind::kMap) return reader.wrong_type(map, "a map (" + std::string(name_) + ")");
  bool good = true;
  std::vector<bool> seen(keys_.size());
  for_each_entry(map, [&](Value key, Value content) {
    if (key.kind() != ValueKind::kScalar) return;  // the document has complained
    const Key* found = key_called(key.text());
    if (found == nullptr && (others_ || key.dialect() == Dialect::kConfigDb))
      return pass_over(reader, map, key, content);
    if (found == nullptr) {
      good = unknown_key(reader, key);
      return;
    }
    const auto index = static_cast<size_t>(found - keys_.data());
    if (seen[index]) return;  // the document has complained
    seen[index] = true;
    good = found->type->read(reader, content, at(row, found->place)) && good;
  });
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Key& each = keys_[i];
    const bool named = size != nullptr && std::ranges::find(size->keys, each.key) != size->keys.end();
    if (each.required && !named && !seen[i])
      good = reader.fail(map, "the key '" + std::string(each.key) + "' is missing: " + std::string(each.doc));
  }
  return good;
}

void TableCore::merge(const void* from, void* into) const {
  for (const Key& each : keys_) each.type->merge(at(from, each.place), at(into, each.place));
}

Json TableCore::schema(SchemaBook& book) const {
  return book.refer(name_, [this](SchemaBook& inner) { return define(inner); });
}

Json TableCore::define(SchemaBook& book) const {
  Json properties = Json::object();
  Json required = Json::array();
  Json without_size = Json::array();
  for (const Key& each : keys_) {
    Json property{{"description", each.doc}};
    property.update(each.type->schema(book));
    if (std::optional<Json> without = each.required ? std::nullopt : each.type->default_of(at(untouched_, each.place)))
      property["default"] = *std::move(without);
    properties[std::string(each.key)] = std::move(property);
    if (each.required) (has_named_value(each.key) ? without_size : required).push_back(each.key);
  }
  Json out{{"description", doc_}, {"type", "object"}, {"properties", properties}};
  if (!required.empty()) out["required"] = required;
  if (!without_size.empty()) out["anyOf"] = {{{"required", {kSizeKey}}}, {{"required", without_size}}};
  out["additionalProperties"] = others_;
  return out;
}

}  // namespace softspine::control
