// SPDX-License-Identifier: Apache-2.0
// Copies every counter of a fabric, from an engine action or while it does not run.
#pragma once

#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

control::FabricSnapshot snapshot_of(const control::Testbed& testbed, const control::Compiler& compiler,
                                    const Assembly& assembly, dataplane::Instant now);

}  // namespace softspine::testbeds
