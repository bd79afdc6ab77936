// SPDX-License-Identifier: Apache-2.0
#include "control/load/trace_files.hpp"

#include <utility>

#include "control/load/listed_flows.hpp"
#include "control/traces/chakra.hpp"
#include "control/traces/htsim.hpp"
#include "control/traces/simai_flows.hpp"

namespace softspine::control {

const TraceFiles::Read& TraceFiles::of(const TraceRow& row) {
  const auto found = read_.find(&row);
  return found != read_.end() ? found->second : read_.emplace(&row, load(row)).first->second;
}

TraceFiles::Read TraceFiles::load(const TraceRow& row) {
  const std::string path = path_beside(row.where, row.file);
  if (row.format == TraceFormat::kChakra) {
    const std::vector<std::string> files = chakra_files(path);
    for (const std::string& file : files) reader_.add_input(file);
    return load_chakra(path, files);
  }
  reader_.add_input(path);
  if (row.format == TraceFormat::kGoal) return load_goal(path);
  if (row.format == TraceFormat::kHtsim) return load_htsim(path, row.start_unit.value_or(TraceRun{}.start_unit));
  auto flows = load_simai_flows(path);
  if (!flows) return std::unexpected(std::move(flows.error()));
  return std::move(flows->work);
}

}  // namespace softspine::control
