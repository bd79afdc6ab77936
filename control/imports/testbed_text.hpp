// SPDX-License-Identifier: Apache-2.0
// An imported topology as the text of a testbed file: every node and link with the line that it comes from, what could
// not be mapped on top, links that lose packets as faults, and some traffic, so that there is something to run.
#pragma once

#include <string>
#include <vector>

#include "control/imports/import.hpp"

namespace softspine::control {

std::string testbed_text(const ForeignTopology& topology, ImportFormat format, const std::vector<ImportFile>& files);

}  // namespace softspine::control
