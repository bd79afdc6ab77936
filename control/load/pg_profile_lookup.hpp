// SPDX-License-Identifier: Apache-2.0
// pg_profile_lookup.ini of a switch's platform: the profiles that SONiC's buffermgrd gives to lossless priority groups,
// by speed and cable, where the buffer model is not the dynamic one.
//
//   # speed  cable  size  xon   xoff    threshold  xon_offset
//   100000   300m   1248  2288  268736  0          2288
//
// Each line stands for a row of BUFFER_PROFILE, pg_lossless_100000_300m_profile, of the pool ingress_lossless_pool. The
// threshold is that of the pool's mode: dynamic_th, or static_th in bytes. xon_offset may be missing. Empty lines and
// those that begin with # say nothing. Of two lines for the same speed and cable the later one holds.
// A row of this name that the tables have already stays as it is. Source: buffermgr of sonic-swss.
#pragma once

#include <string>
#include <string_view>

#include "control/document/error.hpp"

namespace softspine::control {

// The lines as JSON, {"BUFFER_PROFILE": {…}}, each row on the line that it comes from. Lines that say something else
// are errors. `threshold`: dynamic_th or static_th.
std::string pg_profiles_json(std::string_view text, std::string_view threshold, const std::string& file,
                             Errors& errors);

}  // namespace softspine::control
