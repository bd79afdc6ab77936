// SPDX-License-Identifier: Apache-2.0
// What a recording says after the run: most of it is taken from the run's report, so that the two cannot differ.
#pragma once

#include <string>
#include <vector>

#include "control/record/database.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

struct RecordedPicture {
  std::string name;  // faults, busbw
  std::string svg;
};

void record_results(Database& into, const FabricSnapshot& snapshot, const Json& report,
                    const std::vector<RecordedPicture>& pictures);

}  // namespace softspine::control
