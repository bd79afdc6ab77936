// SPDX-License-Identifier: Apache-2.0
// The tables of the generators' parameters: the fabrics of the HPN and AI-zone papers.
#include "control/rows/fabric_size.hpp"

namespace softspine::control {
namespace {

bool check_hpn(Reader& reader, Value at, const Hpn& spec) {
  if (!spec.shares_cores() && spec.cores % spec.planes != 0) {
    return reader.fail(at.child("cores"), "must be even: each plane has cores of its own, unless 'planes_meet: core'");
  }
  if (spec.planes == 1 && spec.planes_meet == PlanesMeet::kCore)
    return reader.fail(at.child("planes_meet"), "needs 'planes: 2'");
  return check_size(reader, at, spec);
}

// A named size has the ratios, and counts beside it go before them; in a file the two contradict each other.
bool check_ai_zone(Reader& reader, Value at, const AiZone& spec) {
  const auto given = [&](std::string_view key) { return at.child(key).path() != at.path(); };
  if (given("uplinks") && spec.ctsws && spec.links_per_ctsw)
    return reader.fail(at.child("uplinks"), "is what 'ctsws' and 'links_per_ctsw' say already");
  if (given("zone_uplinks") && spec.atsws) return reader.fail(at.child("zone_uplinks"), "is what 'atsws' says already");
  return check_shape_and_size(reader, at, spec);
}

template <DualTorUse Use>
Table<DualTorClos<Use>> dual_tor_table(std::string_view name, std::string_view help) {
  using Spec = DualTorClos<Use>;
  Table<Spec> table(name, help);
  table.chosen_by("kind", name)
      .optional("pods", &Spec::pods, "how many", kSome)
      .required("segments", &Spec::segments, "of a pod; two ToRs each", kSome)
      .required("servers_per_segment", &Spec::servers_per_segment, "how many", kSome)
      .optional("nics_per_server", &Spec::nics_per_server, "how many, each with a port on both ToRs", kSome)
      .required("aggregations", &Spec::aggregations, "aggregation switches of a pod", kSome)
      .optional("links_per_aggregation", &Spec::links_per_aggregation,
                "of a ToR to each; if not given, as many as make 1:1", kSome)
      .optional("cores", &Spec::cores, "how many")
      .optional("core_uplinks", &Spec::core_uplinks, "of an aggregation switch; if not given, as many as make 1:1",
                kSome)
      .required("host_link", &Spec::host_link, "NIC port to ToR")
      .required("fabric_link", &Spec::fabric_link, "ToR to aggregation")
      .optional("core_link", &Spec::core_link, "aggregation to core; as fabric_link if not given");
  with_hosts(table).check(check_shape_and_size<Spec>);
  return table;
}

}  // namespace

const Table<Hpn>& Tables<Hpn>::table() {
  static const Table<Hpn> table =
      with_hosts(
          Table<Hpn>("hpn", "Alibaba HPN: rails, dual ToR, two planes.")
              .chosen_by("kind", "hpn")
              .named_size("published", Hpn::published_pod(),
                          {"segments", "servers_per_segment", "aggregations_per_plane", "host_link", "fabric_link"})
              .named_size("published-segment", Hpn::published_segment(),
                          {"segments", "servers_per_segment", "aggregations_per_plane", "host_link", "fabric_link"})
              .optional("pods", &Hpn::pods, "how many", kSome)
              .required("segments", &Hpn::segments, "of a pod", kSome)
              .required("servers_per_segment", &Hpn::servers_per_segment, "how many")
              .optional("rails", &Hpn::rails, "NICs of a server", kSome)
              .optional("planes", &Hpn::planes, "2: each NIC's ports lead to disjoint planes; 1: both into one",
                        within<uint32_t>(1, 2))
              .optional("tier2", &Hpn::tier2, "rail-only: each rail has aggregation switches of its own")
              .required("aggregations_per_plane", &Hpn::aggregations_per_plane,
                        "of a pod, each linked to every ToR of its plane; rail-only: of a rail", kSome)
              .optional("cores", &Hpn::cores, "how many, of both planes together")
              .optional("core_uplinks", &Hpn::core_uplinks, "of an aggregation switch", kSome)
              .optional("planes_meet", &Hpn::planes_meet, "core: every core serves both planes")
              .required("host_link", &Hpn::host_link, "NIC port to ToR")
              .required("fabric_link", &Hpn::fabric_link, "ToR to aggregation")
              .optional("core_link", &Hpn::core_link, "aggregation to core; as fabric_link if not given")
              .optional("bond", &Hpn::bond, "of every NIC"))
          .check(check_hpn);
  return table;
}

const Table<AiZone>& Tables<AiZone>::table() {
  static const Table<AiZone> table =
      with_hosts(
          Table<AiZone>("ai-zone", "Meta's AI zone: RTSW and CTSW, zones joined by ATSWs.")
              .chosen_by("kind", "ai-zone")
              .named_size("published", AiZone::published_zone(), {"racks", "host_link", "fabric_link"})
              .named_size("published-zones", AiZone::published_zones(), {"racks", "host_link", "fabric_link"})
              .optional("zones", &AiZone::zones, "how many", kSome)
              .required("racks", &AiZone::racks, "of a zone; one RTSW each", kSome)
              .optional("servers_per_rack", &AiZone::servers_per_rack, "how many")
              .optional("nics_per_server", &AiZone::nics_per_server, "how many", kSome)
              .optional("ctsws", &AiZone::ctsws, "of a zone; needed without uplinks", kSome)
              .optional("links_per_ctsw", &AiZone::links_per_ctsw, "parallel links of an RTSW to each", kSome)
              .optional("uplinks", &AiZone::uplinks,
                        "an RTSW's bandwidth down to its bandwidth up, from which ctsws or links_per_ctsw follow")
              .optional("atsws", &AiZone::atsws, "each linked to every CTSW")
              .optional("zone_uplinks", &AiZone::zone_uplinks,
                        "a CTSW's bandwidth down to its bandwidth up at most, from which atsws follow")
              .required("host_link", &AiZone::host_link, "NIC to RTSW")
              .required("fabric_link", &AiZone::fabric_link, "RTSW to CTSW")
              .optional("zone_link", &AiZone::zone_link, "CTSW to ATSW; as fabric_link if not given"))
          .check(check_ai_zone);
  return table;
}

const Table<DcnPlus>& Tables<DcnPlus>::table() {
  static const Table<DcnPlus> table =
      dual_tor_table<DualTorUse::kBackEnd>("dcn-plus", "Alibaba DCN+: three tiers, dual ToR.")
          .named_size("published", published_dcn_plus(),
                      {"segments", "servers_per_segment", "aggregations", "host_link", "fabric_link"});
  return table;
}

const Table<FrontEnd>& Tables<FrontEnd>::table() {
  static const Table<FrontEnd> table = dual_tor_table<DualTorUse::kFrontEnd>(
      "front-end", "The network to storage and users: three tiers, dual ToR, 1:1.");
  return table;
}

}  // namespace softspine::control
