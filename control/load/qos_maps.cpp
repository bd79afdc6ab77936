// SPDX-License-Identifier: Apache-2.0
#include "control/load/qos_maps.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace softspine::control {
namespace {

using PortQosRows = Keyed<PortSet, PortQosRow>;
using MapName = std::optional<Reference> PortQosRow::*;

// False if the table has no such map.
template <size_t Keys>
bool fill(const MapsInForce<Keys>& maps, std::string_view name, std::array<uint8_t, Keys>& into, uint8_t unlisted) {
  const auto found = maps.index->by_name.find(name);
  if (found == maps.index->by_name.end()) return false;
  into.fill(unlisted);
  for (const auto& [key, value] : found->second->items) into[key] = value;
  return true;
}

// A row for every port goes before rows of single ports, which only decide where there is none.
template <size_t Keys>
MapChoice take_choices(const PortQosRows& rows, MapName map, const char* key, MapsInForce<Keys>& maps) {
  MapChoice common;
  MapChoice first;
  for (const auto& item : rows.items) {
    const std::optional<Reference>& named = item.row.*map;
    if (!named) continue;
    const MapChoice choice{named->name, item.row.where.child(key)};
    if (item.key.names.empty()) common = choice;
    if (!item.key.names.empty() && !first.name) first = choice;
    for (const std::string& port : item.key.names) maps.of_ports.insert_or_assign(port, choice);
  }
  if (common.name) maps.for_all = true;
  maps.is_named = maps.is_named || common.name || first.name;
  if (!common.name && !maps.for_all) common = first;
  if (common.name) maps.chosen = common.name;
  return common.name ? common : first;
}

template <size_t Keys>
void apply_map(Reader& reader, const std::optional<Named<NumberMap<uint8_t, Keys>>>& table, Value table_where,
               const MapChoice& choice, MapsInForce<Keys>& maps, std::array<uint8_t, Keys>& into, uint8_t unlisted) {
  if (!table && !choice.name) return;
  if (table) {
    const auto index = std::make_shared<MapIndex<Keys>>();
    for (const auto& item : table->items) {
      index->by_name.emplace(item.name, &item.value);
      index->names.push_back(item.name);
    }
    maps.index = index;
    maps.table_where = table_where;
  }
  if (maps.index == nullptr) {
    reader.fail(choice.where, "there is no map " + shown(*choice.name) + ": its table is missing");
    return;
  }
  const std::vector<std::string_view>& names = maps.index->names;
  const std::string name = !choice.name && names.size() == 1 ? std::string(names.front()) : maps.chosen.value_or("");
  if (fill(maps, name, into, unlisted)) return;
  if (choice.name) {
    reader.fail(choice.where, "there is no map " + shown(name) + reader.guess(name, names));
  } else if (!reader.is_invalid(maps.table_where)) {
    reader.fail(maps.table_where,
                "holds " + std::to_string(names.size()) + " maps: PORT_QOS_MAP must say which is in force");
  }
}

constexpr uint8_t kUnmapped = 0xff;
constexpr uint8_t kUntouched = 0xfe;

void take_classes(const std::array<uint8_t, 64>& classes, Profile& profile) {
  profile.unmapped_dscps = 0;
  for (size_t dscp = 0; dscp < classes.size(); ++dscp) {
    const bool listed = classes[dscp] != kUnmapped;
    profile.dscp_to_tc[dscp] = listed ? classes[dscp] : uint8_t{0};
    if (!listed) profile.unmapped_dscps |= uint64_t{1} << dscp;
  }
}

template <size_t Keys>
void apply_of_port(Reader& reader, const MapsInForce<Keys>& maps, const std::string& port,
                   std::array<uint8_t, Keys>& into, uint8_t unlisted = 0) {
  const auto choice = maps.of_ports.find(port);
  if (choice == maps.of_ports.end() || maps.index == nullptr) return;
  const std::string& name = *choice->second.name;
  if (fill(maps, name, into, unlisted)) return;
  reader.fail(choice->second.where, "there is no map " + shown(name) + reader.guess(name, maps.index->names));
}

void trust(bool pcp, PortMaps& maps) {
  maps.trusts_pcp = pcp;
  if (pcp) maps.dscp_to_tc.fill(0);
}

// Only of ports that differ from the others.
void apply_port_maps(Reader& reader, const QosMapsInForce& maps, Profile& profile) {
  std::set<std::string> ports;
  const auto add = [&ports](const auto& of_map) {
    for (const auto& [port, choice] : of_map.of_ports) ports.insert(port);
  };
  add(maps.dscp_to_tc);
  add(maps.dot1p_to_tc);
  add(maps.tc_to_queue);
  add(maps.tc_to_pg);
  profile.port_maps.clear();
  for (const std::string& port : ports) {
    PortMaps its = profile;
    apply_of_port(reader, maps.dscp_to_tc, port, its.dscp_to_tc);
    apply_of_port(reader, maps.dot1p_to_tc, port, its.dot1p_to_tc);
    apply_of_port(reader, maps.tc_to_queue, port, its.tc_to_queue);
    apply_of_port(reader, maps.tc_to_pg, port, its.tc_to_pg);
    const auto has = [&port](const auto& map) { return map.for_all || map.of_ports.contains(port); };
    trust(has(maps.dot1p_to_tc) && !has(maps.dscp_to_tc) && !maps.dscp_to_tc.is_only_one(), its);
    if (its != static_cast<const PortMaps&>(profile)) profile.port_maps.emplace_back(port, its);
  }
}

void apply_pfc_maps(Reader& reader, QosMapsInForce& maps) {
  maps.pfc_of_ports.clear();
  for (const auto* of_ports : {&maps.pfc_to_queue.of_ports, &maps.pfc_to_pg.of_ports}) {
    for (const auto& [port, choice] : *of_ports) maps.pfc_of_ports.try_emplace(port, maps.pfc);
  }
  for (auto& [port, its] : maps.pfc_of_ports) {
    apply_of_port(reader, maps.pfc_to_queue, port, its.queue_of_priority, kUnmappedPriority);
    apply_of_port(reader, maps.pfc_to_pg, port, its.group_of_priority, kUnmappedPriority);
  }
}

}  // namespace

void apply_maps(Reader& reader, const ProfileRow& row, QosMapsInForce& maps, Profile& profile) {
  using Row = PortQosRow;
  const auto apply = [&](const char* name, const auto& table, const char* key, MapName named, auto& in_force,
                         auto& into, uint8_t unlisted) {
    const MapChoice choice = take_choices(row.port_qos_map, named, key, in_force);
    apply_map(reader, table, row.where.child(name), choice, in_force, into, unlisted);
  };
  std::array<uint8_t, 64> classes{};
  classes.fill(kUntouched);
  apply("DSCP_TO_TC_MAP", row.dscp_to_tc_map, "dscp_to_tc_map", &Row::dscp_to_tc_map, maps.dscp_to_tc, classes,
        kUnmapped);
  if (classes[0] != kUntouched) take_classes(classes, profile);
  apply("DOT1P_TO_TC_MAP", row.dot1p_to_tc_map, "dot1p_to_tc_map", &Row::dot1p_to_tc_map, maps.dot1p_to_tc,
        profile.dot1p_to_tc, 0);
  apply("TC_TO_QUEUE_MAP", row.tc_to_queue_map, "tc_to_queue_map", &Row::tc_to_queue_map, maps.tc_to_queue,
        profile.tc_to_queue, 0);
  apply("TC_TO_PRIORITY_GROUP_MAP", row.tc_to_pg_map, "tc_to_pg_map", &Row::tc_to_pg_map, maps.tc_to_pg,
        profile.tc_to_pg, 0);
  trust(maps.dot1p_to_tc.is_named && !maps.dscp_to_tc.is_named && !maps.dscp_to_tc.is_only_one(), profile);
  apply_port_maps(reader, maps, profile);
  apply("MAP_PFC_PRIORITY_TO_QUEUE", row.pfc_to_queue_map, "pfc_to_queue_map", &Row::pfc_to_queue_map,
        maps.pfc_to_queue, maps.pfc.queue_of_priority, kUnmappedPriority);
  apply("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", row.pfc_to_pg_map, "pfc_to_pg_map", &Row::pfc_to_pg_map, maps.pfc_to_pg,
        maps.pfc.group_of_priority, kUnmappedPriority);
  apply_pfc_maps(reader, maps);
}

}  // namespace softspine::control
