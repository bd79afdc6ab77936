// SPDX-License-Identifier: Apache-2.0
#include "control/topology/subnet_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kFirstPlanned = 0x0A000100;  // 10.0.1.0
constexpr uint32_t kEndPlanned = 0x0AFF0000;    // 10.255.0.0: loopbacks from here
constexpr uint32_t kReservedHosts = 3;          // network, gateway, broadcast

// What a switch's `subnet` says.
struct Given {
  std::optional<Ipv4Prefix> v4;
  std::optional<Ipv6Prefix> v6;
  Value v4_where;
  Value v6_where;
};

bool is_unicast(const Ipv4Prefix& p) {
  const uint32_t first = p.address.value >> 24;
  return p.length >= 8 && first != 0 && first != 127 && first < 224;
}

class SubnetPlan {
 public:
  SubnetPlan(Reader& reader, Expanded& out) : reader_(reader), out_(out), fabric_(out.fabric) {}

  void run() {
    group_hosts();
    std::vector<Given> given(fabric_.subnets.size());
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) read_given(n, given);
    check_overlaps(given);
    uint32_t cursor = kFirstPlanned;
    for (size_t i = 0; i < fabric_.subnets.size(); ++i) {
      Subnet& subnet = fabric_.subnets[i];
      subnet.v4 = given[i].v4 ? *given[i].v4 : next_planned(subnet, cursor);
      subnet.v6 = given[i].v6 ? *given[i].v6 : Ipv6Prefix{planned_ipv6(0, static_cast<uint32_t>(i) + 1, 0), 64};
      subnet.gateway4 = {subnet.v4.address.value + 1};
      subnet.gateway6 = ipv6_in(subnet.v6, 1);
    }
  }

 private:
  // What a host is attached to: the switches on the other side of its ports; for a pair back to back, the pair.
  std::vector<uint32_t> attached_to(uint32_t host) const {
    std::vector<uint32_t> out;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) {
      if (fabric_.nodes[host].ports[p].link == kNone) continue;
      const uint32_t peer = fabric_.peer_of({host, p}).node;
      out.push_back(peer);
      if (fabric_.nodes[peer].kind == NodeKind::kHost) out.push_back(host);
    }
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
  }

  void group_hosts() {
    std::map<std::vector<uint32_t>, uint32_t> groups;
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      FabricNode& node = fabric_.nodes[n];
      if (node.kind != NodeKind::kHost || node.ports.empty()) continue;
      auto switches = attached_to(n);
      const bool back_to_back = std::ranges::binary_search(switches, n);
      if (back_to_back && node.ports.size() > 1) {
        reader_.fail(
            out_.rows[n] == nullptr ? Value{} : out_.rows[n]->where,
            node.name + " is linked to a host and has another link: hosts do not forward, put a switch between");
      }
      const auto [group, is_new] = groups.emplace(switches, static_cast<uint32_t>(fabric_.subnets.size()));
      if (is_new) {
        if (back_to_back) switches.clear();
        fabric_.subnets.push_back({.switches = std::move(switches)});
      }
      node.subnet = group->second;
      fabric_.subnets[node.subnet].hosts.push_back(n);
    }
    first_of_switch_.assign(fabric_.nodes.size(), kNone);
    for (uint32_t i = 0; i < fabric_.subnets.size(); ++i) {
      for (const uint32_t s : fabric_.subnets[i].switches) first_of_switch_[s] = std::min(first_of_switch_[s], i);
    }
  }

  void read_given(uint32_t n, std::vector<Given>& given) {
    const NodeRow* row = out_.rows[n];
    if (row == nullptr || !row->subnet || fabric_.nodes[n].kind != NodeKind::kSwitch) return;
    const Value list = row->where.child("subnet");
    if (first_of_switch_[n] == kNone) {
      if (!fabric_.nodes[n].ports.empty())
        reader_.fail(list, fabric_.nodes[n].name + " has no host that could be in it");
      return;
    }
    Given& into = given[first_of_switch_[n]];
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
    const Ipv4Prefix loopbacks{{kEndPlanned}, 16};
    return !p.overlaps(loopbacks) ||
           reader_.fail(where, to_string(p) + " overlaps " + to_string(loopbacks) + ", the switches' loopbacks");
  }
  bool check_usable(const Ipv6Prefix& p, Value where) {
    const uint8_t first = p.address.bytes[0];
    if (p.length < 16 || p.length > 96 || first == 0 || first == 0xFF || first == 0xFE) {
      return reader_.fail(where, to_string(p) + " cannot number hosts: a unicast prefix of /16 to /96");
    }
    const Ipv6Prefix planned{planned_ipv6(0, 0, 0), 32};
    const Ipv6Prefix loopbacks{planned_ipv6(0xFFFF, 0, 0), 32};
    return (!p.overlaps(planned) && !p.overlaps(loopbacks)) ||
           reader_.fail(where, to_string(p) + " overlaps " + to_string(planned) + " or " + to_string(loopbacks) +
                                   ", which are planned from");
  }

  void check_overlaps(std::vector<Given>& given) {
    check_overlaps_of(given, &Given::v4, &Given::v4_where);
    check_overlaps_of(given, &Given::v6, &Given::v6_where);
    for (const Given& g : given) {
      if (g.v4) taken_.emplace(g.v4->address.value, g.v4->last().value);
    }
  }

  // Prefixes nest or are disjoint: sorted, one overlaps the widest before it or none.
  template <typename P>
  void check_overlaps_of(const std::vector<Given>& given, std::optional<P> Given::* prefix, Value Given::* where) {
    std::vector<const Given*> sorted;
    for (const Given& g : given) {
      if (g.*prefix) sorted.push_back(&g);
    }
    std::ranges::sort(sorted, [&](const Given* a, const Given* b) { return *(a->*prefix) < *(b->*prefix); });
    const Given* widest = nullptr;
    for (const Given* g : sorted) {
      if (widest == nullptr || !(*(widest->*prefix)).overlaps(*(g->*prefix))) {
        widest = g;
        continue;
      }
      const bool later = (g->*where).at().line >= (widest->*where).at().line;
      const Given* at = later ? g : widest;
      const Given* other = later ? widest : g;
      reader_.fail(at->*where, to_string(*(at->*prefix)) + " overlaps " + to_string(*(other->*prefix)) + " in line " +
                                   std::to_string((other->*where).at().line));
    }
  }

  Ipv4Prefix next_planned(const Subnet& subnet, uint32_t& cursor) {
    const uint64_t needed = subnet.hosts.size() + kReservedHosts;
    const auto size = static_cast<uint32_t>(std::bit_ceil(std::max<uint64_t>(needed, 256)));
    const auto length = static_cast<uint8_t>(32 - std::countr_zero(size));
    for (;;) {
      cursor = (cursor + size - 1) / size * size;
      const auto after = taken_.lower_bound(cursor);  // the first that begins here or later
      if (after != taken_.begin() && std::prev(after)->second >= cursor) {
        cursor = std::prev(after)->second + 1;
      } else if (after != taken_.end() && after->first - cursor < size) {
        cursor = after->second + 1;
      } else {
        break;
      }
    }
    const Ipv4Prefix out{{cursor}, length};
    if (cursor >= kEndPlanned || kEndPlanned - cursor < size) {
      if (!ran_out_) reader_.fail({}, "the hosts' IPv4 addresses run out (10.0.1.0 to 10.254.255.255)");
      ran_out_ = true;
      cursor = kFirstPlanned;
    }
    cursor += size;
    return out;
  }

  Reader& reader_;
  Expanded& out_;
  Fabric& fabric_;
  std::vector<uint32_t> first_of_switch_;  // the first subnet that a switch serves
  std::map<uint32_t, uint32_t> taken_;     // given IPv4 subnets: first and last address
  bool ran_out_ = false;
};

}  // namespace

Ipv6Address planned_ipv6(uint16_t area, uint32_t group, uint32_t number) {
  Ipv6Address out;
  out.bytes = {0xFD, 0x00, static_cast<uint8_t>(area >> 8), static_cast<uint8_t>(area)};
  for (size_t i = 0; i < 4; ++i) {
    out.bytes[4 + i] = static_cast<uint8_t>(group >> (24 - 8 * i));
    out.bytes[12 + i] = static_cast<uint8_t>(number >> (24 - 8 * i));
  }
  return out;
}

Ipv6Address ipv6_in(const Ipv6Prefix& prefix, uint32_t number) {
  Ipv6Address out = prefix.address;
  for (size_t i = 0; i < 4; ++i) out.bytes[12 + i] = static_cast<uint8_t>(out.bytes[12 + i] | (number >> (24 - 8 * i)));
  return out;
}

void plan_subnets(Reader& reader, Expanded& out) {
  SubnetPlan(reader, out).run();
}

}  // namespace softspine::control
