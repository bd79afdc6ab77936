// SPDX-License-Identifier: Apache-2.0
#include "control/load/without_effect.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "control/document/words.hpp"
#include "control/rows/row_formats.hpp"
#include "control/topology/node_sets.hpp"
#include "dataplane/flow_control/whole_link.hpp"

namespace softspine::control {
namespace {

std::string printed(dataplane::Rate rate) {
  return print_quantity(static_cast<int64_t>(rate.count_bps()), kRateQuantity);
}
std::string printed(dataplane::Duration duration) {
  return print_quantity(duration.count_ps(), kDurationQuantity);
}

class Finder {
 public:
  Finder(Reader& reader, const TestbedRow& row, const Testbed& testbed)
      : reader_(reader), row_(row), testbed_(testbed), fabric_(testbed.fabric), sets_(testbed.fabric) {}

  void find_in_profiles() {
    find_unused_roles();
    find_unused_profiles();
    for (size_t i = 0; i < row_.profiles.items.size(); ++i) {
      const ProfileRow& row = row_.profiles.items[i].value;
      if (row.groups) find_in_groups(*row.groups, testbed_.profiles[i].groups);
      if (row.neighbours) find_in_neighbours(row_.profiles.items[i].name, *row.neighbours);
      if (testbed_.profiles[i].qos) find_in_watchdog(row_.profiles.items[i], *testbed_.profiles[i].qos);
    }
  }

  void find_in_nodes(const std::vector<const NodeRow*>& rows) {
    for (uint32_t n = 0; n < fabric_.nodes.size() && n < rows.size(); ++n) {
      if (rows[n] != nullptr && rows[n]->nic) find_in_nic(n, *rows[n]->nic);
    }
  }

  void find_in_credit() {
    for (const FabricLink& link : fabric_.links) {
      if (link.parameters.flow_control != FlowControl::kCredit || (pauses_at(link.a) | pauses_at(link.b)) != 0)
        continue;
      if (!is_switch(link.a.node) && !is_switch(link.b.node)) continue;
      reader_.warn({}, "flow_control: credit has no effect between " + fabric_.name_of(link.a) + " and " +
                           fabric_.name_of(link.b) + ": no priority is in pfc_enable there");
      return;
    }
  }

  void find_in_workloads() {
    for (size_t i = 0; i < row_.workload.size(); ++i) find_in_rate(row_.workload[i], testbed_.workloads[i]);
  }

  // In the order of their instants, as they strike.
  void find_in_faults() {
    std::vector<const FaultRow*> rows;
    for (const FaultRow& fault : row_.faults) rows.push_back(&fault);
    std::ranges::stable_sort(rows, {}, &FaultRow::at);
    for (const FaultRow* fault : rows) find_in_fault(*fault);
  }

 private:
  bool is_switch(uint32_t node) const { return fabric_.nodes[node].kind == NodeKind::kSwitch; }

  // The priorities that a switch's port obeys and may pause; none of a host's.
  uint8_t pauses_at(LinkEnd end) const {
    const FabricNode& node = fabric_.nodes[end.node];
    if (node.kind != NodeKind::kSwitch) return 0;
    const auto& qos = testbed_.profiles[node.profile].qos;
    if (dataplane::pauses_whole_link(fabric_.links[fabric_.port(end).link].parameters.flow_control)) return 0xff;
    return qos ? qos->port(fabric_.port(end).name).pfc_enable : uint8_t{0};
  }

  void find_unused_roles() {
    const auto look = [&](const std::optional<std::string>& name, Role role, std::string_view key) {
      const bool has = std::ranges::any_of(fabric_.nodes, [&](const FabricNode& n) { return n.role == role; });
      if (name && !has) reader_.warn(row_.roles.where.child(key), "has no effect: no switch has this role");
    };
    for (size_t i = 0; i < kSwitchRoles.size(); ++i)
      look(row_.roles.*kProfileOfRole[i], kSwitchRoles[i].role, kSwitchRoles[i].word);
  }

  // The profiles of the switches that fit, those that faults put in force, and what all these are based on.
  template <typename Fits>
  std::set<std::string_view> profiles_of(Fits&& fits) const {
    std::set<std::string_view> used;
    for (const FabricNode& node : fabric_.nodes) {
      if (node.kind == NodeKind::kSwitch && fits(node)) used.insert(testbed_.profiles[node.profile].name);
    }
    for (const FaultRow& fault : row_.faults) {
      if (fault.profile) used.insert(*fault.profile);
    }
    std::map<std::string_view, std::string_view> bases;
    for (const auto& item : row_.profiles.items) {
      if (item.value.base) bases.emplace(item.name, *item.value.base);
    }
    for (const std::string_view name : std::vector(used.begin(), used.end())) {
      for (auto base = bases.find(name); base != bases.end() && used.insert(base->second).second;)
        base = bases.find(base->second);
    }
    return used;
  }

  // Of a profile that nobody has, find_unused_profiles() tells.
  void find_in_neighbours(std::string_view profile, const NeighboursRow& row) {
    const auto any = [](const FabricNode&) { return true; };
    const auto is_tor = [](const FabricNode& node) { return node.role == Role::kTor; };
    if (!profiles_of(any).contains(profile) || profiles_of(is_tor).contains(profile)) return;
    reader_.warn(row.where, "has no effect: no ToR has this profile, and other switches know no hosts");
  }

  void find_unused_profiles() {
    const std::set<std::string_view> used = profiles_of([](const FabricNode&) { return true; });
    for (const auto& item : row_.profiles.items) {
      if (used.contains(item.name)) continue;
      reader_.warn(item.key,
                   "no switch, role, fault or other profile in use names it: it has no effect, unless "
                   "`softspine profile` puts it in force");
    }
  }

  void find_in_groups(const EcmpGroupsRow& row, const EcmpGroupConfig& groups) {
    const auto without = [&](bool given, std::string_view key, const std::string& why) {
      if (given) reader_.warn(row.where.child(key), "has no effect: " + why);
    };
    const bool resilient = groups.kind == EcmpGroupKind::kResilient;
    const std::string mode = "the mode is " + std::string(word_of(groups.mode));
    without(row.buckets.has_value() && !resilient, "buckets", "they are a resilient group's");
    without(row.gap.has_value() && groups.mode != EcmpGroupMode::kFlowlet, "gap", mode);
    without(row.flowlets.has_value() && groups.mode != EcmpGroupMode::kFlowlet, "flowlets", mode);
    without((row.kind || row.mode) && resilient && groups.mode == EcmpGroupMode::kSpray, row.kind ? "kind" : "mode",
            "a link drawn for each packet has no flows that a resilient group could keep where they are");
    without(row.weights && groups.mode == EcmpGroupMode::kPinned, "weights", mode);
  }

  void find_in_watchdog(const Named<ProfileRow>::Item& item, const QosConfig& config) {
    const ProfileRow& row = item.value;
    const bool own = !row.pfc_wd.items.empty() || !row.port_qos_map.items.empty() || row.config_db;
    if (!own) return;
    std::vector<const PortQos*> ports{&config.others};
    for (const auto& [name, port] : config.ports) ports.push_back(&port);
    const auto is_watched = [](const PortQos* port) {
      return port->watchdog.action != dataplane::WatchdogAction::kNone;
    };
    std::erase_if(ports, [&](const PortQos* port) { return !is_watched(port); });
    if (ports.empty()) return;
    const std::string poll = "POLL_INTERVAL, " + printed(config.watchdog_poll) + ": it is told of after that";
    const auto below = [&](dataplane::Duration time) { return time < config.watchdog_poll; };
    for (const PortQos* port : ports) {
      if (!below(port->watchdog.detection)) continue;
      reader_.warn(watchdog_key(item, "detection_time", &PfcWdRow::detection_time),
                   "detection_time, " + printed(port->watchdog.detection) + ", is shorter than " + poll);
      break;
    }
    for (const PortQos* port : ports) {
      if (!below(port->watchdog.restoration)) continue;
      reader_.warn(watchdog_key(item, "restoration_time", &PfcWdRow::restoration_time),
                   "restoration_time, " + printed(port->watchdog.restoration) + ", is shorter than " + poll);
      break;
    }
    find_in_drops(item, ports);
    find_unwatched(item, ports);
  }

  // What says how a chip drops, where nothing is dropped.
  void find_in_drops(const Named<ProfileRow>::Item& item, const std::vector<const PortQos*>& ports) {
    const auto drops = [](const PortQos* port) { return port->watchdog.action == dataplane::WatchdogAction::kDrop; };
    if (std::ranges::any_of(ports, drops)) return;
    const char* const none = "has no effect: no port's action is drop";
    for (const auto& each : item.value.pfc_wd.items) {
      if (each.row.waiting) reader_.warn(each.row.where.child("waiting"), none);
      if (each.row.rx_counter) reader_.warn(each.row.where.child("rx_counter"), none);
    }
  }

  static Value watchdog_key(const Named<ProfileRow>::Item& item, std::string_view key,
                            std::optional<dataplane::Duration> PfcWdRow::* member) {
    for (const auto& row : item.value.pfc_wd.items) {
      if (row.row.*member) return row.row.where.child(key);
    }
    return item.key;
  }

  void find_unwatched(const Named<ProfileRow>::Item& item, const std::vector<const PortQos*>& ports) {
    for (const PortQos* port : ports) {
      const uint8_t looked_after = port->pfcwd_sw_enable.value_or(port->pfc_enable);
      if (looked_after == 0) {
        return reader_.warn(item.key, "PFC_WD has no effect: no priority is in pfc_enable, so none is ever paused");
      }
      const auto idle = static_cast<uint8_t>(looked_after & ~port->pfc_enable);
      if (idle == 0) continue;
      const auto row = std::ranges::find_if(item.value.port_qos_map.items,
                                            [](const auto& each) { return each.row.pfcwd_sw_enable.has_value(); });
      const bool found = row != item.value.port_qos_map.items.end();
      return reader_.warn(found ? row->row.where.child("pfcwd_sw_enable") : item.key,
                          "the watchdog looks after priority " + std::to_string(std::countr_zero(idle)) +
                              ", which is not in pfc_enable: it is never paused");
    }
  }

  void find_in_nic(uint32_t node, const NicRow& row) {
    for (uint16_t p = 0; p < fabric_.nodes[node].ports.size(); ++p) {
      const FabricLink& link = fabric_.links[fabric_.nodes[node].ports[p].link];
      const LinkEnd peer = fabric_.peer_of({node, p});
      if (row.parameters.rate >= link.rate) {
        return reader_.warn(row.where.child("rate"), "has no effect: the link has " + printed(link.rate));
      }
      const auto idle = static_cast<uint8_t>(row.pfc_enable.value_or(PriorityList{}).mask & ~pauses_at(peer));
      if (is_switch(peer.node) && idle != 0) {
        return reader_.warn(row.where.child("pfc_enable"), "priority " + std::to_string(std::countr_zero(idle)) +
                                                               " is not in pfc_enable of " + fabric_.name_of(peer) +
                                                               ": neither pauses the other for it");
      }
    }
  }

  void find_in_rate(const WorkloadRow& row, const Workload& workload) {
    if (!row.rate) return;
    for (const auto* hosts : {&workload.hosts, &workload.from}) {
      for (const uint32_t host : *hosts) {
        // A bond spreads queue pairs over its ports.
        const auto& ports = fabric_.nodes[host].ports;
        dataplane::Rate most;
        for (size_t p = 0; p < std::min<size_t>(ports.size(), workload.qps); ++p) {
          most = dataplane::Rate::bps(most.count_bps() + fabric_.links[ports[p].link].rate.count_bps());
        }
        if (*row.rate <= most) continue;
        return reader_.warn(row.where.child("rate"), printed(*row.rate) + " is more than the link of " +
                                                         fabric_.nodes[host].name + " has, " + printed(most) +
                                                         ": its flows get no more than that");
      }
    }
  }

  std::vector<uint32_t> nodes_of(const FaultRow& row) {
    return sets_.find(row.link ? row.link->node : row.node.value_or(""), Among::kNodes).nodes;
  }

  // The ports that a fault is about: those of nodes, or one.
  std::vector<LinkEnd> ports_of(const FaultRow& row) {
    std::vector<LinkEnd> out;
    for (const uint32_t node : nodes_of(row)) {
      const auto& ports = fabric_.nodes[node].ports;
      for (uint16_t p = 0; p < ports.size(); ++p) {
        const bool is_on_card = !row.ports || std::ranges::find(*row.ports, ports[p].name) != row.ports->end();
        if ((!row.link || ports[p].name == row.link->port) && is_on_card) out.push_back({node, p});
      }
    }
    return out;
  }

  void find_in_flap(const FaultRow& row) {
    if (!row.flap) return;
    const int64_t times = (testbed_.run.duration - row.at - dataplane::Duration::ps(1)) / row.flap->period + 1;
    if (times < row.flap->count) {
      reader_.warn(row.flap->where.child("count"), "the run ends after " + std::to_string(times) + " of them");
    }
    find_unnoticed(row);
  }

  // A state that does not last as long as its detection is noticed by nobody.
  void find_unnoticed(const FaultRow& row) {
    if (!testbed_.detection) return;
    const auto& [signal, hellos] = *testbed_.detection;
    if (!signal && !hellos) return;
    const dataplane::Duration takes =
        std::min(signal.value_or(dataplane::Duration::max()), hellos.value_or(dataplane::Duration::max()));
    const dataplane::Duration down = row.flap->down.value_or(row.flap->period / 2);
    const dataplane::Duration up = row.flap->period - down;
    if (std::min(down, up) >= takes) return;
    reader_.warn(row.flap->where, "is faster than its detection, which takes " + printed(takes) +
                                      ": routes do not follow " + (down < takes ? "the link down" : "the link up"));
  }

  void find_in_fault(const FaultRow& row) {
    find_in_flap(row);
    knows_links_ = knows_links_ && !row.plane && !row.rack;
    const std::vector<LinkEnd> ports = ports_of(row);
    if (ports.empty()) return;
    if (row.profile) {
      for (const uint32_t node : nodes_of(row)) find_in_change(row, node);
      return;
    }
    switch (row.set.value_or(FaultKind::kDown)) {
      case FaultKind::kDown:
      case FaultKind::kUp: return find_in_links(row, ports);
      case FaultKind::kStorm: find_ignored_storm(row, ports); break;
      case FaultKind::kDeaf: find_deaf_anyway(row, ports); break;
      case FaultKind::kClear: find_cleared_without_fault(row, ports); break;
      default: break;
    }
    const bool of_links = row.set && row_of(*row.set).target == FaultTarget::kLinks;
    for (const LinkEnd port : ports) (of_links ? failing_ : touched_).insert(fabric_.port(port).link);
  }

  void find_in_change(const FaultRow& row, uint32_t node) {
    const auto [now, is_new] = profile_of_.try_emplace(node, testbed_.profiles[fabric_.nodes[node].profile].name);
    if (now->second == *row.profile) {
      reader_.warn(row.where.child("profile"),
                   "has no effect: " + fabric_.nodes[node].name + " has " + *row.profile + " already");
    }
    now->second = *row.profile;
  }

  void find_in_links(const FaultRow& row, const std::vector<LinkEnd>& ports) {
    const bool up = row.set == FaultKind::kUp;
    bool changes = false;
    for (const LinkEnd port : ports) {
      const uint32_t link = fabric_.port(port).link;
      changes = (up ? down_.erase(link) != 0 : down_.insert(link).second) || changes;
      changes = (up && failing_.erase(link) != 0) || changes;
      if (row.flap) down_.erase(link);
    }
    if (!changes && knows_links_) {
      reader_.warn(row.where.child("set"), std::string("has no effect: ") + (up ? "up" : "down") + " it is already");
    }
  }

  static uint8_t mask_of(const FaultRow& row) {
    if (!row.priorities) return row_of(*row.set).priorities;
    uint8_t mask = 0;
    for (const uint8_t priority : *row.priorities) mask |= static_cast<uint8_t>(1U << priority);
    return mask;
  }

  // Hosts obey every pause.
  void find_ignored_storm(const FaultRow& row, const std::vector<LinkEnd>& ports) {
    const uint8_t mask = mask_of(row);
    for (const LinkEnd port : ports) {
      const LinkEnd peer = fabric_.peer_of(port);
      const bool by_credit = fabric_.links[fabric_.port(port).link].parameters.flow_control == FlowControl::kCredit;
      if (!is_switch(peer.node) || (!by_credit && (pauses_at(peer) & mask) != 0)) return;
    }
    reader_.warn(row.where.child("set"), "has no effect: " + fabric_.name_of(fabric_.peer_of(ports[0])) +
                                             " obeys no pause of these priorities (pfc_enable)");
  }

  void find_deaf_anyway(const FaultRow& row, const std::vector<LinkEnd>& ports) {
    const uint8_t mask = mask_of(row);
    for (const LinkEnd port : ports) {
      const LinkEnd said_by = fabric_.peer_of(port);
      const bool obeys = !is_switch(port.node) || (pauses_at(port) & mask) != 0;
      // Among a host and a switch the switch pauses by its tables, a host when it fails.
      const bool paused = !is_switch(said_by.node) || (pauses_at(said_by) & mask) != 0;
      if (obeys && paused) return;
    }
    reader_.warn(row.where.child("set"),
                 "has no effect: " + fabric_.name_of(ports[0]) + " is never paused in these priorities (pfc_enable)");
  }

  void find_cleared_without_fault(const FaultRow& row, const std::vector<LinkEnd>& ports) {
    const bool was_ill =
        std::ranges::any_of(ports, [&](LinkEnd port) { return touched_.contains(fabric_.port(port).link); });
    if (!was_ill) reader_.warn(row.where.child("set"), "has no effect: nothing has failed there before");
  }

  Reader& reader_;
  const TestbedRow& row_;
  const Testbed& testbed_;
  const Fabric& fabric_;
  NodeSets sets_;
  bool knows_links_ = true;                     // no plane or rack has failed: whose links these are is not known here
  std::set<uint32_t> down_;                     // links
  std::set<uint32_t> failing_;                  // links that are up, or may be, and that `up` repairs: dead, drained
  std::set<uint32_t> touched_;                  // links with a host, port or cable that has failed
  std::map<uint32_t, std::string> profile_of_;  // switches that have changed theirs
};

}  // namespace

void find_without_effect(Reader& reader, const TestbedRow& row, const Testbed& testbed,
                         const std::vector<const NodeRow*>& node_rows) {
  Finder finder(reader, row, testbed);
  finder.find_in_profiles();
  finder.find_in_nodes(node_rows);
  finder.find_in_credit();
  finder.find_in_workloads();
  finder.find_in_faults();
}

}  // namespace softspine::control
