// SPDX-License-Identifier: Apache-2.0
#include "control/generators/generators.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace softspine::control {
namespace {

std::string numbered(std::string_view prefix, uint64_t i) {
  return std::string(prefix) + std::to_string(i + 1);
}

}  // namespace

std::string port_name(NodeKind kind, uint32_t number) {
  return kind == NodeKind::kSwitch ? "Ethernet" + std::to_string(number * 4) : "eth" + std::to_string(number);
}

uint32_t Draft::add_switch(std::string name, Role role, uint32_t plane) {
  const auto index = static_cast<uint32_t>(nodes.size());
  by_name.emplace(name, index);
  nodes.push_back({.name = std::move(name), .kind = NodeKind::kSwitch, .role = role, .plane = plane});
  return index;
}

uint32_t Draft::add_host(std::string name, std::string server) {
  const auto index = static_cast<uint32_t>(nodes.size());
  by_name.emplace(name, index);
  nodes.push_back({.name = std::move(name), .server = std::move(server)});
  return index;
}

void Draft::connect(uint32_t a, uint32_t b, const LinkSpec& spec) {
  const auto next_port = [this](uint32_t n) { return port_name(nodes[n].kind, nodes[n].ports++); };
  links.push_back({.a = {a, next_port(a), {}},
                   .b = {b, next_port(b), {}},
                   .rate = spec.rate,
                   .length = spec.length,
                   .mtu = spec.mtu,
                   .flow_control = spec.flow_control,
                   .pfc_response = spec.pfc_response});
}

Size size_of(const LeafSpine& s) {
  const double hosts = double{1} * s.tors * s.hosts_per_tor;
  const double uplinks = double{1} * s.spines * s.links_per_spine;
  return {.nodes = hosts + s.tors + s.spines,
          .links = hosts + s.tors * uplinks,
          .ports = std::max(s.hosts_per_tor + uplinks, double{1} * s.tors * s.links_per_spine)};
}

void draft(const LeafSpine& s, Draft& out) {
  std::vector<uint32_t> tors;
  for (uint32_t t = 0; t < s.tors; ++t) {
    tors.push_back(out.add_switch(numbered("tor", t), Role::kTor));
    for (uint32_t h = 0; h < s.hosts_per_tor; ++h) {
      out.connect(tors[t], out.add_host(numbered("h", uint64_t{t} * s.hosts_per_tor + h)), s.host_link);
    }
  }
  std::vector<uint32_t> spines;
  for (uint32_t i = 0; i < s.spines; ++i) spines.push_back(out.add_switch(numbered("spine", i), Role::kAggregation));
  for (const uint32_t tor : tors) {
    for (const uint32_t spine : spines) {
      for (uint32_t n = 0; n < s.links_per_spine; ++n) out.connect(tor, spine, s.fabric_link);
    }
  }
}

Size size_of(const FatTree& s) {
  const uint32_t half_of_ports = s.k / 2;
  const double half = half_of_ports;
  const double per_tor = s.hosts_per_tor ? *s.hosts_per_tor : half;
  const double hosts = s.k * half * per_tor;
  return {.nodes = hosts + 2 * s.k * half + half * half,
          .links = hosts + 2 * s.k * half * half,
          .ports = std::max<double>(s.k, per_tor + half)};
}

void draft(const FatTree& s, Draft& out) {
  const uint32_t half = s.k / 2;
  const uint32_t per_tor = s.hosts_per_tor.value_or(half);
  std::vector<uint32_t> edges;
  std::vector<uint32_t> aggregations;
  for (uint32_t pod = 0; pod < s.k; ++pod) {
    for (uint32_t e = 0; e < half; ++e) {
      const uint32_t edge = out.add_switch(numbered("p", pod) + numbered("-tor", e), Role::kTor);
      for (uint32_t h = 0; h < per_tor; ++h) {
        out.connect(edge, out.add_host(numbered("h", uint64_t{edges.size()} * per_tor + h)), s.host_link);
      }
      edges.push_back(edge);
    }
  }
  for (uint32_t pod = 0; pod < s.k; ++pod) {
    for (uint32_t a = 0; a < half; ++a) {
      aggregations.push_back(out.add_switch(numbered("p", pod) + numbered("-agg", a), Role::kAggregation));
      for (uint32_t e = 0; e < half; ++e) out.connect(edges[pod * half + e], aggregations.back(), s.fabric_link);
    }
  }
  for (uint32_t core = 0; core < half * half; ++core) {
    const uint32_t index = out.add_switch(numbered("core", core), Role::kCore);
    for (uint32_t pod = 0; pod < s.k; ++pod) {
      out.connect(aggregations[pod * half + core / half], index, s.core_link.value_or(s.fabric_link));
    }
  }
}

namespace {
constexpr uint32_t kTorsPerRail = 2;  // each NIC has one port on either
}

Size size_of(const Hpn& s) {
  const double tors = double{kTorsPerRail} * s.segments * s.rails;
  const double hosts = double{1} * s.segments * s.servers_per_segment * s.rails;
  const double aggregations = double{1} * s.planes * s.aggregations_per_plane;
  const double core_links = s.cores == 0 ? 0 : aggregations * s.core_uplinks;
  return {.nodes = tors + hosts + aggregations + s.cores,
          .links = 2 * hosts + tors * s.aggregations_per_plane + core_links,
          .ports = std::max({double{1} * s.servers_per_segment + s.aggregations_per_plane,
                             tors / s.planes + (s.cores == 0 ? 0 : s.core_uplinks),
                             s.cores == 0 ? 0 : s.planes * std::ceil(core_links / s.planes / s.cores)})};
}

void draft(const Hpn& s, Draft& out) {
  std::vector<uint32_t> tors;
  for (uint32_t segment = 0; segment < s.segments; ++segment) {
    for (uint32_t rail = 0; rail < s.rails; ++rail) {
      const std::string place = numbered("s", segment) + numbered("-r", rail);
      const uint32_t first = out.add_switch(place + "-tor1", Role::kTor, 0);
      const uint32_t second = out.add_switch(place + "-tor2", Role::kTor, s.planes - 1);
      tors.insert(tors.end(), {first, second});
      for (uint32_t h = 0; h < s.servers_per_segment; ++h) {
        const std::string server = numbered("s", segment) + numbered("-h", h);
        const uint32_t nic = out.add_host(server + numbered("-nic", rail), server);
        out.connect(first, nic, s.host_link);
        out.connect(second, nic, s.host_link);
      }
    }
  }
  std::vector<uint32_t> aggregations;
  for (uint32_t plane = 0; plane < s.planes; ++plane) {
    for (uint32_t a = 0; a < s.aggregations_per_plane; ++a) {
      const std::string name = s.planes == 1 ? numbered("agg", a) : numbered("p", plane) + numbered("-agg", a);
      aggregations.push_back(out.add_switch(name, Role::kAggregation, plane));
      for (const uint32_t tor : tors) {
        if (out.nodes[tor].plane == plane) out.connect(tor, aggregations.back(), s.fabric_link);
      }
    }
  }
  std::vector<uint32_t> cores;
  for (uint32_t c = 0; c < s.cores; ++c) cores.push_back(out.add_switch(numbered("core", c), Role::kCore));
  for (size_t i = 0; i < aggregations.size() && !cores.empty(); ++i) {
    // The same for the n-th switch of either plane, so that a core reaches both planes.
    const uint64_t in_plane = i % s.aggregations_per_plane;
    for (uint32_t u = 0; u < s.core_uplinks; ++u) {
      out.connect(aggregations[i], cores[(in_plane * s.core_uplinks + u) % s.cores],
                  s.core_link.value_or(s.fabric_link));
    }
  }
}

Size size_of(const AiZone& s) {
  const double racks = double{1} * s.zones * s.racks;
  const double nics = double{1} * s.servers_per_rack * s.nics_per_server;
  const double uplinks = double{1} * s.ctsws * s.links_per_ctsw;
  const double ctsws = double{1} * s.zones * s.ctsws;
  return {.nodes = racks * (1 + nics) + ctsws + s.atsws,
          .links = racks * (nics + uplinks) + ctsws * s.atsws,
          .ports = std::max({nics + uplinks, double{1} * s.racks * s.links_per_ctsw + s.atsws, ctsws})};
}

void draft(const AiZone& s, Draft& out) {
  std::vector<std::vector<uint32_t>> racks(s.zones);
  for (uint32_t zone = 0; zone < s.zones; ++zone) {
    for (uint32_t rack = 0; rack < s.racks; ++rack) {
      const uint32_t rtsw = out.add_switch(numbered("z", zone) + numbered("-rtsw", rack), Role::kTor);
      racks[zone].push_back(rtsw);
      for (uint32_t h = 0; h < s.servers_per_rack; ++h) {
        const std::string server = numbered("z", zone) + numbered("-h", uint64_t{rack} * s.servers_per_rack + h);
        for (uint32_t nic = 0; nic < s.nics_per_server; ++nic) {
          out.connect(rtsw, out.add_host(server + numbered("-nic", nic), server), s.host_link);
        }
      }
    }
  }
  std::vector<uint32_t> ctsws;
  for (uint32_t zone = 0; zone < s.zones; ++zone) {
    for (uint32_t c = 0; c < s.ctsws; ++c) {
      ctsws.push_back(out.add_switch(numbered("z", zone) + numbered("-ctsw", c), Role::kAggregation));
      for (const uint32_t rtsw : racks[zone]) {
        for (uint32_t n = 0; n < s.links_per_ctsw; ++n) out.connect(rtsw, ctsws.back(), s.fabric_link);
      }
    }
  }
  for (uint32_t a = 0; a < s.atsws; ++a) {
    const uint32_t atsw = out.add_switch(numbered("atsw", a), Role::kCore);
    for (const uint32_t ctsw : ctsws) out.connect(ctsw, atsw, s.zone_link.value_or(s.fabric_link));
  }
}

}  // namespace softspine::control
