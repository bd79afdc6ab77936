// SPDX-License-Identifier: Apache-2.0
// Options that several commands have, and how quantities are read from a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "control/format/quantity.hpp"
#include "control/load/load.hpp"
#include "tools/command/exit_status.hpp"

namespace softspine::tools {

// A command adds itself to the app; what it did comes back through `status`.
using Status = ExitStatus;

// "20ms" and the like: the number of base units, or CLI11's error with a sentence.
int64_t quantity_argument(const std::string& option, const std::string& text, const control::QuantityKind& kind);

// --clock, --seed, --duration, --workers, --dilation, …, --set: values of the command line in place of the file's.
void add_overrides(CLI::App& app, control::Overrides& out);

// For a name or pattern that fits no counter over time.
std::string no_such_counter(const std::string& name);

// The testbed, or every error of its file, also what this program cannot run.
std::expected<control::Testbed, control::Refused> checked_testbed(const std::string& file,
                                                                  const control::Overrides& overrides);
// On stderr; the exit status that follows.
Status print_errors(const control::Errors& errors, const std::string& file);
// Both: the testbed, or every error on stderr.
std::expected<control::Testbed, Status> read_testbed(const std::string& file, const control::Overrides& overrides);

}  // namespace softspine::tools
