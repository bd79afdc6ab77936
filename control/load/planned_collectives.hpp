// SPDX-License-Identifier: Apache-2.0
// Collectives that go by a plan: its file, and whether it is for what the collective asks.
#pragma once

#include <optional>
#include <vector>

#include "control/document/reader.hpp"
#include "control/rows/collective_row.hpp"

namespace softspine::control {

// Reads the plans that rows name. Rows that cannot go by theirs have been complained about.
void read_plans(Reader& reader, std::vector<CollectiveRow>& rows);

// What the row's plan makes of the shape. Nothing: it is for other ranks or sizes.
std::optional<CollectiveShape> planned_shape(const CollectiveRow& row, const CollectiveShape& shape);

// True of rows without a plan. Else false if it is for other ranks than `shape` has, for other sizes, or comes to a
// stop: then it has complained about that at the row's ranks, or `at_size`.
bool goes_by_plan(Reader& reader, const CollectiveRow& row, const CollectiveShape& shape, Value at_size);

}  // namespace softspine::control
