// SPDX-License-Identifier: Apache-2.0
// Which ranks of a training job do collectives together.
//
//   n ranks, T of a tensor-parallel group (TP), E of an expert-parallel one (EP): n / T = D is a multiple of E
//   rank r = d · T + t,  d = e' · E + e
//
//   tensor           equal d: T neighbours
//   data             equal t: all d
//   expert           equal t and e': E of those d
//   data_of_experts  equal t and e: D / E of them, which hold the same experts
//
// So every group is an arithmetic progression. There is one pipeline stage.
// Source: Megatron-LM's order tp-ep-dp, which SimAI's and AICB's workloads assume.
#pragma once

#include <cstdint>
#include <vector>

#include "control/model/training.hpp"

namespace softspine::control {

struct RankGroup {
  uint32_t first = 0;
  uint32_t stride = 1;
  uint32_t size = 1;

  uint32_t rank(uint32_t position) const { return first + position * stride; }
  uint32_t position_of(uint32_t rank) const { return (rank - first) / stride; }
  std::vector<uint32_t> all() const {
    std::vector<uint32_t> out(size);
    for (uint32_t i = 0; i < size; ++i) out[i] = rank(i);
    return out;
  }
};

class ParallelGroups {
 public:
  // They fit.
  ParallelGroups(uint32_t ranks, const ParallelSizes& sizes)
      : ranks_(ranks), tensor_(sizes.tensor), expert_(sizes.expert), data_(ranks / sizes.tensor) {}

  static bool fit(uint32_t ranks, const ParallelSizes& sizes) {
    return ranks % sizes.tensor == 0 && ranks / sizes.tensor % sizes.expert == 0;
  }

  uint32_t size(GroupKind kind) const {
    switch (kind) {
      case GroupKind::kTensor: return tensor_;
      case GroupKind::kData: return data_;
      case GroupKind::kExpert: return expert_;
      case GroupKind::kDataOfExperts: return data_ / expert_;
    }
    return 1;
  }
  uint32_t count(GroupKind kind) const { return ranks_ / size(kind); }
  uint32_t number_of(GroupKind kind, uint32_t rank) const {
    const uint32_t t = rank % tensor_;
    const uint32_t d = rank / tensor_;
    switch (kind) {
      case GroupKind::kTensor: return d;
      case GroupKind::kData: return t;
      case GroupKind::kExpert: return d / expert_ * tensor_ + t;
      case GroupKind::kDataOfExperts: return d % expert_ * tensor_ + t;
    }
    return 0;
  }
  RankGroup group(GroupKind kind, uint32_t number) const {
    const uint32_t t = number % tensor_;
    switch (kind) {
      case GroupKind::kTensor: return {number * tensor_, 1, tensor_};
      case GroupKind::kData: return {number, tensor_, data_};
      case GroupKind::kExpert: return {number / tensor_ * expert_ * tensor_ + t, tensor_, expert_};
      case GroupKind::kDataOfExperts: return {number, expert_ * tensor_, data_ / expert_};
    }
    return {};
  }
  RankGroup of(GroupKind kind, uint32_t rank) const { return group(kind, number_of(kind, rank)); }

 private:
  uint32_t ranks_;
  uint32_t tensor_;
  uint32_t expert_;
  uint32_t data_;
};

}  // namespace softspine::control
