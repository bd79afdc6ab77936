// SPDX-License-Identifier: Apache-2.0
// The parts of a run begin on all ranks, or on none.
#pragma once

#include <expected>
#include <string>

#include "dataplane/units/time.hpp"
#include "testbeds/run/ranks.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// By all ranks at once. If one of them cannot begin, all end again, also that one: what ends a part may ask all ranks.
// The error is then the same everywhere, that of the first rank that has one.
std::expected<void, std::string> begin_together(RunParts& parts, const Ranks& ranks, dataplane::Instant now);

}  // namespace softspine::testbeds
