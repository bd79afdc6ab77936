// SPDX-License-Identifier: Apache-2.0
// SimAI's recorded flows (its decoupled replay): what each flow waits for, and for how long then.
//
//   2                                              so many flows; then one a line, its fields by spaces:
//   0 0 1 4096 0 0 1 RING 0 3 1 1 100 0 0 1 1 0 1 1 2 0
//   1 1 2 4096 0 0 1 RING 0 3 1 102 100 1 0 1 0 0 0 1 1 2 250
//
// flow_id src dst bytes channel chunk chunks connection start pg packets sport dport, then three counts with as many
// numbers each (prev, parents, children), then layer group op loopstate relative_delay_ns. Used are flow_id, src, dst,
// bytes, connection, prev, layer and relative_delay_ns; the others have to be numbers.
//
// A flow is a message of its own tag. It starts relative_delay_ns after the last of: the flows of `prev`, and all flows
// of the layer before its own, that is of the next lower number that flows have. A flow is over when its receiver has
// it whole. Another node than the receiver is told of that by a message of no bytes; that a layer is over is told to
// the node of the next layer's first flow, which tells those who send in it. In SimAI's replay both take no time, and
// each flow has a queue pair, where messages of one node to another follow each other on one here.
//
// Refused: a prev that is no flow, flows that wait for each other, flows by an NVSwitch (NVLS), files without
// relative_delay_ns, whose prev are ranks. Source: aliyun/SimAI, pull request 291.
//
// Maxima: ranks below 65,536, 2^20 flows, 2^22 of `prev` in all, 2 GiB a flow, delays of 10^15 ns. The first mistake of
// each kind is named.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "control/traces/goal.hpp"

namespace softspine::control {

struct SimaiFlows {
  SharedWork work;
  uint64_t flows = 0;
  uint64_t layers = 0;
  uint64_t waits = 0;                                        // of one flow for another, by `prev`
  uint64_t notices = 0;                                      // messages of no bytes that tell what is over
  uint64_t delayed = 0;                                      // flows with a delay
  std::map<std::string, uint64_t, std::less<>> connections;  // flows by the word of their connection
};

std::expected<SimaiFlows, Errors> read_simai_flows(std::string_view text, const std::string& name);
std::expected<SimaiFlows, Errors> load_simai_flows(const std::string& path);

}  // namespace softspine::control
