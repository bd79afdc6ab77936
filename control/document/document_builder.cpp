// SPDX-License-Identifier: Apache-2.0
#include "control/document/document_builder.hpp"

#include <unordered_set>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

Position position_of(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

std::string too_many() {
  return "more than " + std::to_string(kMaxValues) + " values";
}

std::string without_blanks(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

void DocumentBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (started_) throw Refusal{position_of(mark), "a second YAML document: one file is one testbed"};
  started_ = true;
}

void DocumentBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const uint32_t index = add(ValueKind::kNull, mark);
  Document::Node& node = document_.nodes_[index];
  // Nothing stands nowhere: yaml-cpp gives the place of what comes next, which may be lines away.
  const bool is_map_value =
      !open_.empty() && node.place != 0 && !node.is_key && document_.nodes_[node.parent].kind == ValueKind::kMap;
  if (is_map_value) node.at = document_.nodes_[node.place].at;
  remember(anchor, {index, {1, 0}});
}

void DocumentBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Anchored target = anchor < anchored_.size() ? anchored_[anchor] : Anchored{};
  if (target.extent.values == 0) throw Refusal{position_of(mark), "an alias inside what it stands for"};
  const uint32_t index = add(document_.nodes_[target.index].kind, mark, target.extent);
  document_.nodes_[index].alias = true;
  document_.nodes_[index].first = target.index;
}

void DocumentBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                               const std::string& given) {
  // SONiC reads "  166912" as a number, too.
  const std::string text = document_.dialect_ == Dialect::kConfigDb ? without_blanks(given) : given;
  const Extent extent{1, text.size()};
  const uint32_t index = add(ValueKind::kScalar, mark, extent);
  Document::Node& node = document_.nodes_[index];
  node.plain = tag == "?";
  node.text = static_cast<uint32_t>(document_.text_.size());
  node.text_bytes = static_cast<uint32_t>(text.size());
  document_.text_ += text;
  remember(anchor, {index, extent});
  check_tag(index, tag);
  if (text.find('\0') != std::string::npos) complain(index, "holds a zero byte");
}

void DocumentBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                      YAML::EmitterStyle::value) {
  open(ValueKind::kSequence, mark, tag, anchor);
}

void DocumentBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                 YAML::EmitterStyle::value) {
  open(ValueKind::kMap, mark, tag, anchor);
}

void DocumentBuilder::OnMapEnd() {
  check_keys();
  close();
}

uint32_t DocumentBuilder::add(ValueKind kind, const YAML::Mark& mark, Extent extent) {
  const auto index = static_cast<uint32_t>(document_.nodes_.size());
  if (index >= kMaxValues) throw Refusal{position_of(mark), too_many()};
  document_.nodes_.push_back({.kind = kind, .at = position_of(mark)});
  if (open_.empty()) return index;
  attach(index);
  grow(extent, position_of(mark));
  return index;
}

void DocumentBuilder::grow(Extent by, Position at) {
  Extent& extent = open_.back().extent;
  extent.values += by.values;
  extent.bytes += by.bytes;
  if (extent.values > kMaxValues) throw Refusal{at, "with aliases written out, " + too_many()};
  if (extent.bytes > kMaxBytesOfValues) {
    throw Refusal{at, "with aliases written out, more than " + std::to_string(kMaxBytesOfValues >> 20) + " MiB"};
  }
}

void DocumentBuilder::attach(uint32_t index) {
  Open& open = open_.back();
  Document::Node& parent = document_.nodes_[open.index];
  Document::Node& node = document_.nodes_[index];
  (open.last_child == 0 ? parent.first : document_.nodes_[open.last_child].next) = index;
  node.parent = open.index;
  node.is_key = parent.kind == ValueKind::kMap && parent.children % 2 == 0;
  node.place = parent.kind == ValueKind::kMap ? open.last_child : parent.children;
  ++parent.children;
  open.last_child = index;
}

void DocumentBuilder::open(ValueKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
  if (open_.size() == kMaxDepth) {
    throw Refusal{position_of(mark), "nested more than " + std::to_string(kMaxDepth) + " deep"};
  }
  const uint32_t index = add(kind, mark);
  remember(anchor, {index, {}});
  open_.push_back({.index = index, .anchor = anchor});
  check_tag(index, tag);
}

void DocumentBuilder::close() {
  const Open done = open_.back();
  open_.pop_back();
  remember(done.anchor, {done.index, done.extent});
  if (open_.empty()) return;
  grow({done.extent.values - 1, done.extent.bytes}, document_.nodes_[done.index].at);
}

void DocumentBuilder::remember(YAML::anchor_t anchor, Anchored what) {
  if (anchor == 0) return;
  if (anchored_.size() <= anchor) anchored_.resize(anchor + 1);
  anchored_[anchor] = what;
}

void DocumentBuilder::check_tag(uint32_t index, const std::string& tag) {
  if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str") return;
  complain(index, "the tag " + shown(tag) + " means nothing here");
}

void DocumentBuilder::check_keys() {
  std::unordered_set<std::string_view> seen;
  uint32_t key = document_.nodes_[open_.back().index].first;
  while (key != 0) {
    const Document::Node& word = document_.resolve(key);
    if (word.kind != ValueKind::kScalar) {
      complain(key, "a key must be a word");
    } else if (!seen.insert(document_.text_of(word)).second) {
      complain(key, "the key " + shown(document_.text_of(word)) + " stands in this map already");
    }
    key = document_.nodes_[document_.nodes_[key].next].next;
  }
}

void DocumentBuilder::complain(uint32_t index, std::string message) {
  const Value value(document_, index);
  const Position at = document_.nodes_[index].at;
  log_.add({document_.file_, value.path(), at.line, at.column, std::move(message)});
}

}  // namespace softspine::control
