// SPDX-License-Identifier: Apache-2.0
// The nodes and links of `fabric` and of each of `fabrics`, whose names begin with the fabric's: front-s1-tor1.
//
// `servers_of: back` in a fabric: its hosts are further NICs of the servers of `back`, which are taken in their order.
#pragma once

#include "control/document/reader.hpp"
#include "control/generators/draft.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// False if some fabric could not be read, so that its nodes are not known.
bool collect_generated(Reader& reader, const TestbedRow& row, Draft& out);

}  // namespace softspine::control
