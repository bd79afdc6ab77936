// SPDX-License-Identifier: Apache-2.0
// An imported topology as the text of a testbed file: every node and link with the line that it comes from, what could
// not be mapped on top, links that lose packets as faults, and the given traffic, or some, so that there is something
// to run.
#pragma once

#include <string>
#include <vector>

#include "control/imports/import.hpp"
#include "control/imports/ns3_traffic.hpp"

namespace softspine::control {

std::string testbed_text(const ForeignTopology& topology, ImportFormat format, const std::vector<ImportFile>& files,
                         const ForeignTraffic* traffic = nullptr);

}  // namespace softspine::control
