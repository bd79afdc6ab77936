// SPDX-License-Identifier: Apache-2.0
#include "control/format/table.hpp"

namespace softspine::control {
namespace {

size_t place_of(const std::vector<KeyInfo>& keys, std::string_view key) {
  size_t i = 0;
  while (i < keys.size() && keys[i].key != key) ++i;
  return i;
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

bool unknown_key(Reader& reader, Value key, const std::vector<KeyInfo>& keys) {
  if (key.text() == "<<")
    return reader.fail(key, "merge keys ('<<') are not read: name the base of a profile with 'base'");
  std::vector<std::string_view> known;
  for (const KeyInfo& info : keys) known.push_back(info.key);
  const std::string guess = reader.guess(key.text(), known);
  return reader.fail(key, "unknown key " + shown(key.text()) + guess);
}

}  // namespace

bool read_keys(Reader& reader, Value map, std::string_view table, const std::vector<KeyInfo>& keys, bool others,
               const std::function<bool(size_t, Value)>& read) {
  if (map.kind() != ValueKind::kMap) return reader.wrong_type(map, "a map (" + std::string(table) + ")");
  bool good = true;
  std::vector<bool> seen(keys.size());
  for_each_entry(map, [&](Value key, Value content) {
    if (key.kind() != ValueKind::kScalar) return;  // the document has complained
    const size_t place = place_of(keys, key.text());
    if (place == keys.size() && (others || key.dialect() == Dialect::kConfigDb)) {
      ignore(reader, map, key, content);
      return;
    }
    if (place == keys.size()) {
      good = unknown_key(reader, key, keys);
      return;
    }
    if (seen[place]) return;  // the document has complained
    seen[place] = true;
    good = read(place, content) && good;
  });
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].required && !seen[i]) {
      good = reader.fail(map, "the key '" + std::string(keys[i].key) + "' is missing: " + std::string(keys[i].doc));
    }
  }
  return good;
}

}  // namespace softspine::control
