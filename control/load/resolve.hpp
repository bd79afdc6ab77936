// SPDX-License-Identifier: Apache-2.0
// The steps from rows to a Testbed: names become indices, inheritance and defaults are applied.
// Each step reports errors to the reader and goes on.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/document/reader.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/expand.hpp"

namespace softspine::control {

// A base may stand after the profiles that build on it; a cycle of bases is an error. The result always has a
// "default", and of the built-in profiles those that are used by name or as a base.
std::vector<Profile> resolve_profiles(Reader& reader, const Named<ProfileRow>& rows,
                                      const std::vector<std::string_view>& wanted);

// Finds nodes by name, and reports a name that no node has.
class NodeFinder {
 public:
  NodeFinder(Reader& reader, const Expanded& expanded);
  std::optional<uint32_t> find(std::string_view name, Value where);
  const Fabric& fabric() const { return fabric_; }
  bool names_known() const { return names_known_; }

 private:
  Reader& reader_;
  const Fabric& fabric_;
  bool names_known_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<std::string_view> names_;
};

std::vector<Workload> resolve_workloads(Reader& reader, const std::vector<WorkloadRow>& rows, const RunConfig& run,
                                        NodeFinder& nodes);
// Link faults and host faults, each in its own list of the testbed.
void resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, Testbed& testbed, NodeFinder& nodes);
std::vector<Expectation> resolve_expectations(Reader& reader, const std::vector<ExpectRow>& rows);

}  // namespace softspine::control
