// SPDX-License-Identifier: Apache-2.0
// A collective's algorithm as somebody else has planned it: thread blocks of each rank, and their steps.
//
// A buffer is cut into `chunks`. Where the chunks are longer than a protocol's buffer has room for, all steps are done
// for a part of each chunk, then again for the next part: a loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/collective.hpp"

namespace softspine::control {

inline constexpr uint32_t kNoPeer = UINT32_MAX;
inline constexpr uint32_t kNoMark = UINT32_MAX;

enum class PlanPlace : uint8_t { kInput, kOutput, kScratch };

// Receives, adds what it reads, if anything, writes the sum, and sends it on. `adds`: to what is where it writes.
struct PlanStep {
  PlanPlace read_place = PlanPlace::kInput;
  PlanPlace write_place = PlanPlace::kInput;
  bool receives = false;
  bool sends = false;
  bool reads = false;
  bool writes = false;
  bool adds = false;
  uint32_t read_chunk = 0;
  uint32_t write_chunk = 0;
  uint32_t chunks = 0;
  uint32_t after = kNoMark;  // waits for the step of its rank that has this mark
  uint32_t mark = kNoMark;
  int line = 0;  // of the plan's file
};

struct PlanBlock {
  uint32_t id = 0;  // in the plan's file
  uint32_t to = kNoPeer;
  uint32_t from = kNoPeer;
  uint32_t channel = 0;
  int line = 0;
  std::vector<PlanStep> steps;
};

struct PlanRank {
  std::vector<PlanBlock> blocks;
  std::vector<uint32_t> order;  // of a loop's steps: the block whose next step it is
  uint32_t marks = 0;
  uint32_t scratch_chunks = 0;
};

struct CollectivePlan {
  std::string name;
  Collective collective = Collective::kAllReduce;
  CollectiveProtocol protocol = CollectiveProtocol::kSimple;
  bool in_place = false;  // input and output are one buffer
  uint32_t channels = 0;
  uint32_t chunks = 0;
  uint64_t min_bytes = 0;  // of those that it is meant for
  uint64_t max_bytes = UINT64_MAX;
  std::vector<PlanRank> ranks;
};

}  // namespace softspine::control
