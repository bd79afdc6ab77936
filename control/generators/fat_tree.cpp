// SPDX-License-Identifier: Apache-2.0
#include "control/generators/fat_tree.hpp"

#include <algorithm>
#include <array>

namespace softspine::control {

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

Size size_of(const BinaryFatTree& s) {
  const uint64_t hosts = uint64_t{1} << s.levels;
  // Each level has as many links as there are hosts, also the one above the ToRs.
  return {.nodes = static_cast<double>(hosts + hosts - 1),
          .links = static_cast<double>(hosts * s.levels),
          .ports = static_cast<double>(s.levels == 1 ? 2 : std::max<uint64_t>(hosts, 4))};
}

void draft(const BinaryFatTree& s, Draft& out) {
  constexpr std::array kNames{"tor", "agg", "core"};
  const uint64_t hosts = uint64_t{1} << s.levels;
  std::vector<uint32_t> below;
  for (uint64_t t = 0; t < hosts / 2; ++t) {
    below.push_back(out.add_switch(numbered(kNames[0], t), Role::kTor));
    for (uint64_t h = 0; h < 2; ++h) out.connect(below.back(), out.add_host(numbered("h", t * 2 + h)), s.host_link);
  }
  uint32_t parallel = 2;
  for (uint32_t level = 1; level < s.levels; ++level, parallel *= 2) {
    std::vector<uint32_t> here;
    for (size_t i = 0; i < below.size() / 2; ++i) {
      here.push_back(out.add_switch(numbered(kNames[level], i), static_cast<Role>(level)));
      for (size_t child = 2 * i; child < 2 * i + 2; ++child) {
        for (uint32_t n = 0; n < parallel; ++n)
          out.connect(below[child], here.back(), s.fabric_link.value_or(s.host_link));
      }
    }
    below = std::move(here);
  }
}

}  // namespace softspine::control
