// SPDX-License-Identifier: Apache-2.0
// Counters of pauses that were read twice at switches and NICs, as the command line names their files: what each node
// counted in between, and what its watchdog found.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "analysis/storm/counted_roots.hpp"
#include "control/model/testbed.hpp"

namespace softspine::analysis {

class CounterReadings {
 public:
  // NODE=BEFORE,AFTER of a switch, NODE:PORT=BEFORE,AFTER of a NIC's port. The error is a sentence.
  std::expected<void, std::string> add(const std::string& text);

  // Takes links, hosts and numbers of ports from the testbed. The error is a sentence: a testbed of another fabric does
  // not describe this one.
  std::expected<void, std::string> fit(const control::Testbed& testbed);

  const storm::CountedFabric& fabric() const { return fabric_; }
  const std::vector<std::string>& watchdog() const { return watchdog_; }  // sentences

 private:
  storm::CountedNode& node_of(const std::string& name);

  storm::CountedFabric fabric_;
  std::vector<std::string> watchdog_;
};

}  // namespace softspine::analysis
