// SPDX-License-Identifier: Apache-2.0
// The list of the parts that a run is made of. A new part is its file and a line here.
#pragma once

#include <functional>

#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/step_log.hpp"

namespace softspine::testbeds {

// The material that parts are made from; all of it outlives them.
struct RunMaterial {
  const control::Testbed& testbed;
  control::Compiler& compiler;
  OutsideHosts* outside;  // null if there are none
  Assembly& assembly;
  Incidents& incidents;
  control::ErrorChannel& errors;
  std::function<control::FabricSnapshot(dataplane::Instant now)> snapshot_at;  // of the whole fabric, from an action
  StepsAsked steps;
  bool stays = false;  // when its hosts' commands have ended
};

void add_parts(RunParts& parts, const RunMaterial& of);

}  // namespace softspine::testbeds
