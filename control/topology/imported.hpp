// SPDX-License-Identifier: Apache-2.0
// The nodes and links of `topology: {import: …}`. As with generated nodes, the file may add to each.
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/collect.hpp"

namespace softspine::control {

// Parts that could not be mapped become warnings.
void add_imported(Reader& reader, const ImportRow& row, Collected& out);

}  // namespace softspine::control
