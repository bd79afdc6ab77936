// SPDX-License-Identifier: Apache-2.0
// SONiC's maps of a profile: DSCP and PCP to traffic class, class to queue and priority group, priority to queue and
// group.
//
// The map in force is the one that PORT_QOS_MAP names, or else the table's only map. A port without a row takes the map
// of the row `global` or, if there is none, of the first port's row. A profile without the table, or without a choice,
// has that of its base. A table of maps replaces the base's as a whole; what a map does not list is 0, as SAI has it.
// A packet's class and group are those of the port that it comes in by, its queue that of the port that it leaves by.
// A port that has a dot1p_to_tc_map and no dscp_to_tc_map trusts PCP: by SAI (SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP,
// …_DOT1P_TO_TC_MAP) a map at a port is trust in what it maps. With both, DSCP decides for IP, PCP for the rest.
// The maps of PFC's priorities are those of the port at which a pause is obeyed (queue) or sent (group).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/reader.hpp"
#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Which map a row of PORT_QOS_MAP names, and where.
struct MapChoice {
  std::optional<std::string> name;
  Value where;
};

// A table's maps by name. Shared by pointer: a table may be large, and many profiles may inherit it.
template <size_t Keys>
struct MapIndex {
  std::map<std::string_view, const NumberMap<uint8_t, Keys>*> by_name;
  std::vector<std::string_view> names;
};

template <size_t Keys>
struct MapsInForce {
  std::shared_ptr<const MapIndex<Keys>> index;  // none: there is no table
  Value table_where;
  std::optional<std::string> chosen;  // of ports without a row
  bool for_all = false;               // a row for every port has chosen it
  bool is_named = false;              // a row has, which may be a single port's
  std::map<std::string, MapChoice, std::less<>> of_ports;
  // In force though no row names it.
  bool is_only_one() const { return index != nullptr && !is_named; }
};

inline constexpr uint8_t kUnmappedPriority = 0xff;

struct PfcMaps {
  std::array<uint8_t, 8> queue_of_priority{0, 1, 2, 3, 4, 5, 6, 7};
  std::array<uint8_t, 8> group_of_priority{0, 1, 2, 3, 4, 5, 6, 7};
};

// Of a profile and its bases so far.
struct QosMapsInForce {
  MapsInForce<64> dscp_to_tc;
  MapsInForce<8> dot1p_to_tc;
  MapsInForce<8> tc_to_queue;
  MapsInForce<8> tc_to_pg;
  MapsInForce<8> pfc_to_queue;
  MapsInForce<8> pfc_to_pg;
  PfcMaps pfc;
  std::map<std::string, PfcMaps, std::less<>> pfc_of_ports;  // of those that a row names
};

void apply_maps(Reader& reader, const ProfileRow& row, QosMapsInForce& maps, Profile& profile);

}  // namespace softspine::control
