// SPDX-License-Identifier: Apache-2.0
#include "control/config/document_builder.hpp"

#include <unordered_set>

#include "control/config/words.hpp"

namespace softspine::control {
namespace {

Position position_of(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

std::string too_many(std::string_view how) {
  return std::string(how) + "more than " + std::to_string(kMaxValues) + " values";
}

}  // namespace

void DocumentBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (started_) throw Refusal{position_of(mark), "a second YAML document: one file is one testbed"};
  started_ = true;
}

void DocumentBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  remember(anchor, {add(ValueKind::kNull, mark), 1});
}

void DocumentBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Anchored target = anchor < anchored_.size() ? anchored_[anchor] : Anchored{};
  if (target.values == 0) throw Refusal{position_of(mark), "an alias inside what it stands for"};
  const uint32_t index = add(document_.nodes_[target.index].kind, mark, target.values);
  document_.nodes_[index].alias = true;
  document_.nodes_[index].first = target.index;
}

void DocumentBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                               const std::string& text) {
  const uint32_t index = add(ValueKind::kScalar, mark);
  Document::Node& node = document_.nodes_[index];
  node.plain = tag == "?";
  node.text = static_cast<uint32_t>(document_.text_.size());
  node.text_bytes = static_cast<uint32_t>(text.size());
  document_.text_ += text;
  remember(anchor, {index, 1});
  check_tag(index, tag);
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

uint32_t DocumentBuilder::add(ValueKind kind, const YAML::Mark& mark, uint64_t values) {
  const auto index = static_cast<uint32_t>(document_.nodes_.size());
  if (index >= kMaxValues) throw Refusal{position_of(mark), too_many("")};
  document_.nodes_.push_back({.kind = kind, .at = position_of(mark)});
  if (open_.empty()) return index;
  attach(index);
  open_.back().values += values;
  if (open_.back().values > kMaxValues) throw Refusal{position_of(mark), too_many("with aliases written out, ")};
  return index;
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
  const uint32_t index = add(kind, mark);
  remember(anchor, {index, 0});
  open_.push_back({.index = index, .anchor = anchor});
  check_tag(index, tag);
}

void DocumentBuilder::close() {
  const Open done = open_.back();
  open_.pop_back();
  remember(done.anchor, {done.index, done.values});
  if (open_.empty()) return;
  open_.back().values += done.values - 1;
  if (open_.back().values > kMaxValues) {
    throw Refusal{document_.nodes_[done.index].at, too_many("with aliases written out, ")};
  }
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
  errors_.push_back({document_.file_, value.path(), at.line, at.column, std::move(message)});
}

}  // namespace softspine::control
