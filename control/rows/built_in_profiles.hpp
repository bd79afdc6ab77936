// SPDX-License-Identifier: Apache-2.0
// Profiles that ship with softspine. `profile:`, `roles:` and `base:` name them as they name a file's own profiles,
// which take precedence.
//
//   azure                  maps, PFC on priorities 3 and 4, DWRR and ECN, as SONiC's qos_config has them; no buffers
//   lossless               azure and a buffer for any link: headroom by the formula for each port
//   sonic-trident2-40g-300m  Broadcom Trident 2 (S6000), 40G, cables of 300m
//   sonic-tomahawk-100g-*  Broadcom Tomahawk (S6100), 100G, cables of 5m, 40m, 300m
//   sonic-tomahawk5-100g, -800g     Broadcom Tomahawk 5: 100 and 200G, 800G
//   sonic-sn4700-100g-*    NVIDIA SN4700, 100G, cables of 5m, 40m, 300m
//   sonic-tor, -leaf, -spine, -fabric-spine, -upper-spine   the hashes of Broadcom's switches by role: RTAG7, seeds
// Sources: SONiC's buffers_defaults, pg_profile_lookup.ini and qos_config.j2 of these platforms. Those with buffers
// name their chip (control/model/platform.hpp).
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace softspine::control {

struct BuiltInProfile {
  std::string_view name;
  std::string_view text;  // as a file's row of `profiles`
};

std::span<const BuiltInProfile> built_in_profiles();
const BuiltInProfile* find_built_in_profile(std::string_view name);

}  // namespace softspine::control
