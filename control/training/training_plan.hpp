// SPDX-License-Identifier: Apache-2.0
// The order of a training step, as ASTRA-sim and SimAI go through a workload's layers.
//
//   step       forward      first layer to last: compute, collective, wait for it
//              backward     last layer to first: compute of the input's gradient, its collective, wait for it; compute
//                           of the weights' gradient, its collective, which goes on beside all that follows
//              update       last layer to first: wait for the weights' collective, update
//   one by one (MICRO)      each layer's three phases, each waited for, and its update: layer after layer
//
// A collective of one rank, or of no bytes, is none. Times are multiplied by `compute_millionths` / 10^6, rounded down
// to a picosecond.
// Source: aliyun/SimAI, astra-sim's Workload.cc. There a layer's weights are waited for before its next forward pass;
// here at the end of the step, so that a step ends with nothing under way: a rank's optimizer needs all gradients.
#pragma once

#include <span>

#include "control/model/training.hpp"
#include "control/training/parallel_groups.hpp"

namespace softspine::control {

enum class StepOrder : uint8_t { kStep, kOneByOne };

TrainingPlan plan_of(std::span<const TrainingLayer> layers, StepOrder order, const ParallelGroups& groups,
                     uint64_t compute_millionths);

}  // namespace softspine::control
