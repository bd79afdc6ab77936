// SPDX-License-Identifier: Apache-2.0
// Every flow of a run in a line of its own, for a spreadsheet or a plot (`softspine run --flows FILE`): RFC 4180, the
// first line names the columns, units end the names as in the report. A value that does not exist (the completion time
// of an unfinished flow) is an empty cell. Lines are in the order of the flows: the same bytes for any number of
// workers.
#pragma once

#include <string>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string flows_csv(const FabricSnapshot& snapshot);

}  // namespace softspine::control
