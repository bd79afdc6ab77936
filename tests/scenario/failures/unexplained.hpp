// SPDX-License-Identifier: Apache-2.0
// What a report says of a run in which things have failed, and all was repaired.
#pragma once

#include <gtest/gtest.h>

#include "control/telemetry/report.hpp"

namespace softspine::tests {

// A ToR asks all hosts of a subnet for one of them, and the others drop the request: 60 bytes, and the FCS.
inline bool is_of_address_resolution(const control::Json& loss) {
  return loss["reason"] == "not_for_us" && loss["bytes"] == 60 * loss["packets"].get<uint64_t>();
}

// Nothing is routed in a circle, every loss adds up and is a fault's, and all faults are over.
inline void expect_faults_explain_losses(const control::Json& report) {
  EXPECT_EQ(report["totals"]["drops"]["ttl_expired"], 0u);
  for (const control::Json& each : report["unexplained_losses"]) {
    EXPECT_TRUE(is_of_address_resolution(each)) << "lossless: what is lost is a fault's, not " << each;
  }
  EXPECT_EQ(report["totals"]["imbalances"], control::Json::array());
  for (const control::Json& fault : report["faults"]) {
    if (!fault.contains("loss_window")) continue;
    EXPECT_FALSE(fault["loss_window"]["ended_ps"].is_null()) << fault["what"];
  }
}

}  // namespace softspine::tests
