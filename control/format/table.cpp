// SPDX-License-Identifier: Apache-2.0
#include "control/format/table.hpp"

namespace softspine::control {
namespace {

size_t place_of(const std::vector<KeyInfo>& keys, std::string_view key) {
  size_t i = 0;
  while (i < keys.size() && keys[i].key != key) ++i;
  return i;
}

bool unknown_key(Reader& reader, Value key, const std::vector<KeyInfo>& keys) {
  if (key.text() == "<<")
    return reader.wrong(key, "merge keys ('<<') are not read: name the base of a profile with 'base'");
  std::vector<std::string_view> known;
  for (const KeyInfo& info : keys) known.push_back(info.key);
  const std::string guess = reader.guess(key.text(), known);
  return reader.wrong(key, "unknown key " + shown(key.text()) + guess);
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
    if (place == keys.size() && others) return;
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
      good = reader.wrong(map, "the key '" + std::string(keys[i].key) + "' is missing: " + std::string(keys[i].doc));
    }
  }
  return good;
}

}  // namespace softspine::control
