// SPDX-License-Identifier: Apache-2.0
// What keys cannot do without, beyond what errors say: names that fit each other, tables that go together.
#pragma once

#include "tests/scenario/random/schema_values.hpp"

namespace softspine::tests {

// A part of a testbed in which the goal's table, or the goal itself, can be; empty: it needs none. Its profiles are
// merged into those that are drawn; all else stands in place of what is drawn, and null in place of nothing.
Json start_of(const SchemaKey& goal);

}  // namespace softspine::tests
