// SPDX-License-Identifier: Apache-2.0
#include "control/generators/plain_fabrics.hpp"

#include <algorithm>

namespace softspine::control {

Size size_of(const Star& s) {
  return {.nodes = s.hosts + 1.0, .links = double{1} * s.hosts, .ports = double{1} * s.hosts};
}

void draft(const Star& s, Draft& out) {
  const uint32_t tor = out.add_switch("tor1", Role::kTor);
  for (uint32_t h = 0; h < s.hosts; ++h) out.connect(tor, out.add_host(numbered("h", h)), s.host_link);
}

Size size_of(const Crossbar& s) {
  const double hosts = double{1} * s.inputs + s.outputs;
  return {.nodes = hosts + 1, .links = hosts, .ports = hosts};
}

void draft(const Crossbar& s, Draft& out) {
  const uint32_t crossbar = out.add_switch("crossbar1", Role::kTor);
  for (uint32_t i = 0; i < s.inputs; ++i) out.connect(crossbar, out.add_host(numbered("in", i)), s.host_link);
  for (uint32_t i = 0; i < s.outputs; ++i) out.connect(crossbar, out.add_host(numbered("out", i)), s.host_link);
  out.staged.push_back({.name = {}, .inputs = s.inputs, .outputs = s.outputs});
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

StagedFabric stages_of(const Clos& s) {
  const uint64_t channels = s.fabric_link.rate.count_bps() / s.host_link.rate.count_bps();
  return {.name = {},
          .inputs = s.n * s.r,
          .outputs = s.n * s.r,
          .m = s.m,
          .n = s.n,
          .r = s.r,
          .channels = static_cast<uint32_t>(std::min<uint64_t>(channels, UINT32_MAX))};
}

Size size_of(const Clos& s) {
  const double hosts = double{2} * s.n * s.r;
  return {.nodes = hosts + double{2} * s.r + s.m,
          .links = hosts + double{2} * s.r * s.m,
          .ports = std::max(double{1} * s.n + s.m, double{2} * s.r)};
}

void draft(const Clos& s, Draft& out) {
  std::vector<uint32_t> outer;
  const auto stage = [&](const char* name, const char* hosts) {
    for (uint32_t i = 0; i < s.r; ++i) {
      outer.push_back(out.add_switch(numbered(name, i), Role::kTor));
      for (uint32_t h = 0; h < s.n; ++h) {
        out.connect(outer.back(), out.add_host(numbered(hosts, uint64_t{i} * s.n + h)), s.host_link);
      }
    }
  };
  stage("ingress", "in");
  stage("egress", "out");
  std::vector<uint32_t> middle;
  for (uint32_t i = 0; i < s.m; ++i) middle.push_back(out.add_switch(numbered("middle", i), Role::kAggregation));
  for (const uint32_t each : outer) {
    for (const uint32_t to : middle) out.connect(each, to, s.fabric_link);
  }
  out.staged.push_back(stages_of(s));
}

}  // namespace softspine::control
