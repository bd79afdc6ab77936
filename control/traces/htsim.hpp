// SPDX-License-Identifier: Apache-2.0
// htsim's connection matrices (.cm): flows between numbered nodes, and what starts them.
//
//   Nodes 16                                     as many ranks
//   Connections 2
//   Triggers 1                                   likewise Failures; both optional
//   0->13 id 1 start 0 size 2000000 recv_done_trigger 1
//   13->2 id 2 trigger 1 size 4096
//   trigger id 1 oneshot                         or multishot, or barrier count 3
//
// A flow is a message of its own tag, which its source sends at its start, in microseconds or picoseconds: uet-htsim's
// programs and csg-htsim's disagree. Lines with `msg` and one id are messages of one connection.
// recv_done_trigger fires when the message has come, send_done_trigger when its sender knows. A trigger starts its
// flows at its one firing; a barrier at the last of `count`. One node tells another of that by a message of no bytes,
// for all that this one starts; in htsim it takes no time. Messages of one node to another follow each other on one
// queue pair, where htsim has a connection for each flow. Refused: triggers without a type or a firing, with more
// firings than they wait for, multishots that leave a flow without one, flows that wait for each other, priorities,
// and failures, which are faults of a testbed. Source: ultraethernet/uet-htsim, Broadcom/csg-htsim.
//
// Maxima: 65,536 nodes, 2^20 flows, 2 GiB a flow, starts of 10^15 ns, 2^22 firings by flows that they start. The first
// mistake of each kind is named.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "control/model/trace_run.hpp"
#include "control/traces/goal.hpp"

namespace softspine::control {

std::expected<SharedWork, Errors> read_htsim(std::string_view text, const std::string& name, StartUnit unit);
std::expected<SharedWork, Errors> load_htsim(const std::string& path, StartUnit unit);

}  // namespace softspine::control
