// SPDX-License-Identifier: Apache-2.0
#include "control/document/setting.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "control/document/words.hpp"

namespace softspine::control {

// Nodes are only added, and overwritten in their place, so that numbers of others stay.
class DocumentSetter {
 public:
  DocumentSetter(Document& document, ErrorLog& log) : document_(document), log_(log) {}

  void set(const Setting& setting) {
    setting_ = &setting;
    if (setting.value.empty()) return fail("a value is missing; '' is an empty word");
    const auto value = Document::parse(setting.value, "--set " + setting.path, log_);
    if (value) walk(0, setting.path, *value);
  }

 private:
  using Node = Document::Node;

  void walk(uint32_t at, std::string_view rest, const Document& value) {
    if (rest.empty()) return put(at, value);
    if (document_.nodes_[at].alias)
      return fail(way_to(rest) + " is an alias of " + Value(document_, at).path() + ": set it there");
    if (rest.starts_with("[*]")) return walk_all(at, below(rest, 3), value);
    if (rest == "*" || rest.starts_with("*.") || rest.starts_with("*[")) return walk_all(at, below(rest, 1), value);
    const ValueKind kind = document_.nodes_[at].kind;
    if (kind == ValueKind::kSequence) return walk_item(at, rest, value);
    if (kind == ValueKind::kScalar) return fail(way_to(rest) + " is " + shown(Value(document_, at).text()));
    const auto [found, taken] = longest_key(at, rest);
    if (found) return walk(*found, below(rest, taken), value);
    if (rest.starts_with('[')) return fail(way_to(rest) + " is no list");
    const size_t end = std::min(rest.find_first_of(".["), rest.size());
    const std::string_view further = below(rest, end);
    if (further.starts_with('[') || further.starts_with('*'))
      return fail("there is no " + shown(rest.substr(0, end)) + ", and no items of it");
    walk(add_entry(at, rest.substr(0, end)), further, value);
  }

  void walk_all(uint32_t at, std::string_view rest, const Document& value) {
    const bool is_map = document_.nodes_[at].kind == ValueKind::kMap;
    if (document_.nodes_[at].first == 0) return fail("there is nothing that * could be");
    std::vector<uint32_t> all;
    for (uint32_t i = document_.nodes_[at].first; i != 0; i = document_.nodes_[i].next) {
      if (!is_map || !document_.nodes_[i].is_key) all.push_back(i);
    }
    for (const uint32_t each : all) walk(each, rest, value);
  }

  void walk_item(uint32_t at, std::string_view rest, const Document& value) {
    const bool in_brackets = rest.starts_with('[');
    const size_t end = std::min(rest.find_first_of(in_brackets ? "]" : ".["), rest.size());
    const std::string_view number = rest.substr(in_brackets ? 1 : 0, end - (in_brackets ? 1 : 0));
    uint32_t index = 0;
    const auto [stopped, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    const uint32_t items = document_.nodes_[at].children;
    const std::string where = way_to(rest);
    if (error != std::errc{} || stopped != number.data() + number.size() || number.empty()) {
      return fail(where + " is a list, whose items have numbers, and " + shown(number) + " is none");
    }
    if (index >= items) {
      return fail(where + " has " + std::to_string(items) + (items == 1 ? " item" : " items") +
                  ", numbered from 0: there is no " + std::to_string(index));
    }
    uint32_t item = document_.nodes_[at].first;
    for (; index > 0; --index) item = document_.nodes_[item].next;
    walk(item, below(rest, std::min(end + (in_brackets ? 1 : 0), rest.size())), value);
  }

  // A key may hold dots itself. With it, how much of `rest` it is.
  std::pair<std::optional<uint32_t>, size_t> longest_key(uint32_t map, std::string_view rest) const {
    std::pair<std::optional<uint32_t>, size_t> best{std::nullopt, 0};
    for (uint32_t key = document_.nodes_[map].first; key != 0;) {
      const Node& word = document_.resolve(key);
      const uint32_t content = document_.nodes_[key].next;
      const std::string_view name = document_.text_of(word);
      const bool ends = rest.size() == name.size() ||
                        (rest.size() > name.size() && (rest[name.size()] == '.' || rest[name.size()] == '['));
      const bool fits = word.kind == ValueKind::kScalar && !name.empty() && rest.starts_with(name) && ends;
      if (fits && name.size() > best.second) best = {content, name.size()};
      key = document_.nodes_[content].next;
    }
    return best;
  }

  // A null value of a new key. Nothing becomes a map.
  uint32_t add_entry(uint32_t map, std::string_view name) {
    const uint32_t key = add({.kind = ValueKind::kScalar, .is_key = true, .parent = map});
    document_.nodes_[key].text = static_cast<uint32_t>(document_.text_.size());
    document_.nodes_[key].text_bytes = static_cast<uint32_t>(name.size());
    document_.text_ += name;
    const uint32_t content = add({.parent = map, .place = key});
    document_.nodes_[key].next = content;
    Node& parent = document_.nodes_[map];
    parent.kind = ValueKind::kMap;
    parent.children += 2;
    uint32_t* link = &parent.first;
    while (*link != 0) link = &document_.nodes_[*link].next;
    *link = key;
    return content;
  }

  // What stood there keeps its place among its neighbours.
  void put(uint32_t at, const Document& value) {
    const Node& root = value.nodes_[0];
    Node& node = document_.nodes_[at];
    node.kind = root.kind;
    node.plain = root.plain;
    node.alias = false;
    node.at = {};
    if (root.kind == ValueKind::kScalar) take_text(node, value.text_of(root));
    node.children = root.children;
    node.first = 0;
    if (root.kind == ValueKind::kScalar || root.kind == ValueKind::kNull) return;
    const auto shift = static_cast<uint32_t>(document_.nodes_.size()) - 1;  // its root comes to `at`
    const auto moved = [&](uint32_t index) { return index == 0 ? 0 : index + shift; };
    node.first = moved(root.first);
    for (uint32_t i = 1; i < value.nodes_.size(); ++i) {
      Node each = value.nodes_[i];
      const bool in_map = value.nodes_[each.parent].kind == ValueKind::kMap;
      if (each.kind == ValueKind::kScalar && !each.alias) take_text(each, value.text_of(each));
      each.at = {};
      each.first = moved(each.first);
      each.next = moved(each.next);
      if (in_map) each.place = moved(each.place);
      each.parent = each.parent == 0 ? at : moved(each.parent);
      add(each);
    }
  }

  void take_text(Node& node, std::string_view text) {
    node.text = static_cast<uint32_t>(document_.text_.size());
    node.text_bytes = static_cast<uint32_t>(text.size());
    document_.text_ += text;
  }

  uint32_t add(const Node& node) {
    document_.nodes_.push_back(node);
    return static_cast<uint32_t>(document_.nodes_.size() - 1);
  }

  // What is left of the path behind its first `taken` characters.
  static std::string_view below(std::string_view rest, size_t taken) {
    if (taken >= rest.size()) return {};
    return rest.substr(rest[taken] == '.' ? taken + 1 : taken);
  }

  std::string way_to(std::string_view rest) const {
    std::string_view way = std::string_view(setting_->path).substr(0, setting_->path.size() - rest.size());
    if (way.ends_with('.')) way.remove_suffix(1);
    return way.empty() ? "the testbed" : std::string(way);
  }
  void fail(std::string message) { log_.add({document_.file_, "--set " + setting_->path, 0, 0, std::move(message)}); }

  Document& document_;
  ErrorLog& log_;
  const Setting* setting_ = nullptr;
};

std::expected<Setting, std::string> setting_of(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return std::unexpected("needs PATH=VALUE, as run.seed=3, and not " + shown(text));
  }
  const std::string_view path = text.substr(0, equals);
  const bool has_gap = path.starts_with('.') || path.ends_with('.') || path.find("..") != std::string_view::npos;
  if (has_gap) return std::unexpected(shown(path) + " is no path: a name is missing beside a dot");
  return Setting{.path = std::string(path), .value = std::string(text.substr(equals + 1))};
}

std::string text_of(const Setting& setting) {
  return setting.path + "=" + setting.value;
}

std::unique_ptr<const Document> with_settings(std::unique_ptr<const Document> document,
                                              std::span<const Setting> settings, ErrorLog& log) {
  if (settings.empty()) return document;
  auto out = std::make_unique<Document>(*document);
  DocumentSetter setter(*out, log);
  for (const Setting& setting : settings) setter.set(setting);
  return out;
}

}  // namespace softspine::control
