// SPDX-License-Identifier: Apache-2.0
// A YAML text as a tree of values that know their position in the file.
//
// Stricter than YAML, because a configuration is: one document; UTF-8 without control characters; keys are words,
// each once in its map; no tags. Anchors and aliases work, merge keys (<<) don't.
// Bounded whatever comes in: the text's size, the depth of nesting, and the number of values and of their bytes with
// every alias written out (so a few lines of aliases of aliases cannot become a billion values, and a long
// text cannot be repeated a million times).
// A config_db.json is read the same way, JSON being YAML; only its numbers are bare, in SONiC's units.
// yaml-cpp scans; the tree is ours, flat in one vector, because YAML::Node keeps neither duplicates nor limits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/error_log.hpp"

namespace softspine::control {

inline constexpr size_t kMaxTextBytes = 16 << 20;
inline constexpr uint64_t kMaxValues = 2'000'000;
inline constexpr uint64_t kMaxBytesOfValues = 4 * kMaxTextBytes;
inline constexpr size_t kMaxDepth = 64;

enum class ValueKind : uint8_t { kNull, kScalar, kSequence, kMap };

struct Position {
  int line = 0;  // from 1
  int column = 0;
};

class Document;

// The keys that a document uses: softspine's, or those of SONiC's config_db.json.
enum class Dialect : uint8_t { kTestbed, kConfigDb };

// A handle: cheap to copy, valid as long as its document. A default-constructed Value has no position (it is for rows
// that a program made, not a file); it may only be asked for its position, its path and those of its children.
class Value {
 public:
  Value() = default;
  Value(const Document& document, uint32_t index) : document_(&document), index_(index) {}
  ValueKind kind() const;
  bool is_plain() const;          // a scalar without quotes
  std::string_view text() const;  // of a scalar
  size_t size() const;            // entries of a map, items of a sequence
  bool is_leaf() const;           // a scalar or nothing

  // Equal for a value and its aliases; different for all other values, also those of other documents of one reader.
  uint32_t id() const;

  Dialect dialect() const;
  std::string_view file() const;  // empty if it has no position

  Position at() const;
  std::string path() const;  // topology.links[3].endpoints[0]; an alias has the path of its anchor

  // For messages: the value of this key, or this value itself if the key is missing. Searches the map linearly.
  Value child(std::string_view key) const;
  // The items of a sequence; any other value is its own only item.
  std::vector<Value> each() const;

  class Items;
  Items items() const;  // of a sequence: the items; of a map: key, value, key, value, …

 private:
  const Document* document_ = nullptr;
  uint32_t index_ = 0;
};

class Document {
 public:
  // Adds to `log` what is wrong with the text as YAML. Null if the text cannot be read any further: after a syntax
  // error the meaning of the rest is unknown.
  // `first_id`: the id of the document's first value.
  static std::unique_ptr<const Document> parse(std::string_view text, std::string_view file, ErrorLog& log,
                                               Dialect dialect = Dialect::kTestbed, uint32_t first_id = 0);

  Value root() const { return {*this, 0}; }

 private:
  friend class Value;
  friend class DocumentBuilder;
  friend class DocumentSetter;

  struct Node {
    ValueKind kind = ValueKind::kNull;
    bool plain = false;
    bool alias = false;  // stands for the node `first`
    bool is_key = false;
    Position at;
    uint32_t text = 0;  // of a scalar: where in text_, and how long
    uint32_t text_bytes = 0;
    uint32_t first = 0;  // child; 0: none (0 is the root, which is no child)
    uint32_t next = 0;   // sibling
    uint32_t children = 0;
    uint32_t parent = 0;
    uint32_t place = 0;  // in a sequence: its number; a map's value: its key's node
  };
  const Node& resolve(uint32_t index) const { return nodes_[nodes_[index].alias ? nodes_[index].first : index]; }
  std::string_view text_of(const Node& node) const {
    return std::string_view(text_).substr(node.text, node.text_bytes);
  }

  std::string file_;
  Dialect dialect_ = Dialect::kTestbed;
  uint32_t first_id_ = 0;
  std::string text_;
  std::vector<Node> nodes_;
};

class Value::Items {
 public:
  class Iterator {
   public:
    Iterator(const Document* document, uint32_t index) : document_(document), index_(index) {}
    Value operator*() const { return {*document_, index_}; }
    Iterator& operator++() {
      index_ = document_->nodes_[index_].next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Document* document_;
    uint32_t index_;
  };
  Items(const Document* document, uint32_t first) : document_(document), first_(first) {}
  Iterator begin() const { return {document_, first_}; }
  Iterator end() const { return {document_, 0}; }

 private:
  const Document* document_;
  uint32_t first_;
};

// Calls f(key, value) for each entry of a map.
template <typename F>
void for_each_entry(Value map, F&& f) {
  const auto items = map.items();
  for (auto it = items.begin(); it != items.end(); ++it) {
    const Value key = *it;
    ++it;
    f(key, *it);
  }
}

// The value of this key, of one that stands twice the first. Nothing if it is no map, or has no such key.
std::optional<Value> entry(Value map, std::string_view key);
// Whether the key stands in the map, whatever its value is.
inline bool is_given(Value map, std::string_view key) {
  return entry(map, key).has_value();
}

}  // namespace softspine::control
