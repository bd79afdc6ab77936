// SPDX-License-Identifier: Apache-2.0
// The first half of expand: generators and rows become one Draft.
#pragma once

#include <map>
#include <vector>

#include "control/document/reader.hpp"
#include "control/generators/draft.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

struct Collected {
  Draft draft;
  std::vector<const NodeRow*> rows;      // by node of the draft
  std::vector<LagRow> lags;              // imported ones
  std::map<uint32_t, uint64_t> damaged;  // links of the draft on which frames arrive damaged: millionths
  bool names_known = true;               // false: the fabric could not be read
  bool links_known = true;               // false: some link could not
};

Collected collect(Reader& reader, const TestbedRow& row);

}  // namespace softspine::control
