// SPDX-License-Identifier: Apache-2.0
// From a row of WRED_PROFILE to the lines by which a queue marks and drops; reports what is missing or contradicts.
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/qos_rows.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::control {

dataplane::WredPlan wred_of(Reader& reader, const WredRow& row);

}  // namespace softspine::control
