// SPDX-License-Identifier: Apache-2.0
// What one switch has decided and learned: its routes, its overrides, its neighbours (ARP, ND), its forwarding database
// (MAC). As JSON; as_table() makes the columns for people.
#pragma once

#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"
#include "control/telemetry/json.hpp"
#include "pipelines/switch.hpp"

namespace softspine::tools {

control::Json routes_json(const control::Fabric& fabric, uint32_t node, const control::RouteTable& routes);
control::Json overrides_json(const control::Fabric& fabric, uint32_t node, const pipelines::Switch& from,
                             const std::vector<control::Override>& overrides);
control::Json neighbours_json(const control::FabricNode& node, const pipelines::Switch& from);
control::Json macs_json(const control::FabricNode& node, const pipelines::Switch& from, dataplane::Instant now);

// A table of an array of objects with the same keys: a line for each object, the keys as header.
std::string as_table(const control::Json& rows);

}  // namespace softspine::tools
