// SPDX-License-Identifier: Apache-2.0
// JSON as control writes it: keys keep the order in which they were added, so that output is the same from run to run
// and reads in the order of its author.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

// Adds a key that is known to be new: operator[] would compare it with every key before it.
inline void add_key(Json& object, std::string key, Json value) {
  if (object.is_null()) object = Json::object();
  auto& entries = static_cast<Json::object_t::Container&>(object.get_ref<Json::object_t&>());
  entries.emplace_back(std::move(key), std::move(value));
}

}  // namespace softspine::control
