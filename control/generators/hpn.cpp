// SPDX-License-Identifier: Apache-2.0
#include "control/generators/hpn.hpp"

#include <algorithm>
#include <cmath>

namespace softspine::control {
namespace {

constexpr uint32_t kTorsPerRail = 2;  // each NIC has one port on either

class HpnDraft {
 public:
  HpnDraft(const Hpn& spec, Draft& out) : s_(spec), out_(out) {}

  void run() {
    for (uint32_t pod = 0; pod < s_.pods; ++pod) {
      const std::string place = s_.pods == 1 ? "" : numbered("pod", pod) + "-";
      tors_.clear();
      for (uint32_t segment = 0; segment < s_.segments; ++segment) add_segment(place + numbered("s", segment));
      for (uint32_t plane = 0; plane < s_.planes; ++plane) add_tier2(place, plane);
    }
    if (s_.cores == 0) return;
    const uint32_t groups = s_.shares_cores() ? 1 : s_.planes;
    for (uint32_t group = 0; group < groups; ++group) {
      const std::string name = groups == 1 ? "core" : numbered("p", group) + "-core";
      for (uint32_t c = 0; c < s_.cores / groups; ++c) {
        cores_.push_back(out_.add_switch(numbered(name, c), Role::kCore, group));
      }
    }
    for (const auto& [index, plane, in_plane] : aggregations_) join_core(index, groups == 1 ? 0 : plane, in_plane);
  }

 private:
  struct Tor {
    uint32_t index;
    uint32_t rail;
    uint32_t plane;
  };
  struct Aggregation {
    uint32_t index;
    uint32_t plane;
    uint32_t in_plane;  // number within its pod and plane
  };

  void add_segment(const std::string& name) {
    for (uint32_t rail = 0; rail < s_.rails; ++rail) {
      const std::string place = name + numbered("-r", rail);
      const uint32_t first = out_.add_switch(place + "-tor1", Role::kTor, 0);
      const uint32_t second = out_.add_switch(place + "-tor2", Role::kTor, s_.planes - 1);
      tors_.push_back({first, rail, 0});
      tors_.push_back({second, rail, s_.planes - 1});
      for (uint32_t h = 0; h < s_.servers_per_segment; ++h) {
        const std::string server = name + numbered("-h", h);
        const uint32_t nic = out_.add_host(server + numbered("-nic", rail), server, rail + 1);
        out_.connect(first, nic, s_.host_link);
        out_.connect(second, nic, s_.host_link);
      }
    }
  }

  void add_tier2(const std::string& place, uint32_t plane) {
    const bool by_rail = s_.tier2 == Tier2::kRailOnly;
    const std::string of_plane = s_.planes == 1 ? place : place + numbered("p", plane) + "-";
    uint32_t in_plane = 0;
    for (uint32_t rail = 0; rail < (by_rail ? s_.rails : 1); ++rail) {
      const std::string name = of_plane + (by_rail ? numbered("r", rail) + "-agg" : "agg");
      for (uint32_t a = 0; a < s_.aggregations_per_plane; ++a, ++in_plane) {
        const uint32_t index = out_.add_switch(numbered(name, a), Role::kAggregation, plane);
        aggregations_.push_back({index, plane, in_plane});
        for (const Tor& tor : tors_) {
          if (tor.plane == plane && (!by_rail || tor.rail == rail)) out_.connect(tor.index, index, s_.fabric_link);
        }
      }
    }
  }

  void join_core(uint32_t aggregation, uint32_t group, uint64_t in_plane) {
    const uint64_t count = s_.shares_cores() ? s_.cores : s_.cores / s_.planes;
    for (uint32_t u = 0; u < s_.core_uplinks; ++u) {
      const uint64_t core = group * count + (in_plane * s_.core_uplinks + u) % count;
      out_.connect(aggregation, cores_[core], s_.core_link.value_or(s_.fabric_link));
    }
  }

  const Hpn& s_;
  Draft& out_;
  std::vector<Tor> tors_;  // of the pod
  std::vector<Aggregation> aggregations_;
  std::vector<uint32_t> cores_;
};

}  // namespace

Hpn Hpn::published_segment() {
  Hpn out;
  out.segments = 1;
  out.servers_per_segment = 128;
  out.aggregations_per_plane = 60;
  out.host_link = LinkSpec::of(dataplane::Rate::gbps(200));
  out.fabric_link = LinkSpec::of(dataplane::Rate::gbps(400));
  return out;
}

Hpn Hpn::published_pod() {
  Hpn out = published_segment();
  out.segments = 15;
  out.cores = 16;
  out.core_uplinks = 8;
  return out;
}

Size size_of(const Hpn& s) {
  const double tors = double{kTorsPerRail} * s.segments * s.rails;  // of a pod
  const double hosts = double{1} * s.segments * s.servers_per_segment * s.rails;
  const double groups = s.tier2 == Tier2::kRailOnly ? s.rails : 1;  // of aggregation switches, by plane
  const double in_plane = groups * s.aggregations_per_plane;
  const double core_links = s.cores == 0 ? 0 : in_plane * s.core_uplinks;  // of a pod's plane
  const double cores = s.shares_cores() ? s.cores : double{1} * s.cores / s.planes;
  const double at_core = s.cores == 0 ? 0 : std::ceil(core_links / cores) * (s.shares_cores() ? s.planes : 1);
  return {.nodes = s.pods * (tors + hosts + s.planes * in_plane) + s.cores,
          .links = s.pods * (2 * hosts + tors * s.aggregations_per_plane + s.planes * core_links),
          .ports = std::max({double{1} * s.servers_per_segment + s.aggregations_per_plane,
                             tors / s.planes / groups + (s.cores == 0 ? 0 : s.core_uplinks), s.pods * at_core})};
}

void draft(const Hpn& s, Draft& out) {
  out.bond = s.bond ? &*s.bond : nullptr;
  HpnDraft(s, out).run();
  out.bond = nullptr;
}

}  // namespace softspine::control
