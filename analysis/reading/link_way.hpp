// SPDX-License-Identifier: Apache-2.0
// Which way a packet crosses a link, by the fabric's shape alone: no hash is asked.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/storm/capture_reader.hpp"
#include "control/model/fabric.hpp"

namespace softspine::analysis {

class LinkWay {
 public:
  // `fabric` must outlive it.
  explicit LinkWay(const control::Fabric& fabric) : fabric_(fabric) {}

  // At `port`, of a packet between two hosts, or kNone. Unknown if both are below the link's lower end, or neither is.
  storm::Way of(control::LinkEnd port, uint32_t source, uint32_t destination);

 private:
  bool is_below(uint32_t host, uint32_t node);

  const control::Fabric& fabric_;
  std::unordered_map<uint32_t, std::vector<bool>> below_;  // of nodes that were asked for: by node
};

}  // namespace softspine::analysis
