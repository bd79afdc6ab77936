// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "tests/scenario/random/recount_pauses.hpp"

namespace softspine::tests {
namespace {

using control::LinkEnd;

struct PauseLine {
  int64_t ns = 0;
  int type = 0;
  auto operator<=>(const PauseLine&) const = default;
};
// By the port where they come in.
using PauseLines = std::map<LinkEnd, std::vector<PauseLine>>;

// Hosts from 0, then switches.
uint32_t ns3_number(const CapturedRun& run, uint32_t node) {
  const auto& nodes = run.testbed.fabric.nodes;
  uint32_t out = 0;
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    const bool is_before = nodes[n].kind == nodes[node].kind ? n < node : nodes[n].kind == control::NodeKind::kHost;
    if (is_before) ++out;
  }
  return out;
}

PauseLines captured_lines(const CapturedRun& run) {
  PauseLines out;
  for (const CapturedFrame& frame : run.captured.frames) {
    if (!frame.pause) continue;
    std::vector<PauseLine>& lines = out[run.testbed.fabric.peer_of(run.sender_of(frame))];
    bool stops[2] = {false, false};
    for (size_t p = 0; p < 8; ++p) {
      if ((frame.pause->priorities >> p & 1) != 0) stops[frame.pause->quanta[p] > 0 ? 1 : 0] = true;
    }
    for (const int type : {1, 0}) {
      if (stops[type]) lines.push_back({run.arrival_of(frame) / 1'000, type});
    }
  }
  return out;
}

}  // namespace

// PAUSE frames of other links are not read from captures.
void recount_pause_file(const CapturedRun& run, std::string_view file, Recount& out) {
  PauseLines wanted = captured_lines(run);
  std::map<std::pair<uint32_t, uint32_t>, LinkEnd> ports;
  for (const LinkEnd end : run.ends) ports[{ns3_number(run, end.node), end.port + 1U}] = end;
  PauseLines found;
  std::istringstream text{std::string(file)};
  PauseLine line;
  uint32_t node = 0;
  int is_switch = 0;
  uint32_t port = 0;
  while (text >> line.ns >> node >> is_switch >> port >> line.type) {
    const auto end = ports.find({node, port});
    if (end == ports.end() || (is_switch == 0) != run.is_host(end->second)) {
      out.findings.push_back(fmt::format("pause file: there is no node {} {} with a port {}", node, is_switch, port));
    } else {
      found[end->second].push_back(line);
    }
  }
  for (const LinkEnd end : run.ends) {
    if (run.link_of(end).parameters.flow_control != control::FlowControl::kPfc) continue;
    const auto& a = found[end];
    const auto& b = wanted[end];
    out.compared["pauses of a file"] += b.size();
    const auto is_same = [](const PauseLine& x, const PauseLine& y) {
      return x.type == y.type && (x.ns == y.ns || x.ns == y.ns + 1);
    };
    if (!std::ranges::equal(a, b, is_same))
      out.findings.push_back(fmt::format("pause file: {} has {} lines, other than the capture's {}",
                                         run.testbed.fabric.name_of(end), a.size(), b.size()));
  }
}

}  // namespace softspine::tests
