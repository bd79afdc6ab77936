// SPDX-License-Identifier: Apache-2.0
// A testbed's review (control/compile/review.hpp) for people and for programs, and its warnings on stderr.
#pragma once

#include <expected>
#include <string>

#include "control/compile/review.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "tools/command/exit_status.hpp"

namespace softspine::tools {

// A line for each tier that a workload goes through, or several where its links differ.
std::string service_text(const control::Testbed& testbed, const control::Review& review);
// Every link of every workload's ways.
control::Json service_json(const control::Testbed& testbed, const control::Review& review);
control::Json warnings_json(const control::Errors& warnings);

// Makes the review, adds warnings that concern this machine, and prints all warnings on stderr. If something cannot
// work, prints its errors as well; nothing must be started then.
std::expected<control::Review, ExitStatus> reviewed(const control::Testbed& testbed);

}  // namespace softspine::tools
