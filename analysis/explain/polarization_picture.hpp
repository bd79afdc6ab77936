// SPDX-License-Identifier: Apache-2.0
// A picture of where flows go: SVG, a strip for each tier.
//
//   bars     one for each link, switch by switch (their names below, where there is room): the link's flows over its
//            share of the flows that came to its group. The scale ends at the tier's fullest link; nothing is cut.
//   colour   by the same ratio: blue without a flow, grey at 1, red at 2 and above; a legend explains it
//   band     where an ideal hash would have 19 of 20 links, if each had the average number of flows to expect
//   idle     links without a flow are marked below the line, side by side as one mark, so that they are seen in
//            thousands of links, too
// A tier of many links has a column for each switch instead: its links from those without a flow at the bottom to the
// fullest, in the same colours, 100 % high; dashes show how many would have no flow by chance. With many switches those
// side by side share a column.
// The name and numbers of a link, or of a column's links, are its tooltip.
#pragma once

#include <string>

#include "analysis/explain/polarization.hpp"

namespace softspine::analysis {

std::string polarization_picture(const control::Fabric& fabric, const Polarization& found);

}  // namespace softspine::analysis
