// SPDX-License-Identifier: Apache-2.0
// The observed flows, and the link of the group that each took.
//
// A flow that was seen on several links counts for the one where it was seen most often; such flows are counted, since
// a switch that hashes sends a flow by one link.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/identify/hashed_flow.hpp"

namespace softspine::analysis {

struct Observation {
  Flow flow;
  uint32_t link = 0;  // of Observations::links
};

struct Observations {
  std::vector<std::string> links;  // in natural order: Ethernet8 before Ethernet16
  std::vector<Observation> flows;  // each once
  uint64_t on_several_links = 0;   // flows
};

// Numbers within names count as numbers.
bool precedes_naturally(const std::string& a, const std::string& b);

class ObservationCollector {
 public:
  // A link of the group, whether or not a flow took it.
  void add_link(const std::string& link) { links_.try_emplace(link, 0); }
  void add(const Flow& flow, const std::string& link);
  size_t flows() const { return flows_.size(); }

  Observations take() &&;

 private:
  std::map<std::string, uint32_t> links_;                  // to its number
  std::map<Flow, std::map<std::string, uint64_t>> flows_;  // how often on each link
};

}  // namespace softspine::analysis
