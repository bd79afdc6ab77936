// SPDX-License-Identifier: Apache-2.0
// PROGRAM --describe, which --help does not list: its command line as JSON, for tools/reference/manual.py, which makes
// man pages and completion of it.
#pragma once

#include <CLI/CLI.hpp>

#include "control/telemetry/json.hpp"

namespace softspine::tools {

// {name, description, footer, options: […], positionals: […], commands: [the same of each]}; an option is {names,
// value, description}, where `value` is what CLI11 prints of it, such as TEXT:{wall,virtual}; empty: a flag.
control::Json description_of(const CLI::App& app);
// Whether it was asked for, and so was printed.
bool describe_if_asked(const CLI::App& app, int argc, char** argv);

}  // namespace softspine::tools
