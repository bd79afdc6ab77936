// SPDX-License-Identifier: Apache-2.0
// Small fabrics of every kind, and what of them may fail.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace softspine::tests {

struct FailingFabric {
  std::string_view kind;
  std::string_view text;  // `fabric:` or `topology:` of a testbed
};

inline constexpr std::array<FailingFabric, 8> kFailingFabrics{{
    {"leaf-spine",
     "fabric: {kind: leaf-spine, tors: 3, spines: 3, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
     "fabric_link: {rate: 100Gbps}}\n"},
    {"fat-tree", "fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"},
    {"hpn",
     "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, aggregations_per_plane: 2, cores: 2, "
     "core_uplinks: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"},
    {"hpn with one plane",
     "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 3, "
     "cores: 2, core_uplinks: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"},
    {"ai-zone",
     "fabric: {kind: ai-zone, zones: 2, racks: 2, servers_per_rack: 1, nics_per_server: 1, ctsws: 2, atsws: 2, "
     "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"},
    {"explicit nodes", R"(topology:
  nodes:
    a: {kind: switch, role: tor}
    b: {kind: switch, role: tor}
    c: {kind: switch, role: aggregation}
    d: {kind: switch, role: aggregation}
    h1: {kind: host}
    h2: {kind: host}
    h3: {kind: host}
  links:
    - {endpoints: [h1, a], rate: 100Gbps}
    - {endpoints: [h1, b], rate: 100Gbps}
    - {endpoints: [h2, a], rate: 100Gbps}
    - {endpoints: [h3, b], rate: 100Gbps}
    - {endpoints: [a, b], rate: 100Gbps}
    - {endpoints: [a, c], rate: 100Gbps}
    - {endpoints: [a, d], rate: 100Gbps}
    - {endpoints: [b, c], rate: 100Gbps}
    - {endpoints: [b, d], rate: 100Gbps}
    - {endpoints: [c, d], rate: 100Gbps}
)"},
    {"hpn with a stack",
     "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 2, "
     "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
     "topology:\n"
     "  links: [{endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 100Gbps}]\n"
     "  stacks: {rack: {switches: [s1-r1-tor1, s1-r1-tor2], keepalive_interval: 10us, keepalive_timeout: 50us, "
     "hold_timeout: 30us, delay_restore: 200us}}\n"},
    {"leaf-spine with LAGs",
     "fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 1, links_per_spine: 3, host_link: {rate: 100Gbps}, "
     "fabric_link: {rate: 100Gbps}}\n"
     "topology:\n"
     "  lags:\n"
     "    - {name: any, between: [tor1, spine1]}\n"
     "    - {name: two, between: [tor1, spine2], min_links: 2}\n"
     "    - {name: all, between: [tor2, spine1], min_links: 3}\n"
     "    - {name: some, between: [tor2, spine2], members: [\"tor2:Ethernet16\", \"tor2:Ethernet20\"]}\n"},
}};

}  // namespace softspine::tests
