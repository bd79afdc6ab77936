// SPDX-License-Identifier: Apache-2.0
#include "control/topology/ports.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <unordered_map>

#include "control/document/words.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {
namespace {

const DraftEnd& end_of(const Draft& draft, const PlannedPort& port) {
  const DraftLink& link = draft.links[port.link];
  return port.is_b ? link.b : link.a;
}

void name_ports(Reader& reader, const Draft& draft, const DraftNode& node, std::vector<PlannedPort>& ports) {
  std::unordered_map<std::string_view, const PlannedPort*> used;
  for (const PlannedPort& port : ports) {
    if (port.name.empty()) continue;
    const auto [other, is_new] = used.emplace(port.name, &port);
    if (is_new) continue;
    const int line = end_of(draft, *other->second).where.at().line;
    reader.fail(end_of(draft, port).where,
                "the port " + node.name + ":" + port.name + " is taken by " +
                    (line > 0 ? "the link in line " + std::to_string(line) : "a generated link"));
  }
  uint32_t next = 0;
  for (PlannedPort& port : ports) {
    if (!port.name.empty()) continue;
    do port.name = port_name(node.kind, next++);
    while (used.contains(port.name));
  }
}

}  // namespace

bool port_before(std::string_view a, std::string_view b) {
  const auto key = [](std::string_view name) {
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    uint64_t number = 0;
    std::from_chars(name.data() + digits, name.data() + name.size(), number);
    return std::tuple(name.substr(0, digits), number, name);
  };
  return key(a) < key(b);
}

std::vector<std::vector<PlannedPort>> plan_ports(Reader& reader, const Draft& draft) {
  std::vector<std::vector<PlannedPort>> out(draft.nodes.size());
  for (uint32_t i = 0; i < draft.links.size(); ++i) {
    out[draft.links[i].a.node].push_back({draft.links[i].a.port, i, false});
    out[draft.links[i].b.node].push_back({draft.links[i].b.port, i, true});
  }
  for (size_t n = 0; n < out.size(); ++n) {
    name_ports(reader, draft, draft.nodes[n], out[n]);
    // Ports of generated fabrics are in order as they come.
    if (!std::ranges::is_sorted(out[n], port_before, &PlannedPort::name))
      std::ranges::stable_sort(out[n], port_before, &PlannedPort::name);
    if (out[n].size() > dataplane::kMaxPorts) {
      reader.fail(draft.nodes[n].where, draft.nodes[n].name + " has " + std::to_string(out[n].size()) +
                                            " ports, at most " + std::to_string(dataplane::kMaxPorts));
    }
  }
  return out;
}

}  // namespace softspine::control
