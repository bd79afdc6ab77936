// SPDX-License-Identifier: Apache-2.0
// The tables of the generators' parameters.
#include "control/rows/tables.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {
namespace {

const Limits<uint32_t> kSome = at_least<uint32_t>(1);

template <typename Spec>
bool check_size(Reader& reader, Value at, const Spec& spec) {
  const Size size = size_of(spec);
  const auto compare = [&](double found, double most, std::string_view what) {
    return found <= most ||
           reader.wrong(at, "too large: " + std::to_string(static_cast<uint64_t>(found)) + " " + std::string(what) +
                                ", at most " + std::to_string(static_cast<uint64_t>(most)));
  };
  const bool nodes = compare(size.nodes, kMaxNodes, "nodes");
  const bool links = compare(size.links, kMaxLinks, "links");
  return compare(size.ports, dataplane::kMaxPorts, "ports on one switch") && nodes && links;
}

}  // namespace

const Table<LeafSpine>& Tables<LeafSpine>::table() {
  static const Table<LeafSpine> table =
      Table<LeafSpine>("leaf-spine", "Every ToR linked to every spine.")
          .chosen_by("kind", "leaf-spine")
          .required("tors", &LeafSpine::tors, "how many", kSome)
          .required("spines", &LeafSpine::spines, "how many")
          .required("hosts_per_tor", &LeafSpine::hosts_per_tor, "how many")
          .optional("links_per_spine", &LeafSpine::links_per_spine, "parallel links", kSome)
          .required("host_link", &LeafSpine::host_link, "host to ToR")
          .required("fabric_link", &LeafSpine::fabric_link, "ToR to spine")
          .check(check_size<LeafSpine>);
  return table;
}

const Table<FatTree>& Tables<FatTree>::table() {
  static const Table<FatTree> table =
      Table<FatTree>("fat-tree", "A k-ary fat tree.")
          .chosen_by("kind", "fat-tree")
          .required(
              "k", &FatTree::k, "ports of a switch, pods of the tree: even",
              {.least = 2,
               .most = 256,
               .complaint =
                   [](const uint32_t& k) { return k % 2 == 0 ? "" : "must be even, not " + shown(std::to_string(k)); }})
          .optional("hosts_per_tor", &FatTree::hosts_per_tor, "k/2 if not given")
          .required("host_link", &FatTree::host_link, "host to ToR")
          .required("fabric_link", &FatTree::fabric_link, "ToR to aggregation")
          .optional("core_link", &FatTree::core_link, "aggregation to core; as fabric_link if not given")
          .check(check_size<FatTree>);
  return table;
}

const Table<Hpn>& Tables<Hpn>::table() {
  static const Table<Hpn> table =
      Table<Hpn>("hpn", "Alibaba HPN: rails, dual ToR, two planes.")
          .chosen_by("kind", "hpn")
          .required("segments", &Hpn::segments, "how many", kSome)
          .required("servers_per_segment", &Hpn::servers_per_segment, "how many")
          .optional("rails", &Hpn::rails, "NICs of a server", kSome)
          .optional("planes", &Hpn::planes, "2: each NIC's ports lead to disjoint planes; 1: both into one",
                    within<uint32_t>(1, 2))
          .required("aggregations_per_plane", &Hpn::aggregations_per_plane, "each linked to every ToR of its plane",
                    kSome)
          .optional("cores", &Hpn::cores, "how many, shared by the planes")
          .optional("core_uplinks", &Hpn::core_uplinks, "of an aggregation switch", kSome)
          .required("host_link", &Hpn::host_link, "NIC port to ToR")
          .required("fabric_link", &Hpn::fabric_link, "ToR to aggregation")
          .optional("core_link", &Hpn::core_link, "aggregation to core; as fabric_link if not given")
          .check(check_size<Hpn>);
  return table;
}

const Table<AiZone>& Tables<AiZone>::table() {
  static const Table<AiZone> table =
      Table<AiZone>("ai-zone", "Meta's AI zone: RTSW and CTSW, zones joined by ATSWs.")
          .chosen_by("kind", "ai-zone")
          .optional("zones", &AiZone::zones, "how many", kSome)
          .required("racks", &AiZone::racks, "of a zone; one RTSW each", kSome)
          .optional("servers_per_rack", &AiZone::servers_per_rack, "how many")
          .optional("nics_per_server", &AiZone::nics_per_server, "how many", kSome)
          .required("ctsws", &AiZone::ctsws, "of a zone", kSome)
          .optional("links_per_ctsw", &AiZone::links_per_ctsw, "parallel links of an RTSW to each", kSome)
          .optional("atsws", &AiZone::atsws, "each linked to every CTSW")
          .required("host_link", &AiZone::host_link, "NIC to RTSW")
          .required("fabric_link", &AiZone::fabric_link, "RTSW to CTSW")
          .optional("zone_link", &AiZone::zone_link, "CTSW to ATSW; as fabric_link if not given")
          .check(check_size<AiZone>);
  return table;
}

}  // namespace softspine::control
