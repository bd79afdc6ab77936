// SPDX-License-Identifier: Apache-2.0
// Observations as the search takes them: flows of one IP version with their frames, links by number.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analysis/identify/observations.hpp"

namespace softspine::analysis {

struct Sample {
  std::vector<Flow> flows;
  std::vector<FlowFrame> frames;
  std::vector<uint32_t> links;  // by flow
  uint32_t link_count = 0;      // that have names
  uint32_t members = 0;         // of the group
  bool is_ipv6 = false;

  size_t size() const { return flows.size(); }
  uint32_t links_seen() const;
};

// Two flows of a sample.
struct FlowPair {
  uint32_t first = 0;
  uint32_t second = 0;
};

// The flows of the IP version that more of them have; of many, each second, third, …: at most 4,096.
Sample sample_of(const Observations& observations, uint32_t members);
// The flows of the sample for which `keep` is true.
Sample part_of(const Sample& sample, const std::vector<bool>& keep);

// Pairs that took the same link: the first flow of each link with each other one.
std::vector<FlowPair> pairs_on_one_link(const Sample& sample);

// Parts with more than one value.
std::set<FlowPart> varied_parts(const Sample& sample);
// True if all flows go from the smaller address to the larger one, or all the other way: then a symmetric hash, which
// swaps the two, cannot be distinguished from one that takes the other end's fields.
bool goes_one_way(const Sample& sample);
// True if addresses and source ports have eight values each: few flows would then fit two hashes by a lack of variety.
bool is_rich(const Sample& sample);
// Parts that the hash must take, since flows that differ in nothing else took different links. If observations may be
// wrong, more than half of at least eight such pairs have to prove it.
std::set<FlowPart> proven_parts(const Sample& sample, bool may_be_wrong);

}  // namespace softspine::analysis
