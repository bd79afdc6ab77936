// SPDX-License-Identifier: Apache-2.0
// The flows of a workload that differ from each other: read from a list, or drawn at a load.
#pragma once

#include <optional>
#include <string>

#include "control/document/reader.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/rows.hpp"
#include "control/traffic/size_distribution.hpp"

namespace softspine::control {

// The path of a file that a row names, from the folder of the row's own.
std::string path_beside(Value row, const std::string& name);

// Of its links together.
dataplane::Rate rate_of_host(const Fabric& fabric, uint32_t host);

class ListedFlows {
 public:
  ListedFlows(Reader& reader, const RunConfig& run, const Fabric& fabric)
      : reader_(reader), run_(run), fabric_(fabric) {}

  // `out.hosts`, which the row names, become `from`, `to` and `flows`. `number`: the workload's.
  void resolve(const WorkloadRow& row, uint32_t number, Workload& out);

 private:
  void read_list(const WorkloadRow& row, Workload& out);
  void draw(const WorkloadRow& row, uint32_t number, Workload& out);
  bool has_keys_to_draw(const WorkloadRow& row, const Workload& out);
  std::optional<SizeDistribution> sizes_of(const WorkloadRow& row);
  std::optional<std::string> text_of(Value key, const std::string& path, const std::string& name, size_t most,
                                     const std::string& known);

  Reader& reader_;
  const RunConfig& run_;
  const Fabric& fabric_;
};

}  // namespace softspine::control
