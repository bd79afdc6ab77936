// SPDX-License-Identifier: Apache-2.0
// The NICs of a job, as workloads name them, in the order of its ranks:
//
//   job train               of all its servers
//   job train 3             of the server with rank 3; ranks count from 0
//   job train 0..7          of those with ranks 0 to 7; 7..0 in the other direction
//   job train 0..7 rail 2   the second NIC of each of them
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/model/job.hpp"

namespace softspine::control {

struct JobMembers {
  const Job* job = nullptr;     // found, though there may be no such rank in it
  std::vector<uint32_t> nodes;  // NICs
  std::vector<uint32_t> ranks;  // of each of them
  std::string wrong;            // why there are none
  std::string unknown;          // the name that no job has
};

bool is_job_set(std::string_view text);
JobMembers find_in_jobs(std::string_view text, std::span<const Job> jobs, const Fabric& fabric);

}  // namespace softspine::control
