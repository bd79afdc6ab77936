// SPDX-License-Identifier: Apache-2.0
// The flows of a testbed's workloads as explain and polarization ask about them, and its expectations of how evenly its
// hashes spread them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/explain/flow_choices.hpp"
#include "control/model/testbed.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::testbeds {

// One flow for each queue pair, with the bytes that it has to send. If there are more than `most`: that many of them,
// at even distances.
std::vector<analysis::FlowProbe> workload_flows(analysis::Walker& walker, size_t most = SIZE_MAX);

// Expectations on `polarization.` are judged by what is computed of the workloads' flows with every link up, before
// and without a run. A report has that section only if the testbed has such an expectation.
inline constexpr const char* kPolarizationSection = "polarization";
bool is_about_polarization(const control::Expectation& expectation);
bool expects_polarization(const control::Testbed& testbed);
control::Json polarization_section(const control::Testbed& testbed);
// Without numbers, for `check`.
control::Json polarization_section_outline(const control::Testbed& testbed);

}  // namespace softspine::testbeds
