// SPDX-License-Identifier: Apache-2.0
// Why a rank waited, in words.
#pragma once

#include <string>

#include "control/telemetry/steps_snapshot.hpp"

namespace softspine::control {

// "1.25 ms"
std::string time_in_words(dataplane::Duration time);
// "its message of 1 MiB to h3 was held up for 640 us: paused at …"
std::string reason_text(const WaitReason& reason);

}  // namespace softspine::control
