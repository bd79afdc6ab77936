// SPDX-License-Identifier: Apache-2.0
// The workload text that AICB writes and that SimAI and ASTRA-sim read: a model's layers.
//
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 128 …
//   2                                                                       how many layers
//   name -1  7520 ALLREDUCE 1024  7520 NONE 0  7520 REDUCESCATTER 4096  100
//
// or MICRO in the first line. A layer has 12 columns: name; a dependency, which is not read; forward, input gradient,
// weight gradient: nanoseconds of compute, a collective, its bytes; nanoseconds of update. A collective's group is the
// tensor-parallel one, of weight gradients the data-parallel one; with _EP behind it the experts', with _DP_EP that of
// data between experts. A name without a collective is NONE.
//
// What is not obeyed is told: further lines, a count that is not that of the lines (a published workload has one),
// keys of the first line. Recomputation (checkpoints above 0) and pipelines (pp above 1) are for the reader's caller.
// Maxima: 65,536 layers, 10^12 ns, 1 TiB.
// Source: aliyun/SimAI, Workload.cc; aliyun/aicb.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/imports/field_lines.hpp"
#include "control/model/training.hpp"

namespace softspine::control {

inline constexpr size_t kMaxTrainingLayers = 65'536;

struct SimaiWorkload {
  bool is_micro = false;
  ParallelSizes sizes;
  uint32_t pipeline = 1;
  uint32_t checkpoints = 0;
  std::optional<uint64_t> gpus;  // all_gpus
  std::vector<TrainingLayer> layers;
  std::vector<Error> notes;  // what it does not obey
};

std::optional<SimaiWorkload> read_simai_workload(std::string_view text, const std::string& name, ErrorsByKind& errors);

}  // namespace softspine::control
