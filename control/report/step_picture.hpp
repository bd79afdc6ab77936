// SPDX-License-Identifier: Apache-2.0
// A picture of what ranks did over time: a row for each rank of each collective and training, from its first operation
// to the last of all. A row has
//
//   blue      computes          purple  reduces
//   green     sends             red     waits for others; the longest wait of the job has a frame
//
// Behind a job's rows stand its causes of waits, and the reason of that longest wait in words. Of a job with more than
// kRankRows ranks, those rows are drawn that waited longest.
#pragma once

#include <string>

#include "control/telemetry/steps_snapshot.hpp"

namespace softspine::control {

std::string step_picture(const StepsSnapshot& steps, const std::string& testbed);

}  // namespace softspine::control
