// SPDX-License-Identifier: Apache-2.0
#include "control/rows/built_in_profiles.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dataplane/forwarding/azure_maps.hpp"

namespace softspine::control {
namespace {

// Beside the maps that switches have without any profile, too: dataplane/forwarding/azure_maps.hpp.
constexpr std::string_view kAzureTables = R"(
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

// {0: 1, 1: 1, …}
template <size_t Keys>
std::string yaml_of(const std::array<uint8_t, Keys>& map) {
  std::string out;
  for (size_t key = 0; key < Keys; ++key) {
    out += (key == 0 ? "{" : ", ") + std::to_string(key) + ": " + std::to_string(map[key]);
  }
  return out + "}";
}

std::string azure() {
  return "DSCP_TO_TC_MAP: {AZURE: " + yaml_of(dataplane::kAzureDscpToTc) + "}\n" +
         "TC_TO_QUEUE_MAP: {AZURE: " + yaml_of(dataplane::kAzureTcToQueue) + "}\n" +
         "TC_TO_PRIORITY_GROUP_MAP: {AZURE: " + yaml_of(dataplane::kAzureTcToPg) + "}" + std::string(kAzureTables);
}

constexpr std::array kProfiles{BuiltInProfile{"lossless", kLossless},
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

std::vector<BuiltInProfile> all_profiles() {
  static const std::string azure_text = azure();
  std::vector<BuiltInProfile> out{{"azure", azure_text}};
  out.insert(out.end(), kProfiles.begin(), kProfiles.end());
  return out;
}

}  // namespace

std::span<const BuiltInProfile> built_in_profiles() {
  static const std::vector<BuiltInProfile> all = all_profiles();
  return all;
}

const BuiltInProfile* find_built_in_profile(std::string_view name) {
  const auto all = built_in_profiles();
  const auto found = std::ranges::find(all, name, &BuiltInProfile::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace softspine::control
