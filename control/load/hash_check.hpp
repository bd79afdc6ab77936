// SPDX-License-Identifier: Apache-2.0
// What a hash must not be, seen as a whole, with what it has from its bases; and groups against the fabric.
#pragma once

#include "control/document/reader.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/expand.hpp"

namespace softspine::control {

// `where`: the profile's `hash`. Fields that overlap, an offset wider than the result, what a model does not have.
void check_hash(Reader& reader, Value where, const HashConfig& hash);

// Weights of neighbours that are not there, and groups larger than a switch can have.
void check_groups(Reader& reader, const TestbedRow& row, const std::vector<Profile>& profiles, const Fabric& fabric);

}  // namespace softspine::control
