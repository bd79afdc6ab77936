// SPDX-License-Identifier: Apache-2.0
// Counters of all nodes at rank 0, while each rank samples its own (counter_series.hpp): which of a rank's nodes go to
// rank 0 at a sample, and where they stand in the list of all.
#pragma once

#include <cstddef>
#include <vector>

#include "control/record/series.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/ranks.hpp"

namespace softspine::testbeds {

class JoinedSeries {
 public:
  // `all`: of all nodes at rank 0, as the run begins. `ranks` outlives this.
  JoinedSeries(const Ranks& ranks, const control::Fabric& fabric, control::FabricSnapshot all);

  // By all ranks at once: brings rank 0's copy up to date. `changes`: by port of `mine`: of switches, hosts, and edges.
  // `always`: also nodes without a port that has changed.
  void update(const control::FabricSnapshot& mine, const std::vector<control::PortChanges>& changes, bool always);

  const control::FabricSnapshot& all() const { return all_; }
  const std::vector<control::PortChanges>& changes() const { return changes_; }

 private:
  const Ranks& ranks_;
  control::FabricSnapshot all_;
  std::vector<control::PortChanges> changes_;
  // By rank, for its switches, then its hosts, then its edges: the place in the list of all, and the first of its ports
  // there.
  struct Place {
    size_t node = 0;
    size_t first_port = 0;
  };
  std::vector<std::vector<Place>> places_;
};

}  // namespace softspine::testbeds
