// SPDX-License-Identifier: Apache-2.0
// What an edge has dropped.
#pragma once

#include <numeric>

#include "dataplane/packet/drop_reason.hpp"

namespace softspine::tests {

inline uint64_t total(const dataplane::DropCounters& drops) {
  return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}
inline uint64_t count(const dataplane::DropCounters& drops, dataplane::DropReason reason) {
  return drops[static_cast<size_t>(reason)];
}

}  // namespace softspine::tests
