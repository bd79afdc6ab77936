// SPDX-License-Identifier: Apache-2.0
#include "control/generators/ai_zone.hpp"

#include <algorithm>

namespace softspine::control {
namespace {

std::expected<void, WrongKey> shape_tier2(const AiZone& s, AiZoneShape& out) {
  out.links_per_ctsw = s.links_per_ctsw.value_or(1);
  out.ctsws = s.ctsws.value_or(0);
  if (!s.uplinks && !s.ctsws) return std::unexpected(WrongKey{"", "needs 'ctsws' or 'uplinks'"});
  if (!s.uplinks || (s.ctsws && s.links_per_ctsw)) return {};
  const auto uplinks =
      uplinks_for(double{1} * s.servers_per_rack * s.nics_per_server, s.host_link.rate, s.fabric_link.rate, *s.uplinks);
  if (!uplinks) return std::unexpected(WrongKey{"uplinks", "gives " + uplinks.error()});
  const uint32_t divisor = s.ctsws ? *s.ctsws : out.links_per_ctsw;
  if (*uplinks == 0 || *uplinks % divisor != 0) {
    const std::string share = s.ctsws ? " for " + std::to_string(divisor) + " CTSWs to share evenly"
                                      : " to be dealt " + std::to_string(divisor) + " to a CTSW";
    return std::unexpected(WrongKey{"uplinks", "gives an RTSW " + std::to_string(*uplinks) + " uplinks" + share});
  }
  out.ctsws = s.ctsws ? *s.ctsws : *uplinks / divisor;
  out.links_per_ctsw = *uplinks / out.ctsws;
  return {};
}

}  // namespace

AiZone AiZone::published_zone() {
  AiZone out;
  out.racks = 192;
  out.uplinks = Ratio{};
  out.host_link = LinkSpec::of(dataplane::Rate::gbps(400));
  out.fabric_link = LinkSpec::of(dataplane::Rate::gbps(400));
  return out;
}

AiZone AiZone::published_zones() {
  AiZone out = published_zone();
  out.zones = 8;
  out.zone_uplinks = Ratio{.down_thousandths = 7'000};
  return out;
}

std::expected<AiZoneShape, WrongKey> shape_of(const AiZone& s) {
  AiZoneShape out;
  if (const auto good = shape_tier2(s, out); !good) return std::unexpected(good.error());
  out.atsws = s.atsws.value_or(0);
  if (!s.zone_uplinks || s.atsws) return out;
  const dataplane::Rate up = s.zone_link.value_or(s.fabric_link).rate;
  const auto atsws =
      uplinks_for(double{1} * s.racks * out.links_per_ctsw, s.fabric_link.rate, up, *s.zone_uplinks, Rounding::kUp);
  if (!atsws) return std::unexpected(WrongKey{"zone_uplinks", "gives " + atsws.error()});
  out.atsws = *atsws;
  return out;
}

Size size_of(const AiZone& s) {
  const AiZoneShape shape = shape_of(s).value();
  const double racks = double{1} * s.zones * s.racks;
  const double nics = double{1} * s.servers_per_rack * s.nics_per_server;
  const double uplinks = double{1} * shape.ctsws * shape.links_per_ctsw;
  const double ctsws = double{1} * s.zones * shape.ctsws;
  return {.nodes = racks * (1 + nics) + ctsws + shape.atsws,
          .links = racks * (nics + uplinks) + ctsws * shape.atsws,
          .ports = std::max({nics + uplinks, double{1} * s.racks * shape.links_per_ctsw + shape.atsws,
                             shape.atsws == 0 ? 0 : ctsws})};
}

void draft(const AiZone& s, Draft& out) {
  const AiZoneShape shape = shape_of(s).value();
  std::vector<std::vector<uint32_t>> racks(s.zones);
  for (uint32_t zone = 0; zone < s.zones; ++zone) {
    for (uint32_t rack = 0; rack < s.racks; ++rack) {
      const uint32_t rtsw = out.add_switch(numbered("z", zone) + numbered("-rtsw", rack), Role::kTor);
      racks[zone].push_back(rtsw);
      for (uint32_t h = 0; h < s.servers_per_rack; ++h) {
        const std::string server = numbered("z", zone) + numbered("-h", uint64_t{rack} * s.servers_per_rack + h);
        for (uint32_t nic = 0; nic < s.nics_per_server; ++nic) {
          out.connect(rtsw, out.add_host(server + numbered("-nic", nic), server, nic + 1), s.host_link);
        }
      }
    }
  }
  std::vector<uint32_t> ctsws;
  for (uint32_t zone = 0; zone < s.zones; ++zone) {
    for (uint32_t c = 0; c < shape.ctsws; ++c) {
      ctsws.push_back(out.add_switch(numbered("z", zone) + numbered("-ctsw", c), Role::kAggregation));
      for (const uint32_t rtsw : racks[zone]) {
        for (uint32_t n = 0; n < shape.links_per_ctsw; ++n) out.connect(rtsw, ctsws.back(), s.fabric_link);
      }
    }
  }
  for (uint32_t a = 0; a < shape.atsws; ++a) {
    const uint32_t atsw = out.add_switch(numbered("atsw", a), Role::kCore);
    for (const uint32_t ctsw : ctsws) out.connect(ctsw, atsw, s.zone_link.value_or(s.fabric_link));
  }
}

}  // namespace softspine::control
