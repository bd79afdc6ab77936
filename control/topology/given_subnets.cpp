// SPDX-License-Identifier: Apache-2.0
#include "control/topology/given_subnets.hpp"

#include <algorithm>

#include "control/topology/planned_addresses.hpp"

namespace softspine::control {
namespace {

bool is_unicast(const Ipv4Prefix& p) {
  const uint32_t first = p.address.value >> 24;
  return p.length >= 8 && first != 0 && first != 127 && first < 224;
}

class GivenSubnets {
 public:
  GivenSubnets(Reader& reader, const Expanded& expanded)
      : reader_(reader), rows_(expanded.rows), fabric_(expanded.fabric), first_of_switch_(fabric_.nodes.size(), kNone) {
    for (uint32_t i = 0; i < fabric_.subnets.size(); ++i) {
      for (const uint32_t s : fabric_.subnets[i].switches) first_of_switch_[s] = std::min(first_of_switch_[s], i);
    }
  }

  std::vector<GivenSubnet> run() {
    std::vector<GivenSubnet> out(fabric_.subnets.size());
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) read(n, out);
    check_overlaps(out);
    return out;
  }

 private:
  void read(uint32_t n, std::vector<GivenSubnet>& given) {
    const NodeRow* row = rows_[n];
    if (row == nullptr || !row->subnet || fabric_.nodes[n].kind != NodeKind::kSwitch) return;
    const Value list = row->where.child("subnet");
    if (first_of_switch_[n] == kNone) {
      if (!fabric_.nodes[n].ports.empty())
        reader_.fail(list, fabric_.nodes[n].name + " has no host that could be in it");
      return;
    }
    GivenSubnet& into = given[first_of_switch_[n]];
    const std::vector<Value> places = list.each();
    for (size_t i = 0; i < std::min(places.size(), row->subnet->items.size()); ++i) {
      const Value where = places[i];
      if (const auto* v4 = std::get_if<Ipv4Prefix>(&row->subnet->items[i])) {
        take(*v4, into.v4, into.v4_where, where);
      } else {
        take(std::get<Ipv6Prefix>(row->subnet->items[i]), into.v6, into.v6_where, where);
      }
    }
  }

  template <typename P>
  void take(const P& prefix, std::optional<P>& into, Value& into_where, Value where) {
    if (prefix == P{}) return;  // could not be read
    if (!check_usable(prefix, where)) return;
    if (into && *into != prefix) {
      reader_.fail(where, to_string(prefix) + " differs from " + to_string(*into) + " of the same hosts");
      return;
    }
    into = prefix;
    into_where = where;
  }

  bool check_usable(const Ipv4Prefix& p, Value where) {
    if (!is_unicast(p) || p.length > 30)
      return reader_.fail(where, to_string(p) + " cannot number hosts: a unicast prefix of /8 to /30");
    const Ipv4Prefix loopbacks{{kLoopbacks}, 16};
    return !p.overlaps(loopbacks) ||
           reader_.fail(where, to_string(p) + " overlaps " + to_string(loopbacks) + ", the switches' loopbacks");
  }
  bool check_usable(const Ipv6Prefix& p, Value where) {
    const uint8_t first = p.address.bytes[0];
    if (p.length < 16 || p.length > 96 || first == 0 || first == 0xFF || first == 0xFE) {
      return reader_.fail(where, to_string(p) + " cannot number hosts: a unicast prefix of /16 to /96");
    }
    const Ipv6Prefix planned{planned_ipv6(0, 0, 0), 32};
    const Ipv6Prefix loopbacks{planned_ipv6(kLoopbackArea, 0, 0), 32};
    return (!p.overlaps(planned) && !p.overlaps(loopbacks)) ||
           reader_.fail(where, to_string(p) + " overlaps " + to_string(planned) + " or " + to_string(loopbacks) +
                                   ", which are planned from");
  }

  void check_overlaps(const std::vector<GivenSubnet>& given) {
    check_overlaps_of(given, &GivenSubnet::v4, &GivenSubnet::v4_where);
    check_overlaps_of(given, &GivenSubnet::v6, &GivenSubnet::v6_where);
  }

  // Prefixes nest or are disjoint: sorted, one overlaps the widest before it or none.
  template <typename P>
  void check_overlaps_of(const std::vector<GivenSubnet>& given, std::optional<P> GivenSubnet::* prefix,
                         Value GivenSubnet::* where) {
    std::vector<const GivenSubnet*> sorted;
    for (const GivenSubnet& g : given) {
      if (g.*prefix) sorted.push_back(&g);
    }
    std::ranges::sort(sorted,
                      [&](const GivenSubnet* a, const GivenSubnet* b) { return *(a->*prefix) < *(b->*prefix); });
    const GivenSubnet* widest = nullptr;
    for (const GivenSubnet* g : sorted) {
      if (widest == nullptr || !(*(widest->*prefix)).overlaps(*(g->*prefix))) {
        widest = g;
        continue;
      }
      const bool later = (g->*where).at().line >= (widest->*where).at().line;
      const GivenSubnet* at = later ? g : widest;
      const GivenSubnet* other = later ? widest : g;
      reader_.fail(at->*where, to_string(*(at->*prefix)) + " overlaps " + to_string(*(other->*prefix)) + " in line " +
                                   std::to_string((other->*where).at().line));
    }
  }

  Reader& reader_;
  const std::vector<const NodeRow*>& rows_;
  const Fabric& fabric_;
  std::vector<uint32_t> first_of_switch_;  // the first subnet that a switch serves
};

}  // namespace

std::vector<GivenSubnet> read_subnets(Reader& reader, const Expanded& expanded) {
  return GivenSubnets(reader, expanded).run();
}

}  // namespace softspine::control
