// SPDX-License-Identifier: Apache-2.0
#include "control/generators/draft.hpp"

#include <utility>

namespace softspine::control {

std::string port_name(NodeKind kind, uint32_t number) {
  return kind == NodeKind::kSwitch ? "Ethernet" + std::to_string(number * 4) : "eth" + std::to_string(number);
}

std::string numbered(std::string_view prefix, uint64_t i) {
  return std::string(prefix) + std::to_string(i + 1);
}

uint32_t Draft::add_switch(const std::string& name, Role role, uint32_t plane) {
  const auto index = static_cast<uint32_t>(nodes.size());
  nodes.push_back({.name = prefix + name, .kind = NodeKind::kSwitch, .role = role, .plane = plane});
  by_name.emplace(nodes.back().name, index);
  return index;
}

uint32_t Draft::add_host(const std::string& name, const std::string& server, uint32_t rail) {
  const auto index = static_cast<uint32_t>(nodes.size());
  nodes.push_back({.name = prefix + name,
                   .server = server.empty() ? "" : prefix + server,
                   .rail = rail,
                   .bond = bond,
                   .vlan = vlan});
  by_name.emplace(nodes.back().name, index);
  return index;
}

void Draft::connect(uint32_t a, uint32_t b, const LinkSpec& spec) {
  const auto next_port = [this](uint32_t n) { return port_name(nodes[n].kind, nodes[n].ports++); };
  links.push_back({.a = {a, next_port(a), {}},
                   .b = {b, next_port(b), {}},
                   .rate = spec.rate,
                   .length = spec.length,
                   .mtu = spec.mtu,
                   .parameters = spec.parameters});
}

}  // namespace softspine::control
