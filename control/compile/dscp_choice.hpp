// SPDX-License-Identifier: Apache-2.0
// The DSCP of workloads that name none: the lowest one that is lossless on every link of the workload's ways
// (service.hpp), and kUsualDscp where there is none.
#pragma once

#include "control/model/testbed.hpp"

namespace softspine::control {

void choose_dscps(Testbed& testbed);

}  // namespace softspine::control
