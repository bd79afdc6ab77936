// SPDX-License-Identifier: Apache-2.0
// A testbed, as a tree, to which keys are added one by one, each with what it needs, so that the file still loads.
//
// A key is drawn by its schema, which knows nothing of rules over several keys ("goes with 'equal' only"). So what load
// refuses is changed where load says that it is wrong, again and again, until it loads; a key for which that does
// not come about within kRounds loads is refused, and the testbed is as it was before.
#pragma once

#include <set>

#include "control/document/error.hpp"
#include "control/model/testbed.hpp"
#include "tests/scenario/random/schema_values.hpp"

namespace softspine::tests {

class TestbedGrowth {
 public:
  TestbedGrowth(dataplane::Rng& rng, Json testbed) : rng_(rng), values_(rng, names_), testbed_(std::move(testbed)) {}

  Names& names() { return names_; }
  const Json& testbed() const { return testbed_; }
  Json& testbed() { return testbed_; }
  SchemaValues& values() { return values_; }

  // Whether it holds the key now, and loads.
  bool add(const SchemaKey& goal);
  // Whether it loads now, perhaps without some of what is in it.
  bool mend();
  uint64_t loads() const { return loads_; }
  size_t hosts() const { return hosts_; }  // when it last loaded
  // Why the last add() was in vain.
  const std::string& why() const { return why_; }

 private:
  // Where in the testbed an error is.
  struct Spot {
    Json* value = nullptr;
    const Json* of = nullptr;
    Json* map = nullptr;  // that holds it, if a table says what is in it
    std::string table;
    std::string key;       // in that map
    Json* list = nullptr;  // the innermost list around it
    size_t item = 0;
  };
  bool load();
  void extend(Json& value, const Json& of, const std::string& key, const SchemaKey& goal);
  void extend_map(Json& map, const std::string& table, const SchemaKey& goal);
  Spot spot_of(const std::string& path);
  void change(const control::Error& error, const SchemaKey* goal);
  bool add_missing(const Spot& spot, const std::string& message);
  bool follow_words(const Spot& spot, const std::string& message, const SchemaKey* goal);
  void shake(const Spot& spot, const SchemaKey* goal);
  bool one_in(uint64_t n) { return rng_.below(n) == 0; }

  dataplane::Rng& rng_;
  Names names_;
  SchemaValues values_;
  Json testbed_;
  control::Errors errors_;
  std::string why_;
  uint64_t loads_ = 0;
  size_t hosts_ = 0;
};

// The keys that a testbed holds.
std::set<SchemaKey> keys_in(const Json& testbed);

}  // namespace softspine::tests
