// SPDX-License-Identifier: Apache-2.0
// SONiC's PORTCHANNEL and PORTCHANNEL_MEMBER of a config_db.json become a profile's port channels.
//
//   min_links   fewer: the LAG is down; 0 and no value are 1
//   lacp_key    "auto" is 1 before the number in the name, so PortChannel10 and PortChannel010 differ; no value is 0
//   fast_rate   what this end asks its partner for
// LACP runs at both ends, whatever `fallback` says.
#pragma once

#include <memory>
#include <vector>

#include "control/document/reader.hpp"
#include "control/model/port_channel.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Null: the tables have none.
std::shared_ptr<const std::vector<PortChannel>> port_channels_of(Reader& reader, const ProfileRow& row);

}  // namespace softspine::control
