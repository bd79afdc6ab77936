// SPDX-License-Identifier: Apache-2.0
// What a config_db.json says of the switch as a whole, once its tables are read.
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Keeps the rows of a chassis that are the switch's own: those of DEVICE_METADATA's hostname and asic_name or, without
// them, of the line card that comes first. The others are counted as ignored. A platform of DEVICE_METADATA that is
// known becomes the row's.
void finish_config_db(Reader& reader, ProfileRow& row);

}  // namespace softspine::control
