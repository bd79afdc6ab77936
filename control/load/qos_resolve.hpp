// SPDX-License-Identifier: Apache-2.0
// From the rows of SONiC's tables to a QosConfig; complains about what does not hold together.
#pragma once

#include <memory>

#include "control/document/reader.hpp"
#include "control/model/fabric.hpp"
#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Puts the rows of a profile over those of its base, field by field; rows of ports and ranges behind them. `layer`
// grows from base to profile.
void put_over(const QosRows& from, QosRows& into, uint32_t layer);

// `where`: the profile. The maps of priorities are the profile's business.
std::shared_ptr<QosConfig> resolve_qos(Reader& reader, Value where, const QosRows& rows);

// What can only be judged when the ports are known: whether pools hold what is reserved in them, and whether
// what is classified has a priority group and a queue.
void check_qos(Reader& reader, const std::vector<Profile>& profiles, const Fabric& fabric);

}  // namespace softspine::control
