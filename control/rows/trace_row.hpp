// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "control/format/format.hpp"
#include "control/model/trace_run.hpp"
#include "control/model/workload.hpp"

namespace softspine::control {

struct TraceRow {
  Value where;
  std::string name;
  std::string file;
  TraceFormat format = TraceFormat::kGoal;
  std::optional<StartUnit> start_unit;
  std::optional<OneOrMore<std::string>> ranks;
  uint32_t window = TraceRun{}.window;
  dataplane::Duration post_cost;
  dataplane::Duration receive_cost;
  dataplane::Duration byte_cost;
  dataplane::Duration start;
  uint32_t mtu = Workload{}.mtu;
  std::optional<uint8_t> dscp;
  ReliableParameters reliable;
};

template <>
struct Words<TraceFormat> {
  static constexpr std::array all{std::pair{"goal", TraceFormat::kGoal}, std::pair{"chakra", TraceFormat::kChakra},
                                  std::pair{"htsim", TraceFormat::kHtsim},
                                  std::pair{"simai_flows", TraceFormat::kSimaiFlows}};
};
template <>
struct Words<StartUnit> {
  static constexpr std::array all{std::pair{"us", StartUnit::kMicroseconds}, std::pair{"ps", StartUnit::kPicoseconds}};
};

}  // namespace softspine::control
