// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of buffers, queues and pauses: fields as its YANG models name them.
#include "control/rows/tables.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

namespace {

// 2^30 of the smallest cells, which a pool may have (BufferPlan::kUnlimitedCells); no switch has as much.
constexpr Bytes kMaxMemory{uint64_t{32} << 30};
constexpr Duration kLongest = Duration::s(3600);
// Static limits beyond any memory are written for `none` (SONiC's VOQ systems).
constexpr Bytes kMaxStatic{uint64_t{1} << 40};

// A limit per direction that nothing here has.
Limits<Rate> unsupported_rate() {
  return {.validate = [](const Rate& rate) {
    return rate.is_zero() ? std::string() : std::string("a guaranteed rate (cir) cannot be had: use weight, or pir");
  }};
}

}  // namespace

const Table<BufferPoolRow>& Tables<BufferPoolRow>::table() {
  static const Table<BufferPoolRow> table =
      Table<BufferPoolRow>("BUFFER_POOL", "Memory that priority groups or queues share.")
          .optional("type", &BufferPoolRow::type,
                    "ingress: of priority groups; egress: of queues; both: of both, each counted by itself")
          .optional("mode", &BufferPoolRow::mode, "read and not used: each profile says which limit it has")
          .optional("percentage", &BufferPoolRow::percentage, "without size: of the memory that is left, in percent",
                    within<uint32_t>(0, 100))
          .optional(
              "size", &BufferPoolRow::size,
              "what is shared; with what is reserved in it, if ingress_pool_size is total; without it, what the ports "
              "leave of egress_lossless_pool, as SONiC's dynamic buffer model has it",
              within<Bytes>({0}, kMaxMemory))
          .optional("xoff", &BufferPoolRow::xoff, "the shared headroom pool, beside the size; 0: none",
                    within<Bytes>({0}, kMaxMemory));
  return table;
}

const Table<BufferProfileRow>& Tables<BufferProfileRow>::table() {
  static const Table<BufferProfileRow> table =
      Table<BufferProfileRow>("BUFFER_PROFILE", "What one priority group or queue may use of a pool.")
          .optional("pool", &BufferProfileRow::pool, "a row of BUFFER_POOL")
          .optional("size", &BufferProfileRow::size,
                    "its alone; at least xoff, and the pool without a headroom pool: headroom included",
                    within<Bytes>({0}, kMaxMemory))
          .optional("dynamic_th", &BufferProfileRow::dynamic_th, "n: of shared memory up to 2^n times what is free")
          .optional("static_th", &BufferProfileRow::static_th, "of shared memory up to this; 0: up to all",
                    within<Bytes>({0}, kMaxStatic))
          .optional("xon", &BufferProfileRow::xon, "lossless: it may be sent to again at this use",
                    within<Bytes>({0}, kMaxMemory))
          .optional("xon_offset", &BufferProfileRow::xon_offset, "or at this much below its limit, whichever is more",
                    within<Bytes>({0}, kMaxMemory))
          .optional("xoff", &BufferProfileRow::xoff,
                    "lossless: headroom for what arrives after the pause; auto: as much as the port's rate, length "
                    "and MTU need")
          .optional("packet_discard_action", &BufferProfileRow::packet_discard_action, "the only one");
  return table;
}

const Table<BufferUseRow>& Tables<BufferUseRow>::table() {
  static const Table<BufferUseRow> table =
      Table<BufferUseRow>("BUFFER_USE", "Which profile priority groups (BUFFER_PG) or queues (BUFFER_QUEUE) have.")
          .required("profile", &BufferUseRow::profile,
                    "a row of BUFFER_PROFILE; BUFFER_PG: NULL is a lossless one that fits the port");
  return table;
}

const Table<PortProfilesRow>& Tables<PortProfilesRow>::table() {
  static const Table<PortProfilesRow> table =
      Table<PortProfilesRow>("BUFFER_PORT_PROFILE_LIST",
                             "Limits of ports as a whole (BUFFER_PORT_INGRESS_PROFILE_LIST, …_EGRESS_…).")
          .required(
              "profile_list", &PortProfilesRow::profiles,
              "rows of BUFFER_PROFILE, one for a pool: all groups (queues) of the port together keep to its limit "
              "of shared memory; its size is read and not used");
  return table;
}

const Table<PortSliceRow>& Tables<PortSliceRow>::table() {
  static const Table<PortSliceRow> table =
      Table<PortSliceRow>("PORT_SLICE", "In which slice of the memory a port's groups and queues are.")
          .required("slice", &PortSliceRow::slice, "counted from 0", within<uint32_t>(0, 15));
  return table;
}

const Table<LosslessParameterRow>& Tables<LosslessParameterRow>::table() {
  static const Table<LosslessParameterRow> table =
      Table<LosslessParameterRow>("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "Of the profile that NULL stands for.")
          .optional("default_dynamic_th", &LosslessParameterRow::default_dynamic_th, "its dynamic_th")
          .optional("over_subscribe_ratio", &LosslessParameterRow::over_subscribe_ratio,
                    "not 0: of a pool without size, a shared headroom pool of all headroom divided by this",
                    within<uint32_t>(0, 100));
  return table;
}

const Table<TrafficPatternRow>& Tables<TrafficPatternRow>::table() {
  static const Table<TrafficPatternRow> table =
      Table<TrafficPatternRow>("LOSSLESS_TRAFFIC_PATTERN", "What SONiC's headroom calculator takes for granted.")
          .optional("mtu", &TrafficPatternRow::mtu, "of lossless packets; 1024 if not given",
                    within<uint32_t>(64, 10'000))
          .optional("small_packet_percentage", &TrafficPatternRow::small_packet_percentage,
                    "packets of 64 bytes among them; 100 if not given", within<uint32_t>(0, 100));
  return table;
}

const Table<PortRow>& Tables<PortRow>::table() {
  static const Table<PortRow> table =
      Table<PortRow>("PORT", "SONiC's table of ports.")
          .optional("speed", &PortRow::speed,
                    "Mb/s: of the names and headroom of lossless profiles; the link's own "
                    "rate decides how fast it is",
                    within<uint32_t>(1, 3'200'000))
          .optional("lanes", &PortRow::lanes, "eight of them: twice the pipeline latency")
          .optional("admin_status", &PortRow::admin_status, "down: no lossless profile is added");
  return table;
}

const Table<WredRow>& Tables<WredRow>::table() {
  static constexpr const char* kNoColours = "read and not used: every packet is green";
  static const Table<WredRow> table =
      Table<WredRow>("WRED_PROFILE", "Marks and early drops by the length of a queue.")
          .optional("ecn", &WredRow::ecn, "whether ECN-capable packets are marked: of green ones, or not")
          .optional("wred_green_enable", &WredRow::wred_green_enable, "whether others are dropped early")
          .optional("green_min_threshold", &WredRow::green_min_threshold, "from where on",
                    within<Bytes>({0}, kMaxMemory))
          .optional("green_max_threshold", &WredRow::green_max_threshold, "from where on every one",
                    within<Bytes>({0}, kMaxMemory))
          .optional("green_drop_probability", &WredRow::green_drop_probability, "just below the maximum",
                    within<Share>({0}, {1'000'000}))
          .optional("ecn_green_min_threshold", &WredRow::ecn_green_min_threshold, "of marks, if it is another",
                    within<Bytes>({0}, kMaxMemory))
          .optional("ecn_green_max_threshold", &WredRow::ecn_green_max_threshold, "of marks, if it is another",
                    within<Bytes>({0}, kMaxMemory))
          .optional("ecn_green_mark_probability", &WredRow::ecn_green_mark_probability, "of marks, if it is another",
                    within<Share>({0}, {1'000'000}))
          .optional("wred_yellow_enable", &WredRow::wred_yellow_enable, kNoColours)
          .optional("yellow_min_threshold", &WredRow::yellow_min_threshold, kNoColours)
          .optional("yellow_max_threshold", &WredRow::yellow_max_threshold, kNoColours)
          .optional("yellow_drop_probability", &WredRow::yellow_drop_probability, kNoColours)
          .optional("wred_red_enable", &WredRow::wred_red_enable, kNoColours)
          .optional("red_min_threshold", &WredRow::red_min_threshold, kNoColours)
          .optional("red_max_threshold", &WredRow::red_max_threshold, kNoColours)
          .optional("red_drop_probability", &WredRow::red_drop_probability, kNoColours);
  return table;
}

const Table<SchedulerRow>& Tables<SchedulerRow>::table() {
  static const Table<SchedulerRow> table =
      Table<SchedulerRow>("SCHEDULER", "A queue's place among the others, and the rate it is held to.")
          .optional("type", &SchedulerRow::type, "STRICT: before all others, the higher queue first; DWRR: by weight")
          .optional("weight", &SchedulerRow::weight, "DWRR: share of bytes", within<uint32_t>(1, 100))
          .optional("priority", &SchedulerRow::priority, "read and not used: the queue's number decides")
          .optional("meter_type", &SchedulerRow::meter_type, "rates are of bytes")
          .optional("cir", &SchedulerRow::cir, "cannot be had", unsupported_rate())
          .optional("cbs", &SchedulerRow::cbs, "read and not used")
          .optional("pir", &SchedulerRow::pir, "not more than this; in a config_db.json: bytes a second")
          .optional("pbs", &SchedulerRow::pbs, "but so much at once", within<Bytes>({0}, {1U << 30}));
  return table;
}

const Table<QueueRow>& Tables<QueueRow>::table() {
  static const Table<QueueRow> table =
      Table<QueueRow>("QUEUE", "What queues do besides using memory.")
          .optional("scheduler", &QueueRow::scheduler, "a row of SCHEDULER; strict if not given")
          .optional("wred_profile", &QueueRow::wred_profile, "a row of WRED_PROFILE");
  return table;
}

const Table<PortQosRow>& Tables<PortQosRow>::table() {
  static const Table<PortQosRow> table =
      Table<PortQosRow>("PORT_QOS_MAP", "Maps in force, by name, and the priorities that can be paused.")
          .optional("dscp_to_tc_map", &PortQosRow::dscp_to_tc_map, "a row of DSCP_TO_TC_MAP")
          .optional("dot1p_to_tc_map", &PortQosRow::dot1p_to_tc_map, "a row of DOT1P_TO_TC_MAP")
          .optional("tc_to_queue_map", &PortQosRow::tc_to_queue_map, "a row of TC_TO_QUEUE_MAP")
          .optional("tc_to_pg_map", &PortQosRow::tc_to_pg_map, "a row of TC_TO_PRIORITY_GROUP_MAP")
          .optional("pfc_to_queue_map", &PortQosRow::pfc_to_queue_map, "a row of MAP_PFC_PRIORITY_TO_QUEUE")
          .optional("pfc_to_pg_map", &PortQosRow::pfc_to_pg_map, "a row of PFC_PRIORITY_TO_PRIORITY_GROUP_MAP")
          .optional("pfc_enable", &PortQosRow::pfc_enable, "priorities that obey pauses and may be paused")
          .optional("pfcwd_sw_enable", &PortQosRow::pfcwd_sw_enable,
                    "priorities that the watchdog looks after; those of pfc_enable if not given")
          .optional("scheduler", &PortQosRow::scheduler, "a row of SCHEDULER: its pir holds for the port")
          .optional(
              "pfc_response_time", &PortQosRow::pfc_response,
              "ours: how late after a pause's last bit the port may begin a frame of its priority; the link's, or "
              "802.3's maximum, if not given",
              within<Duration>(Duration{}, Duration::ms(1)));
  return table;
}

const Table<PfcWdRow>& Tables<PfcWdRow>::table() {
  static constexpr const char* kUnused = "read and not used";
  static const Table<PfcWdRow> table =
      Table<PfcWdRow>("PFC_WD", "The watchdog of paused queues. GLOBAL, all or *: every port.")
          .optional("POLL_INTERVAL", &PfcWdRow::poll_interval, "GLOBAL: how often it looks",
                    within<Duration>(Duration::us(1), kLongest))
          .optional("BIG_RED_SWITCH", &PfcWdRow::big_red_switch, kUnused)
          .optional("action", &PfcWdRow::action, "what is done to a queue that stays paused")
          .optional("detection_time", &PfcWdRow::detection_time, "how long it must be paused",
                    within<Duration>(Duration::us(1), kLongest))
          .optional("restoration_time", &PfcWdRow::restoration_time, "how long no pause may have come",
                    within<Duration>(Duration::us(1), kLongest))
          .optional("pfc_stat_history", &PfcWdRow::pfc_stat_history, kUnused)
          .optional(
              "waiting", &PfcWdRow::waiting,
              "ours, of action drop: what becomes of packets that wait when a storm is found; keep: they stay, only "
              "what comes is dropped; drop if not given")
          .optional(
              "rx_counter", &PfcWdRow::rx_counter,
              "ours, of action drop: while_enabled: no pause frame is counted while all priorities of the port are "
              "in storms, as on Tomahawk 5 and 6; always if not given");
  return table;
}

}  // namespace softspine::control
