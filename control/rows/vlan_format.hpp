// SPDX-License-Identifier: Apache-2.0
// How a host's VLAN is written:
//
//   vlan: 100                                      a tagged member of VLAN 100
//   vlan: {id: 100, tagging_mode: untagged}        or an untagged one
//   vlan: {id: 100, pcp: 3}                        whose tags all have PCP 3
#pragma once

#include "control/format/table.hpp"
#include "control/generators/vlan_row.hpp"

namespace softspine::control {

template <>
struct Words<TaggingMode> {
  static constexpr std::array all{std::pair{"tagged", TaggingMode::kTagged},
                                  std::pair{"untagged", TaggingMode::kUntagged}};
};

template <>
struct Format<VlanRow> {
  static bool read(Reader& reader, Value value, VlanRow& row);
  static Json schema(SchemaBook& book);
  static Json write(const VlanRow&) { return Json(); }
};

}  // namespace softspine::control
