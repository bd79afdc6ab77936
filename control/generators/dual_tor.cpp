// SPDX-License-Identifier: Apache-2.0
#include "control/generators/dual_tor.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace softspine::control {
namespace {

constexpr uint32_t kTors = 2;  // of a segment

// A segment's two ToRs and its NICs, each with a port on both.
template <DualTorUse Use>
std::array<uint32_t, kTors> draft_segment(const DualTorClos<Use>& s, const std::string& name, Draft& out) {
  const std::array tors{out.add_switch(name + "-tor1", Role::kTor), out.add_switch(name + "-tor2", Role::kTor)};
  for (uint32_t h = 0; h < s.servers_per_segment; ++h) {
    const std::string server = name + numbered("-h", h);
    for (uint32_t nic = 0; nic < s.nics_per_server; ++nic) {
      const std::string host = s.nics_per_server == 1 ? server : server + numbered("-nic", nic);
      const uint32_t index = out.add_host(host, server, s.nics_per_server == 1 ? 0 : nic + 1);
      for (const uint32_t tor : tors) out.connect(tor, index, s.host_link);
    }
  }
  return tors;
}

}  // namespace

DcnPlus published_dcn_plus() {
  DcnPlus out;
  out.segments = 4;
  out.servers_per_segment = 16;
  out.aggregations = 8;
  out.cores = 64;
  out.host_link = LinkSpec::of(dataplane::Rate::gbps(200));
  out.fabric_link = LinkSpec::of(dataplane::Rate::gbps(400));
  return out;
}

template <DualTorUse Use>
std::expected<DualTorShape, WrongKey> shape_of(const DualTorClos<Use>& s) {
  DualTorShape out;
  if (s.links_per_aggregation) {
    out.links_per_aggregation = *s.links_per_aggregation;
  } else {
    const auto uplinks =
        uplinks_for(double{1} * s.servers_per_segment * s.nics_per_server, s.host_link.rate, s.fabric_link.rate, {});
    if (!uplinks)
      return std::unexpected(WrongKey{"", "1:1 would give " + uplinks.error() + ": give 'links_per_aggregation'"});
    if (*uplinks == 0 || *uplinks % s.aggregations != 0) {
      return std::unexpected(WrongKey{"aggregations", "1:1 would give a ToR " + std::to_string(*uplinks) +
                                                          " uplinks, which " + std::to_string(s.aggregations) +
                                                          " cannot share evenly: give 'links_per_aggregation'"});
    }
    out.links_per_aggregation = *uplinks / s.aggregations;
  }
  if (s.cores == 0) return out;
  if (s.core_uplinks) {
    out.core_uplinks = *s.core_uplinks;
    return out;
  }
  const auto uplinks = uplinks_for(double{kTors} * s.segments * out.links_per_aggregation, s.fabric_link.rate,
                                   s.core_link.value_or(s.fabric_link).rate, {});
  if (!uplinks) return std::unexpected(WrongKey{"", "1:1 would give " + uplinks.error() + ": give 'core_uplinks'"});
  out.core_uplinks = *uplinks;
  return out;
}

template <DualTorUse Use>
Size size_of(const DualTorClos<Use>& s) {
  const DualTorShape shape = shape_of(s).value();
  const double nics = double{1} * s.servers_per_segment * s.nics_per_server;
  const double tors = double{kTors} * s.segments;
  const double uplinks = double{1} * s.aggregations * shape.links_per_aggregation;
  const double core_links = double{1} * s.aggregations * shape.core_uplinks;
  const double at_core = s.cores == 0 ? 0 : s.pods * std::ceil(core_links / s.cores);
  return {.nodes = s.pods * (tors + s.segments * nics + s.aggregations) + s.cores,
          .links = s.pods * (kTors * s.segments * nics + tors * uplinks + core_links),
          .ports = std::max({nics + uplinks, tors * shape.links_per_aggregation + shape.core_uplinks, at_core})};
}

template <DualTorUse Use>
void draft(const DualTorClos<Use>& s, Draft& out) {
  const DualTorShape shape = shape_of(s).value();
  std::vector<uint32_t> aggregations;
  for (uint32_t pod = 0; pod < s.pods; ++pod) {
    const std::string place = s.pods == 1 ? "" : numbered("pod", pod) + "-";
    std::vector<uint32_t> tors;
    for (uint32_t segment = 0; segment < s.segments; ++segment) {
      const auto pair = draft_segment(s, place + numbered("s", segment), out);
      tors.insert(tors.end(), pair.begin(), pair.end());
    }
    for (uint32_t a = 0; a < s.aggregations; ++a) {
      aggregations.push_back(out.add_switch(place + numbered("agg", a), Role::kAggregation));
      for (const uint32_t tor : tors) {
        for (uint32_t n = 0; n < shape.links_per_aggregation; ++n) out.connect(tor, aggregations.back(), s.fabric_link);
      }
    }
  }
  std::vector<uint32_t> cores;
  for (uint32_t c = 0; c < s.cores; ++c) cores.push_back(out.add_switch(numbered("core", c), Role::kCore));
  for (size_t i = 0; i < aggregations.size(); ++i) {
    const uint64_t first = i % s.aggregations * shape.core_uplinks;  // alike in every pod
    for (uint32_t u = 0; u < shape.core_uplinks; ++u) {
      out.connect(aggregations[i], cores[(first + u) % s.cores], s.core_link.value_or(s.fabric_link));
    }
  }
}

template std::expected<DualTorShape, WrongKey> shape_of(const DcnPlus&);
template std::expected<DualTorShape, WrongKey> shape_of(const FrontEnd&);
template Size size_of(const DcnPlus&);
template Size size_of(const FrontEnd&);
template void draft(const DcnPlus&, Draft&);
template void draft(const FrontEnd&, Draft&);

}  // namespace softspine::control
