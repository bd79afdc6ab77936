// SPDX-License-Identifier: Apache-2.0
#include "control/load/sonic_hash.hpp"

#include <algorithm>
#include <array>

namespace softspine::control {

namespace {

struct RoleHash {
  std::string_view word;  // in the type
  uint32_t seed;
  uint8_t offset;
};

// In SONiC's order, the first that fits. It has seeds for FabricSpineRouter and UpperSpineRouter (40, 50), too, but
// asks for SpineRouter before, which is a part of both words.
constexpr std::array kRoles{RoleHash{"ToRRouter", 0, 0},          RoleHash{"LeafRouter", 10, 10},
                            RoleHash{"SpineRouter", 25, 0},       RoleHash{"LowerRegionalHub", 60, 0},
                            RoleHash{"FabricRegionalHub", 70, 0}, RoleHash{"UpperRegionalHub", 80, 0}};

}  // namespace

void apply_device_metadata(const LocalhostRow& row, HashConfig& hash) {
  const std::string switch_type = row.switch_type.value_or("");
  if (switch_type == "dpu") return;
  const std::string type = row.type.value_or("");
  const auto role =
      std::ranges::find_if(kRoles, [&type](const RoleHash& it) { return type.find(it.word) != std::string::npos; });
  const bool is_known = role != kRoles.end();
  const bool has_seed = row.ecmp_hash_seed.has_value();
  const uint32_t seed = has_seed ? *row.ecmp_hash_seed : is_known ? role->seed : 0;
  hash.seed = seed + row.namespace_id.value_or(0);
  if (switch_type != "chassis-packet") hash.offset = has_seed || !is_known ? uint8_t{0} : role->offset;
}

}  // namespace softspine::control
