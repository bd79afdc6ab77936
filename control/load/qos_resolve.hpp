// SPDX-License-Identifier: Apache-2.0
// From the rows of SONiC's tables to a QosConfig; reports rows that contradict each other.
#pragma once

#include <memory>

#include "control/document/reader.hpp"
#include "control/model/fabric.hpp"
#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Merges the rows of a profile into those of its base: fields replace the base's fields, rows of ports and ranges are
// appended. `layer` grows from base to profile.
void overlay(const QosRows& from, QosRows& into, uint32_t layer);

// `where`: the profile. Its maps of priorities are resolved elsewhere, with the profile.
std::shared_ptr<QosConfig> resolve_qos(Reader& reader, Value where, const QosRows& rows);

// What can only be judged when the ports are known: whether pools hold what is reserved in them, and whether
// what is classified has a priority group and a queue.
void check_qos(Reader& reader, const std::vector<Profile>& profiles, const Fabric& fabric);

}  // namespace softspine::control
