// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of queues and pauses: fields as its YANG models name them.
#include "control/rows/memory_bound.hpp"
#include "control/rows/sonic_names.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

namespace {

constexpr Duration kLongest = Duration::s(3600);

// A limit per direction that nothing here has.
Limits<Rate> unsupported_rate() {
  return {.validate = [](const Rate& rate) {
    return rate.is_zero() ? std::string() : std::string("a guaranteed rate (cir) cannot be had: use weight, or pir");
  }};
}

}  // namespace

const Table<WredRow>& Tables<WredRow>::table() {
  static constexpr const char* kNoColours = "read and not used: every packet is green";
  static const Table<WredRow> table =
      Table<WredRow>("WRED_PROFILE", "Marks and early drops by the length of a queue.")
          .beside(sonic_fields_beside("WRED_PROFILE"))
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
          .beside(sonic_fields_beside("PORT_QOS_MAP"))
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
