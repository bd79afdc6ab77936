// SPDX-License-Identifier: Apache-2.0
// Lists of flows, one a line, as researchers keep them:
//
//   hpcc   N, then N lines of SOURCE DESTINATION PRIORITY PORT BYTES START, in seconds: flow.txt of HPCC's ns-3 and of
//          SimAI's. Hosts are numbers; the port is not read. What stands after the N flows is not read either
//   csv    a line that names the columns, in any order: source, destination, bytes, start and, if it is there, dscp.
//          Hosts are names. Bytes are a number, or have a unit (1MiB); a start has a unit (10us), or is in seconds
//
// A list is read line by line: what it takes in memory is its text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "control/imports/field_lines.hpp"
#include "control/imports/flow_list_format.hpp"

namespace softspine::control {

struct FlowLine {
  Field from;  // as the file names it
  Field to;
  uint64_t bytes = 0;  // 1 to kMaxMessageBytes
  int64_t start_ps = 0;
  Field start;
  std::optional<uint8_t> priority;  // hpcc
  std::optional<uint8_t> dscp;      // that of the priority, or of the line itself
};

// The DSCP to which the AZURE maps give this traffic class; 0: they give none.
uint8_t azure_dscp_of(uint8_t priority);

// Calls see(line) for each flow that is right, and adds to `errors` what is wrong with the others; returns where there
// is more than the flows, if it is. `see` may add errors, too.
std::optional<Field> read_flow_list(std::string_view text, FlowListFormat format, ErrorsByKind& errors,
                                    const std::function<void(const FlowLine&)>& see);

}  // namespace softspine::control
