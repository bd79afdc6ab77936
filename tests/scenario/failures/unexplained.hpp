// SPDX-License-Identifier: Apache-2.0
// What a report says of a run in which things have failed, and all was repaired.
#pragma once

#include <gtest/gtest.h>

#include "control/report/report.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::tests {

// Nothing is routed in a circle, every loss adds up and is a fault's, and all faults are over.
inline void expect_faults_explain_losses(const control::Json& report) {
  EXPECT_EQ(report["totals"]["drops"]["ttl_expired"], 0u);
  EXPECT_EQ(report["unexplained_losses"], control::Json::array()) << "lossless: what is lost is a fault's";
  EXPECT_EQ(report["totals"]["imbalances"], control::Json::array());
  for (const control::Json& fault : report["faults"]) {
    if (!fault.contains("loss_window")) continue;
    EXPECT_FALSE(fault["loss_window"]["ended_ps"].is_null()) << fault["what"];
  }
}

}  // namespace softspine::tests
