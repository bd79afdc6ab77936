// SPDX-License-Identifier: Apache-2.0
// Values for keys of a testbed file, drawn by the file's own JSON Schema: whatever the tables of control/rows declare
// is drawn, a new key too. The schema says a value's type, words and limits; what it can't say is given: names
// (`Names`), and how much of a unit a short run can bear.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/format/format.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::tests {

using control::Json;

// A key of a table: `workload`, `rate`. "workload.rate" in messages.
struct SchemaKey {
  std::string table;
  std::string key;
  std::string text() const { return table + "." + key; }
  friend auto operator<=>(const SchemaKey&, const SchemaKey&) = default;
};

// Whether a run on the virtual clock, without root and others' files, can hold the key; else why not. Such keys are
// taken out of the schema.
std::string_view reason_to_leave_out(const SchemaKey& key);

// The schema, parsed, and what is asked of it.
class Schema {
 public:
  Schema();

  const Json& root() const { return all_; }  // refers to the outermost table
  const Json& table(const std::string& name) const { return all_["$defs"][name]; }
  // The table that a schema is or refers to; empty: none.
  static std::string table_of(const Json& schema);
  const Json& followed(const Json& schema) const;
  // Of several alternatives the one that fits what stands there.
  const Json& fitting(const Json& schema, const Json& value) const;
  // Every key of every table that a testbed file can hold, in the schema's order.
  const std::vector<SchemaKey>& keys() const { return keys_; }
  // How many tables lie between a value of this schema and one of the table: 0 if it is one; kFar if none is in it.
  static constexpr uint32_t kFar = 1000;
  uint32_t distance(const Json& schema, const std::string& to) const;

 private:
  uint32_t distance_of(const Json& schema, const std::map<std::string, uint32_t>& known) const;
  void find_distances(const std::string& to);
  void leave_out();

  Json all_;
  std::vector<SchemaKey> keys_;
  std::map<std::string, std::map<std::string, uint32_t>> distances_;  // by table to reach, then by table
};

const Schema& schema();

// What a text in a file may name, by what it is.
using Names = std::map<std::string, std::vector<std::string>>;

class SchemaValues {
 public:
  SchemaValues(dataplane::Rng& rng, const Names& names) : rng_(rng), names_(names) {}

  // A value of `key`, whose schema this is. `goal`: what it must contain; may be null.
  Json draw(const Json& of, const std::string& key, const SchemaKey* goal);

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t about(uint64_t least, uint64_t most);
  bool one_in(uint64_t n) { return below(n) == 0; }

  Json map_of_keys(const Json& table, const std::string& name, const SchemaKey* goal);
  Json map_of_names(const Json& of, const std::string& key, const SchemaKey* goal);
  Json list(const Json& of, const std::string& key, const SchemaKey* goal);
  Json number(const Json& of, const std::string& key);
  Json text(const Json& of, const std::string& key);
  std::string quantity(const std::string& pattern, const std::string& key);
  std::string name_for(const std::string& pattern);
  const Json& chosen(const Json& of, const SchemaKey* goal);

  dataplane::Rng& rng_;
  const Names& names_;
  uint32_t depth_ = 0;
};

}  // namespace softspine::tests
