// SPDX-License-Identifier: Apache-2.0
// The steps from rows to a Testbed: names become indices, inheritance and defaults are applied.
// Each step reports errors to the reader and goes on.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "control/document/reader.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/expand.hpp"
#include "control/topology/node_sets.hpp"

namespace softspine::control {

class TraceFiles;  // control/load/trace_files.hpp

// A base may stand after the profiles that build on it; a cycle of bases is an error. The result always has a
// "default", and of the built-in profiles those that are used by name or as a base.
std::vector<Profile> resolve_profiles(Reader& reader, const Named<ProfileRow>& rows,
                                      const std::vector<std::string_view>& wanted);

// Finds nodes by name, and sets of them (topology/node_sets.hpp); reports a name that no node has.
class NodeFinder {
 public:
  NodeFinder(Reader& reader, const Expanded& expanded);
  std::optional<uint32_t> find(std::string_view name, Value where);
  // Nothing if there is none.
  std::vector<uint32_t> find_all(std::string_view text, Value where, Among among);
  // From then on sets may name them; they must outlive this.
  void set_jobs(std::span<const Job> jobs) { sets_.set_jobs(jobs); }
  const Fabric& fabric() const { return fabric_; }
  bool names_known() const { return names_known_; }

 private:
  Reader& reader_;
  const Fabric& fabric_;
  bool names_known_;
  NodeSets sets_;
};

// ": did you mean 's1-*'?": a pattern that some of the names are like, or one of the names; or nothing.
std::string guess_at(Reader& reader, std::string_view unknown, const std::vector<std::string_view>& names);

// What files of NCCL's say of servers: which GPU a host has, and how fast the GPUs are joined. Reads them.
void resolve_servers(Reader& reader, const std::optional<TopologyRow>& row, NodeFinder& nodes, Fabric& fabric);
// Places the jobs: load/jobs.cpp. Reads the rows of workloads and traces, too: they say what ranks send to each other.
std::vector<Job> resolve_jobs(Reader& reader, const TestbedRow& row, uint64_t seed, const Fabric& fabric,
                              TraceFiles& files);
// Those of traces, collectives and trainings stand behind all others. If nothing was wrong, resolve_collectives(),
// resolve_trainings() and resolve_traces() say who sends to whom in them.
std::vector<Workload> resolve_workloads(Reader& reader, const TestbedRow& row, const RunConfig& run, NodeFinder& nodes);
void resolve_collectives(Reader& reader, const std::vector<CollectiveRow>& rows, const Fabric& fabric,
                         Testbed& testbed);
// Reads their files, as resolve_traces() does.
void resolve_trainings(Reader& reader, const std::vector<TrainingRow>& rows, const Fabric& fabric, Testbed& testbed);
void resolve_traces(Reader& reader, const std::vector<TraceRow>& rows, TraceFiles& files, Testbed& testbed);
// Judged by the routes with all links up: load/overrides.cpp.
std::vector<Override> resolve_overrides(Reader& reader, const std::vector<OverrideRow>& rows, NodeFinder& nodes);
std::optional<EngineeringConfig> resolve_engineering(Reader& reader, const std::optional<EngineeringRow>& row,
                                                     const RunConfig& run, NodeFinder& nodes);
// Link faults and host faults, each in its own list of the testbed.
void resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, Testbed& testbed, NodeFinder& nodes);
std::optional<Detection> resolve_detection(const std::optional<DetectionRow>& row);
std::vector<Expectation> resolve_expectations(Reader& reader, const std::vector<ExpectRow>& rows);

}  // namespace softspine::control
