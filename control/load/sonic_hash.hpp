// SPDX-License-Identifier: Apache-2.0
// The hash's seed and offset that SONiC gives a switch. They are not in SWITCH_HASH but in switch.json, which SONiC
// makes of DEVICE_METADATA when its containers start (dockers/docker-orchagent/switch.json.j2).
#pragma once

#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

void apply_device_metadata(const LocalhostRow& row, HashConfig& hash);

}  // namespace softspine::control
