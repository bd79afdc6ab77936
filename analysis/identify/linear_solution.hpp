// SPDX-License-Identifier: Apache-2.0
// Whether any linear hash explains a sample: one that nobody has a name for, too.
//
// With 2^k members the link of a flow follows from k sums (exclusive or) of its bits and a constant. Two flows on one
// link then differ by a vector that all k sums send to zero. These vectors span a space D, by elimination; all
// differences span V. If the hash is linear, V has at most k dimensions more than D, and each link is one coset of D in
// V. Links that were thrown at random make D all of V as soon as there are a few more flows than bits that vary.
// Wrong observations: the same for some flows drawn at random, judged by all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/identify/sample.hpp"

namespace softspine::analysis {

// The bits of a flow that a sum takes, part by part.
struct SumPart {
  FlowPart part = FlowPart::kSource;
  std::vector<uint8_t> mask;  // by byte, as in the packet
};
using LinearSum = std::vector<SumPart>;  // parts without a bit are left out

struct LinearSolution {
  std::vector<LinearSum> sums;
  uint32_t agreeing = 0;  // flows
  double tried = 0;       // log2 of how many linear hashes there are
};

// Empty if no linear hash explains the flows (15 % may be wrong), the group has no 2^k members, or there are too few
// flows.
std::optional<LinearSolution> solve_linear(const Sample& sample);

}  // namespace softspine::analysis
