// SPDX-License-Identifier: Apache-2.0
#include "control/document/reader.hpp"

#include <algorithm>
#include <functional>

#include "control/document/text_file.hpp"

namespace softspine::control {
namespace {

std::string described(Value value) {
  switch (value.kind()) {
    case ValueKind::kNull: return "nothing";
    case ValueKind::kSequence: return "a list";
    case ValueKind::kMap: return "a map";
    case ValueKind::kScalar: break;
  }
  return shown(value.text());
}

}  // namespace

Place place_of(Value value) {
  const Position at = value.at();
  return {std::string(value.file()), value.path(), at.line, at.column};
}

Error Reader::error(Value at, std::string message) const {
  Place place = place_of(at);
  if (place.file.empty()) place.file = file_;
  return error_at(place, std::move(message));
}

bool Reader::fail(Value at, std::string message) {
  if (is_new(at, message)) log_.add(error(at, std::move(message)));
  return false;
}

void Reader::warn(Value at, std::string message) {
  warnings_.add(error(at, std::move(message)));
}

void Reader::ignore(Value at, std::string table, std::string what, uint64_t count) {
  if (ignored_index_.size() >= kMaxIgnoredParts && !ignored_index_.contains({std::string(at.file()), table, what})) {
    table = "others";
    what.clear();
  }
  const auto [place, is_new] = ignored_index_.try_emplace({std::string(at.file()), table, what}, ignored_.size());
  if (is_new) ignored_.push_back({std::string(at.file()), at.at().line, std::move(table), std::move(what), 0});
  ignored_[place->second].count += count;
}

std::vector<IgnoredPart> Reader::ignored() {
  ignored_index_.clear();
  return std::exchange(ignored_, {});
}

// The first word of a path: PORT_QOS_MAP of PORT_QOS_MAP.Ethernet0.pfc_enable. Rows of a table are alike.
void Reader::unknown(Value key, const std::vector<std::string_view>& known) {
  const std::string path = key.path();
  const std::string table = key.dialect() == Dialect::kConfigDb ? path.substr(0, path.find('.')) : path;
  std::tuple index(std::string(key.file()), table, std::string(key.text()));
  if (const auto found = unknown_index_.find(index); found != unknown_index_.end()) {
    ++unknown_[found->second].second;
    return;
  }
  if (unknown_.size() == kMaxIgnoredParts) return void(++unknown_left_out_);
  unknown_index_.emplace(std::move(index), unknown_.size());
  unknown_.emplace_back(error(key, shown(key.text()) + " is not known here, and not read" + guess(key.text(), known)),
                        1);
}

void Reader::finish_unknown() {
  for (auto& [warning, count] : unknown_) {
    if (count > 1) warning.message += " (" + std::to_string(count) + " times in this table)";
    warnings_.add(std::move(warning));
  }
  if (unknown_left_out_ > 0)
    warnings_.add({file_, "", 0, 0, "and " + std::to_string(unknown_left_out_) + " more that is not known here"});
  unknown_.clear();
  unknown_index_.clear();
  unknown_left_out_ = 0;
}

Errors Reader::warnings() {
  finish_unknown();
  return warnings_.finish();
}

Value Reader::open(std::string_view text, std::string_view file, Dialect dialect) {
  // The testbed itself has the first.
  const uint64_t first_id = (documents_.size() + 1) * kMaxValues;
  if (first_id > UINT32_MAX - 2 * kMaxValues) {
    log_.add({std::string(file), "", 0, 0, "too many files are read besides the testbed"});
    return {};
  }
  documents_.push_back(Document::parse(text, file, log_, dialect, static_cast<uint32_t>(first_id)));
  return documents_.back() ? documents_.back()->root() : Value{};
}

void Reader::add_input(const std::string& path) {
  if (std::ranges::find(inputs_, path) == inputs_.end()) inputs_.push_back(path);
}

std::expected<std::string, std::string> Reader::text_of(const std::string& path, size_t most) {
  add_input(path);
  return read_text_file(path, true, most);
}

bool Reader::wrong_type(Value at, std::string_view expected) {
  return fail(at, "expected " + std::string(expected) + ", found " + described(at));
}

bool Reader::is_new(Value at, std::string_view message) {
  const bool first = wrong_.insert(at.id()).second;
  if (at.is_leaf()) return first;
  const uint64_t hash = std::hash<std::string_view>{}(message);
  return said_.insert(hash ^ (at.id() * 0x9E3779B97F4A7C15u)).second;
}

}  // namespace softspine::control
