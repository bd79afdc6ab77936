// SPDX-License-Identifier: Apache-2.0
// Whether a switch may get another profile while it runs.
#pragma once

#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/model/profile.hpp"

namespace softspine::control {

// Why a switch cannot work by another profile while it runs; empty: it can.
std::string profile_change_error(const std::vector<Profile>& profiles, const Fabric& fabric, uint32_t node,
                                 const Profile& to);

}  // namespace softspine::control
