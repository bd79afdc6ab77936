// SPDX-License-Identifier: Apache-2.0
// A sweep's table as an SQLite database, for programs that ask: each value with its unit.
//
//   sweep      testbed, repeated_path (of --over, else null)
//   axes       axis_id, path, name            what was varied
//   columns    column_id, name, unit          what was collected; unit: ps, bytes, bps, …; null: a plain number
//   runs       run_id, result, why, cached    a row each, in the order of the combinations
//   settings   run_id, axis_id, text, value   text as it was given; value: as a number if it is one
//   results    run_id, column_id, value       those that the run has
//   spreads    spread_id, column_id, n, mean, ci95, deviation, least, most
//   spread_settings                           over a path that was repeated; as settings
//   by_run     a view: a row a run as in the CSV file; if there are no more than kWidest columns
#pragma once

#include <cstddef>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/softspine/sweep/sweep_table.hpp"

namespace softspine::tools {

inline constexpr size_t kWidest = 1'900;  // SQLite's own limit is 2,000

// Makes the file, in place of one that is there. The error is a sentence's end.
std::expected<void, std::string> make_sweep_database(const std::filesystem::path& file, const SweepResult& result,
                                                     std::optional<size_t> over);

}  // namespace softspine::tools
