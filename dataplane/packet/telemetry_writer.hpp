// SPDX-License-Identifier: Apache-2.0
// Writes a switch's record into a packet that has a telemetry field (telemetry_field.hpp).
#pragma once

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/telemetry_field.hpp"

namespace softspine::dataplane {

// The packet was parsed. Nothing is written if it has no such field, or is not whole as its lengths say.
void add_telemetry(Packet& packet, const telemetry::Hop& hop) noexcept;

}  // namespace softspine::dataplane
