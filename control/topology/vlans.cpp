// SPDX-License-Identifier: Apache-2.0
#include "control/topology/vlans.hpp"

#include <map>
#include <set>
#include <utility>

namespace softspine::control {
namespace {

class VlanJoin {
 public:
  VlanJoin(Reader& reader, Expanded& out) : reader_(reader), out_(out), fabric_(out.fabric) {}

  void run() {
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].kind == NodeKind::kHost) join(n);
    }
  }

 private:
  void join(uint32_t n) {
    const NodeRow* const row = out_.rows[n];
    const bool has_own = row != nullptr && row->vlan.has_value();
    const VlanRow* const given = has_own ? &*row->vlan : out_.vlans[n];
    if (given == nullptr || !check_switches(n, *given, has_own)) return;
    if (!has_the_others_switches(n, *given)) return;
    HostVlan& vlan = fabric_.nodes[n].vlan;
    vlan = {.id = given->id, .is_tagged = given->tagging_mode == TaggingMode::kTagged, .pcp = given->pcp};
    if (is_builtin(fabric_.nodes[n].attachment)) return;
    if (given->pcp && has_own)
      reader_.fail(given->where.child("pcp"),
                   "is for built-in hosts: what stands behind " + fabric_.nodes[n].name + " makes its tags itself");
    vlan.pcp = 0;  // as Linux has it without an egress-qos-map
  }

  // Only a ToR bridges. The error names the first of a fabric's hosts to which this does not apply.
  bool check_switches(uint32_t n, const VlanRow& given, bool is_own) {
    const FabricNode& node = fabric_.nodes[n];
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      if (node.ports[p].link == kNone) continue;
      const FabricNode& peer = fabric_.nodes[fabric_.peer_of({n, p}).node];
      if (peer.kind == NodeKind::kSwitch && bridges_hosts(peer.role)) continue;
      if (!is_own && !reported_.insert(&given).second) return false;
      const std::string what = peer.kind == NodeKind::kHost
                                   ? "a host: VLANs are a switch's"
                                   : "of role " + name_of(peer.role) + ", whose ports are routed";
      return reader_.fail(given.where, node.name + " is linked to " + peer.name + ", " + what);
    }
    return true;
  }

  // A VLAN of a switch is one subnet, and the hosts of a subnet are at the same switches.
  bool has_the_others_switches(uint32_t n, const VlanRow& given) {
    const std::set<uint32_t> own = switches_of(n);
    for (const uint32_t at : own) {
      const uint32_t first = first_host_.emplace(std::pair{at, given.id}, n).first->second;
      if (first == n || switches_of(first) == own) continue;
      return reader_.fail(given.where, fabric_.nodes[n].name + " and " + fabric_.nodes[first].name + " meet at " +
                                           fabric_.nodes[at].name + " in VLAN " + std::to_string(given.id) +
                                           ", and one of them is at another switch, too: give them VLANs of their own");
    }
    return true;
  }

  std::set<uint32_t> switches_of(uint32_t host) const {
    std::set<uint32_t> out;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) {
      if (fabric_.nodes[host].ports[p].link != kNone) out.insert(fabric_.peer_of({host, p}).node);
    }
    return out;
  }

  Reader& reader_;
  Expanded& out_;
  Fabric& fabric_;
  std::set<const VlanRow*> reported_;
  std::map<std::pair<uint32_t, uint16_t>, uint32_t> first_host_;  // by switch and VLAN
};

}  // namespace

void join_vlans(Reader& reader, Expanded& out) {
  VlanJoin(reader, out).run();
}

}  // namespace softspine::control
