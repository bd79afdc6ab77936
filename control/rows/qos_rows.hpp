// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of buffers, queues and pauses, as a profile or a config_db.json has them. Names and references
// are not resolved, nothing is filled in: qos_resolve.cpp makes a QosConfig of them.
//
// Rows are keyed as SONiC keys them: "3-4" or "*|3-4" stands for priority groups 3 and 4 of every port,
// "Ethernet0,Ethernet4|3-4" for those of two ports; "global", "all" and "*" for every port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/format/format.hpp"
#include "control/model/platform.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// The name of a row: "pg_lossless_100000_40m_profile", "scheduler.1".
struct RowName {
  std::string text;
};
struct PortSet {
  std::vector<std::string> names;  // none: every port
};
// Priority groups or queues of ports.
struct PortRange {
  // "lc3|Asic0|Ethernet0|3-4" of a chassis: which line card and chip of it; else empty.
  std::string host;
  std::string asic;
  PortSet ports;
  uint8_t first = 0;
  uint8_t last = 0;
};

template <typename Key, typename Row>
struct Keyed {
  struct Item {
    Key key;
    Value at;  // the key
    Row row;
    uint32_t layer = 0;  // which of a profile and its bases has it
  };
  std::vector<Item> items;
};

// "name", or "[TABLE|name]" as SONiC wrote it before 2021.
struct Reference {
  std::string name;
};
// −8 … 8: the logarithm of alpha.
struct DynamicTh {
  int value = 0;
};
// A size, or `auto`: by the headroom formula, for each port's rate, length and MTU.
struct Xoff {
  bool automatic = false;
  Bytes bytes;
};
// "3,4" or [3, 4].
struct PriorityList {
  uint8_t mask = 0;
};

enum class PoolType : uint8_t { kIngress, kEgress, kBoth };
enum class PortStatus : uint8_t { kUp, kDown };
enum class PoolMode : uint8_t { kStatic, kDynamic };
enum class EcnMode : uint8_t {
  kOff,
  kGreen,
  kYellow,
  kRed,
  kGreenYellow,
  kGreenRed,
  kYellowRed,
  kAll,
};
enum class SchedulerType : uint8_t { kStrict, kDwrr };
enum class MeterType : uint8_t { kBytes };
enum class DiscardAction : uint8_t { kDrop };
enum class PfcWdAction : uint8_t { kDrop, kForward, kAlert };
enum class PfcWdWaiting : uint8_t { kDrop, kKeep };
enum class PfcWdCounter : uint8_t { kAlways, kWhileEnabled };

struct BufferPoolRow {
  Value where;
  std::optional<PoolType> type;
  std::optional<PoolMode> mode;
  std::optional<Bytes> size;
  std::optional<Bytes> xoff;
  std::optional<uint32_t> percentage;
};
struct BufferProfileRow {
  Value where;
  std::optional<Reference> pool;
  std::optional<Bytes> size;
  std::optional<DynamicTh> dynamic_th;
  std::optional<Bytes> static_th;
  std::optional<Bytes> xon;
  std::optional<Bytes> xon_offset;
  std::optional<Xoff> xoff;
  std::optional<DiscardAction> packet_discard_action;
};
// "a,b", or ["a", "b"].
struct ReferenceList {
  std::vector<Reference> names;
};
// Of BUFFER_PORT_INGRESS_PROFILE_LIST and BUFFER_PORT_EGRESS_PROFILE_LIST.
struct PortProfilesRow {
  Value where;
  ReferenceList profiles;
};
enum class PoolSize : uint8_t { kShared, kTotal };
struct PortSliceRow {
  Value where;
  uint32_t slice = 0;
};
// Of BUFFER_PG and BUFFER_QUEUE.
struct BufferUseRow {
  Value where;
  std::optional<Reference> profile;
};
// What SONiC's dynamic buffer model makes profiles of, where BUFFER_PG says NULL.
struct LosslessParameterRow {
  Value where;
  std::optional<DynamicTh> default_dynamic_th;
  std::optional<uint32_t> over_subscribe_ratio;
};

// What SONiC's headroom calculator takes for granted of lossless traffic.
struct TrafficPatternRow {
  Value where;
  std::optional<uint32_t> mtu;
  std::optional<uint32_t> small_packet_percentage;
};
// Of a config_db.json: speed in Mb/s, lanes "0,1,2,3".
struct PortRow {
  Value where;
  std::optional<uint32_t> speed;
  std::optional<std::string> lanes;
  std::optional<PortStatus> admin_status;
};
// "300m".
struct CableLength {
  Length length;
};

struct WredRow {
  Value where;
  std::optional<EcnMode> ecn;
  std::optional<bool> wred_green_enable;
  std::optional<Bytes> green_min_threshold;
  std::optional<Bytes> green_max_threshold;
  std::optional<Share> green_drop_probability;
  std::optional<Bytes> ecn_green_min_threshold;
  std::optional<Bytes> ecn_green_max_threshold;
  std::optional<Share> ecn_green_mark_probability;
  // Every packet is green here: read, since SONiC's files have them, and of no effect.
  std::optional<bool> wred_yellow_enable;
  std::optional<Bytes> yellow_min_threshold;
  std::optional<Bytes> yellow_max_threshold;
  std::optional<Share> yellow_drop_probability;
  std::optional<bool> wred_red_enable;
  std::optional<Bytes> red_min_threshold;
  std::optional<Bytes> red_max_threshold;
  std::optional<Share> red_drop_probability;
};
struct SchedulerRow {
  Value where;
  std::optional<SchedulerType> type;
  std::optional<uint32_t> weight;
  std::optional<uint32_t> priority;
  std::optional<MeterType> meter_type;
  std::optional<dataplane::Rate> cir;
  std::optional<Bytes> cbs;
  std::optional<dataplane::Rate> pir;
  std::optional<Bytes> pbs;
};
struct QueueRow {
  Value where;
  std::optional<Reference> scheduler;
  std::optional<Reference> wred_profile;
};
struct PortQosRow {
  Value where;
  std::optional<Reference> dscp_to_tc_map;
  std::optional<Reference> dot1p_to_tc_map;
  std::optional<Reference> tc_to_queue_map;
  std::optional<Reference> tc_to_pg_map;
  std::optional<Reference> pfc_to_queue_map;
  std::optional<Reference> pfc_to_pg_map;
  std::optional<PriorityList> pfc_enable;
  std::optional<PriorityList> pfcwd_sw_enable;
  std::optional<Reference> scheduler;
  std::optional<dataplane::Duration> pfc_response;
};
struct PfcWdRow {
  Value where;
  std::optional<dataplane::Duration> poll_interval;
  std::optional<std::string> big_red_switch;
  std::optional<PfcWdAction> action;
  std::optional<dataplane::Duration> detection_time;
  std::optional<dataplane::Duration> restoration_time;
  std::optional<std::string> pfc_stat_history;
  std::optional<PfcWdWaiting> waiting;
  std::optional<PfcWdCounter> rx_counter;
};

struct QosRows {
  std::optional<Platform> platform;
  std::optional<Bytes> cell;
  std::optional<uint32_t> slices;
  std::optional<PoolSize> ingress_pool_size;
  Keyed<PortSet, PortSliceRow> port_slice;
  Keyed<PortSet, PortProfilesRow> port_ingress;
  Keyed<PortSet, PortProfilesRow> port_egress;
  Keyed<RowName, BufferPoolRow> buffer_pool;
  Keyed<RowName, BufferProfileRow> buffer_profile;
  Keyed<PortRange, BufferUseRow> buffer_pg;
  Keyed<PortRange, BufferUseRow> buffer_queue;
  Keyed<RowName, LosslessParameterRow> lossless_parameter;
  Keyed<RowName, TrafficPatternRow> traffic_pattern;
  Keyed<PortSet, PortRow> port;
  Keyed<RowName, Keyed<PortSet, CableLength>> cable_length;
  Keyed<RowName, WredRow> wred_profile;
  Keyed<RowName, SchedulerRow> scheduler;
  Keyed<PortRange, QueueRow> queue;
  Keyed<PortSet, PortQosRow> port_qos_map;
  Keyed<PortSet, PfcWdRow> pfc_wd;

  bool has_buffers() const {
    return !buffer_pool.items.empty() || !buffer_profile.items.empty() || !buffer_pg.items.empty() ||
           !buffer_queue.items.empty();
  }
  bool empty() const {
    return !platform && !cell && !slices && !ingress_pool_size && port_slice.items.empty() && !has_buffers() &&
           port_ingress.items.empty() && port_egress.items.empty() && lossless_parameter.items.empty() &&
           traffic_pattern.items.empty() && port.items.empty() && cable_length.items.empty() &&
           wred_profile.items.empty() && scheduler.items.empty() && queue.items.empty() && port_qos_map.items.empty() &&
           pfc_wd.items.empty();
  }
};

}  // namespace softspine::control
