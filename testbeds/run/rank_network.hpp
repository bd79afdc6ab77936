// SPDX-License-Identifier: Apache-2.0
// The network between ranks, on the wall clock: how long a meeting takes, and whether the fabric leaves time for it.
//
// Between two meetings the fabric goes on by one window at most: what a rank sends reaches no other one earlier. A
// window is the latency of the shortest link between parts (rank_plan.hpp); at a dilation it lasts so many times longer
// by the wall clock. So a meeting, which takes one way through the network, has to be shorter, or the fabric falls
// behind for good.
#pragma once

#include <cstdint>
#include <string>

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/ranks/rank_talk.hpp"
#include "testbeds/run/rank_plan.hpp"

namespace softspine::testbeds {

struct RankNetwork {
  control::RankMeetingTime meeting;
  int64_t mean_ps = 0;  // of a meeting: what counts for a run of many
};

// By all ranks at once, before the run: some hundred meetings without a message, or those of a second. All get the same
// numbers, the slowest rank's.
RankNetwork measure_network(dataplane::RankTalk& talk);

// Empty: a window of the plan lasts longer than a meeting. Else a sentence with what would do.
std::string too_slow_for(const RankNetwork& network, const RankPlan& plan, int64_t dilation);

}  // namespace softspine::testbeds
