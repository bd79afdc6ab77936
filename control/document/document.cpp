// SPDX-License-Identifier: Apache-2.0
#include "control/document/document.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <spanstream>

#include "control/document/document_builder.hpp"
#include "control/document/text_check.hpp"
#include "control/document/words.hpp"

namespace softspine::control {
namespace {

bool is_plain_word(std::string_view key) {
  return !key.empty() && key.size() <= 60 && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// yaml-cpp's own words may end in the character that it stumbled over.
std::string printable(std::string text) {
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  while (text.ends_with(' ') || text.ends_with(':')) text.pop_back();
  return text;
}

}  // namespace

ValueKind Value::kind() const {
  return document_->resolve(index_).kind;
}
bool Value::is_plain() const {
  return document_->resolve(index_).plain;
}
std::string_view Value::text() const {
  return document_->text_of(document_->resolve(index_));
}
Value::Items Value::items() const {
  return {document_, document_->resolve(index_).first};
}
bool Value::is_leaf() const {
  return document_ != nullptr && (kind() == ValueKind::kScalar || kind() == ValueKind::kNull);
}
uint32_t Value::id() const {
  if (document_ == nullptr) return UINT32_MAX;
  const auto& node = document_->nodes_[index_];
  return document_->first_id_ + (node.alias ? node.first : index_);
}
Dialect Value::dialect() const {
  return document_ == nullptr ? Dialect::kTestbed : document_->dialect_;
}
std::string_view Value::file() const {
  return document_ == nullptr ? std::string_view() : document_->file_;
}
Position Value::at() const {
  return document_ == nullptr ? Position{} : document_->resolve(index_).at;
}

size_t Value::size() const {
  const auto& node = document_->resolve(index_);
  return node.kind == ValueKind::kMap ? node.children / 2 : node.children;
}

std::string Value::path() const {
  if (document_ == nullptr) return "";
  const auto& nodes = document_->nodes_;
  std::vector<uint32_t> way;
  for (uint32_t i = nodes[index_].alias ? nodes[index_].first : index_; i != 0; i = nodes[i].parent) way.push_back(i);
  std::string out;
  for (const uint32_t i : std::views::reverse(way)) {
    const bool in_sequence = nodes[nodes[i].parent].kind == ValueKind::kSequence;
    if (in_sequence) {
      out += '[' + std::to_string(nodes[i].place) + ']';
      continue;
    }
    const std::string_view key = document_->text_of(document_->resolve(nodes[i].is_key ? i : nodes[i].place));
    out += (out.empty() ? "" : ".") + (is_plain_word(key) ? std::string(key) : shown(key));
  }
  return out;
}

Value Value::child(std::string_view key) const {
  return document_ == nullptr ? *this : entry(*this, key).value_or(*this);
}

std::optional<Value> entry(Value map, std::string_view key) {
  std::optional<Value> found;
  if (map.kind() != ValueKind::kMap) return found;
  for_each_entry(map, [&](Value name, Value content) {
    if (!found && name.kind() == ValueKind::kScalar && name.text() == key) found = content;
  });
  return found;
}

std::vector<Value> Value::each() const {
  if (document_ == nullptr || kind() != ValueKind::kSequence) return {*this};
  std::vector<Value> out;
  out.reserve(size());
  for (const Value item : items()) out.push_back(item);
  return out;
}

std::unique_ptr<const Document> Document::parse(std::string_view text, std::string_view file, ErrorLog& log,
                                                Dialect dialect, uint32_t first_id) {
  auto document = std::make_unique<Document>();
  document->file_ = file;
  document->dialect_ = dialect;
  document->first_id_ = first_id;
  const auto refuse = [&](Position at, std::string message) {
    log.add({std::string(file), "", at.line, at.column, std::move(message)});
    return nullptr;
  };
  if (text.size() > kMaxTextBytes) {
    return refuse({}, "larger than " + std::to_string(kMaxTextBytes >> 20) + " MiB, the most that is read");
  }
  if (const auto flaw = find_flaw(text)) return refuse({flaw->line, flaw->column}, flaw->message);
  try {
    std::ispanstream in{std::span(text.data(), text.size())};
    YAML::Parser parser(in);
    DocumentBuilder builder(*document, log);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return refuse(refusal.at, refusal.message);
  } catch (const YAML::DeepRecursion& e) {
    return refuse({e.mark.line + 1, e.mark.column + 1}, "nested too deeply");
  } catch (const YAML::Exception& e) {
    return refuse({e.mark.line + 1, e.mark.column + 1},
                  (dialect == Dialect::kTestbed ? "not YAML: " : "not JSON: ") + printable(e.msg));
  }
  if (document->nodes_.empty()) {
    return refuse({},
                  dialect == Dialect::kTestbed ? "empty: a testbed needs a name, and a fabric or a topology" : "empty");
  }
  return document;
}

}  // namespace softspine::control
