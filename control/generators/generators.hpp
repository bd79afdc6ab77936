// SPDX-License-Identifier: Apache-2.0
// The shapes that a fabric can be generated in. Each has its own parameters, a Size to be judged first, and `draft`,
// which makes nodes and links of them; its header is its manual. Names and dimensions by source: docs/fabrics.md.
#pragma once

#include <variant>

#include "control/generators/ai_zone.hpp"
#include "control/generators/bond_row.hpp"
#include "control/generators/dual_tor.hpp"
#include "control/generators/fat_tree.hpp"
#include "control/generators/hpn.hpp"
#include "control/generators/plain_fabrics.hpp"

namespace softspine::control {

using FabricSpec =
    std::variant<LeafSpine, FatTree, Hpn, AiZone, DcnPlus, FrontEnd, Star, BinaryFatTree, Clos, Crossbar>;

}  // namespace softspine::control
