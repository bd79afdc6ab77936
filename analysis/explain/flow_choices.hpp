// SPDX-License-Identifier: Apache-2.0
// The choices of each flow on its way: by walking it (walker.hpp), every hop at which a switch had more than one link
// for the flow's destination.
//
//   tier    the switches of one role that chose in one direction: "tor up", "aggregation down". Only tiers that flows
//           met are listed, in the order of the way: up from the hosts, then down
//           A LAG's members are chosen among in a tier of their own, after that: "tor up lags"
//   group   the links that one switch has for a destination, with the share that each should get (its buckets).
//           Destinations with the same links are in the same group, others in another one. A LAG is one link there, by
//           its first port; its members are a group of their own
//   shape   groups of one tier whose links should get the same shares, link by link
//   function  the hash function of a group's switch: switches that hash alike have one. In groups with one function and
//           one shape a key gets the same link: their choices can be compared, but are not independent
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/explain/walker.hpp"

namespace softspine::analysis {

// A packet of a flow and the port that it comes from.
struct FlowProbe {
  std::vector<uint8_t> frame;
  control::LinkEnd sender;
  uint64_t bytes = 0;        // that the flow sends in all; 0: not known
  uint32_t frame_bytes = 0;  // of the original, if the capture cut the frame; 0: `frame` is whole
};

struct ChoiceTier {
  std::string name;  // "aggregation up"
  control::Role role = control::Role::kTor;
  bool up = true;
  bool is_of_lags = false;
};

struct LinkGroup {
  uint32_t tier = 0;
  uint32_t node = 0;
  uint32_t shape = 0;
  uint32_t function = 0;
  bool is_hashed = true;                // else drawn for each packet, by ingress port or pinned
  bool is_lag = false;                  // its links are the members of a LAG, chosen by the LAGs' hash
  std::vector<control::LinkEnd> links;  // by port
  std::vector<double> weights;          // of each link; their sum is 1
  std::vector<uint16_t> by_bucket;      // which link each of the buckets leads to
};

struct MetChoice {
  uint32_t group = 0;
  uint32_t link = 0;  // of the group's
  uint64_t key = 0;   // a digest of what was hashed
};

struct FlowChoices {
  uint64_t arrived = 0;
  std::map<std::string, uint64_t> lost;  // those that do not arrive, by what becomes of them: a drop reason's name, …
  std::vector<ChoiceTier> tiers;
  std::vector<LinkGroup> groups;
  std::vector<MetChoice> met;    // flow by flow, in the order of its way
  std::vector<uint64_t> begins;  // where each flow's choices begin in `met`; at last, where they end
  std::vector<uint64_t> bytes;   // of each flow
  // The keys themselves of some flows, one for each of their choices: of flows that meet the same functions and shapes
  // up to 1,024, drawn from all of them.
  struct Sample {
    uint64_t flow = 0;
    std::vector<dataplane::HashKey> keys;
  };
  std::vector<Sample> samples;

  uint64_t flows() const { return bytes.size(); }
  std::span<const MetChoice> of(uint64_t flow) const {
    return std::span{met}.subspan(begins[flow], begins[flow + 1] - begins[flow]);
  }
};

// The hash by which a group's link is chosen.
const dataplane::EcmpHash& hash_of(Walker& walker, const LinkGroup& group);

FlowChoices choices_of(Walker& walker, const std::vector<FlowProbe>& flows);

}  // namespace softspine::analysis
