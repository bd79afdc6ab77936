// SPDX-License-Identifier: Apache-2.0
#include "control/rows/built_in_profiles.hpp"

#include <algorithm>
#include <array>

namespace softspine::control {
namespace {

constexpr std::string_view kAzure = R"(
DSCP_TO_TC_MAP:
  AZURE: {0: 1, 1: 1, 2: 1, 3: 3, 4: 4, 5: 2, 6: 1, 7: 1, 8: 0, 9: 1, 10: 1, 11: 1, 12: 1, 13: 1, 14: 1, 15: 1,
    16: 1, 17: 1, 18: 1, 19: 1, 20: 1, 21: 1, 22: 1, 23: 1, 24: 1, 25: 1, 26: 1, 27: 1, 28: 1, 29: 1, 30: 1, 31: 1,
    32: 1, 33: 1, 34: 1, 35: 1, 36: 1, 37: 1, 38: 1, 39: 1, 40: 1, 41: 1, 42: 1, 43: 1, 44: 1, 45: 1, 46: 5, 47: 1,
    48: 6, 49: 1, 50: 1, 51: 1, 52: 1, 53: 1, 54: 1, 55: 1, 56: 1, 57: 1, 58: 1, 59: 1, 60: 1, 61: 1, 62: 1, 63: 1}
TC_TO_QUEUE_MAP: {AZURE: {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7}}
TC_TO_PRIORITY_GROUP_MAP: {AZURE: {0: 0, 1: 0, 2: 0, 3: 3, 4: 4, 5: 0, 6: 0, 7: 7}}
MAP_PFC_PRIORITY_TO_QUEUE: {AZURE: {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7}}
PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: {AZURE: {3: 3, 4: 4}}
PORT_QOS_MAP:
  global: {dscp_to_tc_map: AZURE, tc_to_queue_map: AZURE, tc_to_pg_map: AZURE, pfc_to_queue_map: AZURE,
    pfc_to_pg_map: AZURE, pfc_enable: [3, 4]}
WRED_PROFILE:
  AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: true, green_min_threshold: 1048576B, green_max_threshold: 2097152B,
    green_drop_probability: 5%}
SCHEDULER: {scheduler.0: {type: DWRR, weight: 14}, scheduler.1: {type: DWRR, weight: 15}}
QUEUE:
  0-2: {scheduler: scheduler.0}
  3-4: {scheduler: scheduler.1, wred_profile: AZURE_LOSSLESS}
  5-6: {scheduler: scheduler.0}
)";

constexpr std::string_view kLossless = R"(
base: azure
cell: 256B
BUFFER_POOL:
  ingress_lossless_pool: {type: ingress, mode: dynamic, size: 32MiB}
  egress_lossless_pool: {type: egress, mode: static, size: 256MiB}
  egress_lossy_pool: {type: egress, mode: dynamic, size: 24MiB}
BUFFER_PROFILE:
  pg_lossless_auto_profile: {pool: ingress_lossless_pool, dynamic_th: 0, xoff: auto, xon_offset: 9KiB}
  ingress_lossy_profile: {pool: ingress_lossless_pool, dynamic_th: 3}
  egress_lossless_profile: {pool: egress_lossless_pool, static_th: 256MiB}
  egress_lossy_profile: {pool: egress_lossy_pool, dynamic_th: 0}
BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg_lossless_auto_profile}, 7: {profile: ingress_lossy_profile}}
BUFFER_QUEUE:
  0-2: {profile: egress_lossy_profile}
  3-4: {profile: egress_lossless_profile}
  5-7: {profile: egress_lossy_profile}
)";

constexpr std::string_view kTomahawk = R"(
base: azure
platform: tomahawk
BUFFER_POOL:
  ingress_lossless_pool: {type: ingress, mode: dynamic, size: 10875072B, xoff: 4194112B}
  egress_lossless_pool: {type: egress, mode: static, size: 15982720B}
  egress_lossy_pool: {type: egress, mode: dynamic, size: 9243812B}
BUFFER_PROFILE:
  ingress_lossy_profile: {pool: ingress_lossless_pool, size: 0B, dynamic_th: 3}
  egress_lossless_profile: {pool: egress_lossless_pool, size: 1518B, static_th: 15982720B}
  egress_lossy_profile: {pool: egress_lossy_pool, size: 1518B, dynamic_th: 3}
  pg_lossless_100000_5m_profile: {pool: ingress_lossless_pool, size: 1248B, xon: 2288B, xon_offset: 2288B,
    xoff: 165568B, dynamic_th: 0}
BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg_lossless_100000_5m_profile}}
BUFFER_QUEUE:
  0-2: {profile: egress_lossy_profile}
  3-4: {profile: egress_lossless_profile}
  5-6: {profile: egress_lossy_profile}
)";
constexpr std::string_view kTomahawk40m = R"(
base: sonic-tomahawk-100g-5m
BUFFER_PROFILE:
  pg_lossless_100000_40m_profile: {pool: ingress_lossless_pool, size: 1248B, xon: 2288B, xon_offset: 2288B,
    xoff: 177632B, dynamic_th: 0}
BUFFER_PG: {3-4: {profile: pg_lossless_100000_40m_profile}}
)";
constexpr std::string_view kTomahawk300m = R"(
base: sonic-tomahawk-100g-5m
BUFFER_PROFILE:
  pg_lossless_100000_300m_profile: {pool: ingress_lossless_pool, size: 1248B, xon: 2288B, xon_offset: 2288B,
    xoff: 268736B, dynamic_th: 0}
BUFFER_PG: {3-4: {profile: pg_lossless_100000_300m_profile}}
)";

constexpr std::string_view kTrident2 = R"(
base: azure
platform: trident2
BUFFER_POOL:
  ingress_lossless_pool: {type: ingress, mode: dynamic, size: 12766208B}
  egress_lossless_pool: {type: egress, mode: static, size: 12766208B}
  egress_lossy_pool: {type: egress, mode: dynamic, size: 7326924B}
BUFFER_PROFILE:
  ingress_lossy_profile: {pool: ingress_lossless_pool, size: 0B, dynamic_th: 3}
  egress_lossless_profile: {pool: egress_lossless_pool, size: 0B, static_th: 12766208B}
  egress_lossy_profile: {pool: egress_lossy_pool, size: 1518B, dynamic_th: 3}
  pg_lossless_40000_300m_profile: {pool: ingress_lossless_pool, size: 56368B, xon: 18432B, xon_offset: 2496B,
    xoff: 55120B, dynamic_th: -3}
BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg_lossless_40000_300m_profile}}
BUFFER_QUEUE:
  0-2: {profile: egress_lossy_profile}
  3-4: {profile: egress_lossless_profile}
  5-6: {profile: egress_lossy_profile}
)";

constexpr std::string_view kTomahawk5 = R"(
base: azure
platform: tomahawk5
BUFFER_POOL:
  ingress_lossless_pool: {type: ingress, mode: dynamic, size: 121964196B, xoff: 29520896B}
  egress_lossless_pool: {type: egress, mode: static, size: 164075364B}
BUFFER_PROFILE:
  ingress_lossy_profile: {pool: ingress_lossless_pool, size: 0B, static_th: 165364160B}
  egress_lossless_profile: {pool: egress_lossless_pool, size: 0B, static_th: 165364160B}
  egress_lossy_profile: {pool: egress_lossless_pool, size: 1778B, dynamic_th: 0}
  pg_lossless_100000_profile: {pool: ingress_lossless_pool, size: 18796B, xon: 0B, xon_offset: 3556B, xoff: 300990B,
    dynamic_th: 0}
BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg_lossless_100000_profile}}
BUFFER_QUEUE:
  0-2: {profile: egress_lossy_profile}
  3-4: {profile: egress_lossless_profile}
  5-6: {profile: egress_lossy_profile}
)";
constexpr std::string_view kTomahawk5At800 = R"(
base: sonic-tomahawk5-100g
BUFFER_PROFILE:
  pg_lossless_800000_profile: {pool: ingress_lossless_pool, size: 18796B, xon: 0B, xon_offset: 3556B, xoff: 724662B,
    dynamic_th: 0}
BUFFER_PG: {3-4: {profile: pg_lossless_800000_profile}}
)";

constexpr std::string_view kSn4700 = R"(
base: azure
platform: spectrum3
BUFFER_POOL:
  ingress_lossless_pool: {type: ingress, mode: dynamic, size: 20627456B}
  ingress_lossy_pool: {type: ingress, mode: dynamic, size: 20627456B}
  egress_lossless_pool: {type: egress, mode: dynamic, size: 60817392B}
  egress_lossy_pool: {type: egress, mode: dynamic, size: 20627456B}
BUFFER_PROFILE:
  ingress_lossy_profile: {pool: ingress_lossy_pool, size: 0B, dynamic_th: 3}
  egress_lossless_profile: {pool: egress_lossless_pool, size: 0B, dynamic_th: 7}
  q_lossy_profile: {pool: egress_lossy_pool, size: 0B, dynamic_th: 3}
  pg_lossless_100000_5m_profile: {pool: ingress_lossless_pool, size: 53248B, xon: 19456B, xoff: 33792B, dynamic_th: 0}
BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg_lossless_100000_5m_profile}}
BUFFER_QUEUE:
  0-2: {profile: q_lossy_profile}
  3-4: {profile: egress_lossless_profile}
  5-6: {profile: q_lossy_profile}
)";
constexpr std::string_view kSn4700At40m = R"(
base: sonic-sn4700-100g-5m
BUFFER_PROFILE:
  pg_lossless_100000_40m_profile: {pool: ingress_lossless_pool, size: 63488B, xon: 19456B, xoff: 44032B, dynamic_th: 0}
BUFFER_PG: {3-4: {profile: pg_lossless_100000_40m_profile}}
)";
constexpr std::string_view kSn4700At300m = R"(
base: sonic-sn4700-100g-5m
BUFFER_PROFILE:
  pg_lossless_100000_300m_profile: {pool: ingress_lossless_pool, size: 137216B, xon: 19456B, xoff: 117760B,
    dynamic_th: 0}
BUFFER_PG: {3-4: {profile: pg_lossless_100000_300m_profile}}
)";

constexpr std::string_view kTor = "hash: {model: RTAG7, seed: 0, offset: 0}";
constexpr std::string_view kLeaf = "hash: {model: RTAG7, seed: 10, offset: 10}";
constexpr std::string_view kSpine = "hash: {model: RTAG7, seed: 25, offset: 0}";
constexpr std::string_view kFabricSpine = "hash: {model: RTAG7, seed: 40, offset: 0}";
constexpr std::string_view kUpperSpine = "hash: {model: RTAG7, seed: 50, offset: 0}";

constexpr std::array kProfiles{BuiltInProfile{"azure", kAzure},
                               BuiltInProfile{"lossless", kLossless},
                               BuiltInProfile{"sonic-tomahawk-100g-5m", kTomahawk},
                               BuiltInProfile{"sonic-tomahawk-100g-40m", kTomahawk40m},
                               BuiltInProfile{"sonic-tomahawk-100g-300m", kTomahawk300m},
                               BuiltInProfile{"sonic-trident2-40g-300m", kTrident2},
                               BuiltInProfile{"sonic-tomahawk5-100g", kTomahawk5},
                               BuiltInProfile{"sonic-tomahawk5-800g", kTomahawk5At800},
                               BuiltInProfile{"sonic-sn4700-100g-5m", kSn4700},
                               BuiltInProfile{"sonic-sn4700-100g-40m", kSn4700At40m},
                               BuiltInProfile{"sonic-sn4700-100g-300m", kSn4700At300m},
                               BuiltInProfile{"sonic-tor", kTor},
                               BuiltInProfile{"sonic-leaf", kLeaf},
                               BuiltInProfile{"sonic-spine", kSpine},
                               BuiltInProfile{"sonic-fabric-spine", kFabricSpine},
                               BuiltInProfile{"sonic-upper-spine", kUpperSpine}};

}  // namespace

std::span<const BuiltInProfile> built_in_profiles() {
  return kProfiles;
}

const BuiltInProfile* find_built_in_profile(std::string_view name) {
  const auto found = std::ranges::find(kProfiles, name, &BuiltInProfile::name);
  return found == kProfiles.end() ? nullptr : &*found;
}

}  // namespace softspine::control
