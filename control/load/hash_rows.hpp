// SPDX-License-Identifier: Apache-2.0
// A profile's `hash` and SONiC's SWITCH_HASH, put over the hash that the profile has by then. What comes of it is
// checked as a whole (hash_check.hpp).
#pragma once

#include <optional>

#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"
#include "control/vendors/hash_reading.hpp"

namespace softspine::control {

// What a row leaves out stays as it is.
template <typename T>
void set_if(const std::optional<T>& given, T& into) {
  if (given) into = *given;
}

void apply_hash(const HashRow& row, HashConfig& hash);
// Whether a row that names no algorithm sets it to the first that its model of hosts has: if the row names the model,
// or the model has no other.
bool has_own_algorithm(const HashRow& row, HashModel model);
// Sets the hash of ECMP groups; that of LAGs: lag_hash.hpp.
void apply_hash(const SwitchHashGlobalRow& row, HashConfig& hash);

// What a switch's lines say of LAGs alone, as `lag_hash`. None: nothing.
std::optional<HashRow> lag_row_of(const HashReading& reading);

}  // namespace softspine::control
