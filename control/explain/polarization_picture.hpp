// SPDX-License-Identifier: Apache-2.0
// A picture of where flows go: SVG, a strip for each tier.
//
//   bars     a link each, switch by switch (their names below, where there is room): its flows over its share of what
//            came to its group. The scale ends at the tier's fullest link; nothing is cut.
//   colour   by the same: blue without a flow, grey at its share, red at twice as much and more; a legend says so
//   band     where an ideal hash would have 19 of 20 links, if all had as many flows to expect as they have on average
//   idle     links without a flow are marked below the line, side by side as one mark, so that they are seen in
//            thousands of links, too
// Names and numbers of each link are its tip, which a viewer shows at the pointer.
#pragma once

#include <string>

#include "control/explain/polarization.hpp"

namespace softspine::control {

std::string polarization_picture(const Fabric& fabric, const Polarization& found);

}  // namespace softspine::control
