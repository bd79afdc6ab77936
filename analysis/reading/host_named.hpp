// SPDX-License-Identifier: Apache-2.0
// Hosts and ports named on the command line. An unknown name is refused with the nearest name that there is.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/words.hpp"
#include "control/model/fabric.hpp"

namespace softspine::analysis {

inline std::vector<std::string_view> host_names(const control::Fabric& fabric) {
  std::vector<std::string_view> out;
  for (const control::FabricNode& node : fabric.nodes) {
    if (node.kind == control::NodeKind::kHost) out.push_back(node.name);
  }
  return out;
}

// The number of the host that an option ("--from") names.
inline std::expected<uint32_t, std::string> host_named(const control::Fabric& fabric, std::string_view option,
                                                       const std::string& name) {
  const auto found = std::ranges::find(fabric.nodes, name, &control::FabricNode::name);
  const bool is_node = found != fabric.nodes.end();
  if (is_node && found->kind == control::NodeKind::kHost) return static_cast<uint32_t>(found - fabric.nodes.begin());
  const std::string why = is_node ? ": it is a switch" : control::Guesser{}.guess(name, host_names(fabric));
  return std::unexpected(std::string(option) + ": there is no host " + control::shown(name) + why);
}

// The port that sends: of the host that "--from" names, the one that "--port" does.
inline std::expected<control::LinkEnd, std::string> sender_named(const control::Fabric& fabric, const std::string& name,
                                                                 uint16_t port) {
  const auto host = host_named(fabric, "--from", name);
  if (!host) return std::unexpected(host.error());
  const size_t ports = fabric.nodes[*host].ports.size();
  if (port < ports) return control::LinkEnd{*host, port};
  const std::string there = ports == 1 ? "one port, 0" : fmt::format("ports 0 to {}", ports - 1);
  return std::unexpected(fmt::format("--port: {} has no port {}, but {}", name, port, there));
}

enum class PortsOf : uint8_t { kSwitches, kAllNodes };

// ": did you mean 'tor1:Ethernet0'?", NODE:PORT; or nothing.
inline std::string guess_at_port(const control::Fabric& fabric, PortsOf among, std::string_view unknown) {
  std::vector<std::string> names;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (among == PortsOf::kSwitches && fabric.nodes[n].kind != control::NodeKind::kSwitch) continue;
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) names.push_back(fabric.name_of({n, p}));
  }
  return control::Guesser{}.guess(unknown, {names.begin(), names.end()});
}

// A name without a colon is looked for among the hosts, another among the ports of switches.
inline std::string guess_at_sender(const control::Fabric& fabric, std::string_view unknown) {
  if (unknown.find(':') != std::string_view::npos) return guess_at_port(fabric, PortsOf::kSwitches, unknown);
  return control::Guesser{}.guess(unknown, host_names(fabric));
}

}  // namespace softspine::analysis
