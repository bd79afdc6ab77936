// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of buffers and of the ports that they are for: fields as its YANG models name them.
#include "control/rows/memory_bound.hpp"
#include "control/rows/sonic_names.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {

namespace {

// Static limits beyond any memory are written for `none` (SONiC's VOQ systems).
constexpr Bytes kMaxStatic{uint64_t{1} << 40};

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
          .beside(sonic_fields_beside("DEFAULT_LOSSLESS_BUFFER_PARAMETER"))
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
          .beside(sonic_fields_beside("PORT"))
          .optional("speed", &PortRow::speed,
                    "Mb/s: of the names and headroom of lossless profiles; the link's own "
                    "rate decides how fast it is",
                    within<uint32_t>(1, 3'200'000))
          .optional("lanes", &PortRow::lanes, "eight of them: twice the pipeline latency")
          .optional("admin_status", &PortRow::admin_status, "down: no lossless profile is added");
  return table;
}

}  // namespace softspine::control
