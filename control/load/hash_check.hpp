// SPDX-License-Identifier: Apache-2.0
// Checks a profile's hash as a whole, with what it inherits from its bases, and its ECMP groups against the fabric.
#pragma once

#include "control/document/reader.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/expand.hpp"

namespace softspine::control {

// Refuses fields that overlap, an offset wider than the result, and algorithms and keys that the hash's model does not
// have. `where`: the profile's `hash`.
void check_hash(Reader& reader, Value where, const HashConfig& hash);

// Refuses weights of neighbours that do not exist, and groups larger than a switch can have.
void check_groups(Reader& reader, const TestbedRow& row, const std::vector<Profile>& profiles, const Fabric& fabric);

}  // namespace softspine::control
