// SPDX-License-Identifier: Apache-2.0
// The tables of a profile, under SONiC's names. A new one: a row struct, its table here, its resolution in
// profiles.cpp.
#include "control/rows/sonic_names.hpp"
#include "control/rows/tables.hpp"
#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

namespace {

template <typename T>
constexpr T ProfileRow::* own(T QosRows::* member) {
  return member;
}

Limits<Platform> with_public_rules() {
  return {.validate = [](const Platform& platform) {
    return has_public_rules(platform) ? std::string()
                                      : std::string("how ") + row_of(platform).word +
                                            " divides its memory is not public: say cell and slices instead";
  }};
}

void add_maps(Table<ProfileRow>& table) {
  table.optional("DSCP_TO_TC_MAP", &ProfileRow::dscp_to_tc_map, "named maps of DSCP to traffic class; unlisted: 0")
      .optional("DOT1P_TO_TC_MAP", &ProfileRow::dot1p_to_tc_map, "named maps of PCP to traffic class; unlisted: 0")
      .optional("TC_TO_QUEUE_MAP", &ProfileRow::tc_to_queue_map, "named maps of traffic class to queue; unlisted: 0")
      .optional("TC_TO_PRIORITY_GROUP_MAP", &ProfileRow::tc_to_pg_map,
                "named maps of traffic class to priority group; unlisted: 0")
      .optional("MAP_PFC_PRIORITY_TO_QUEUE", &ProfileRow::pfc_to_queue_map,
                "named maps of priority to the queue that its pause stops; unlisted: none")
      .optional("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", &ProfileRow::pfc_to_pg_map,
                "named maps of priority to the priority group that asks for its pause; unlisted: none")
      .optional("PORT_QOS_MAP", own(&QosRows::port_qos_map), "by port, or global: maps in force, PFC");
}

void add_buffers_and_queues(Table<ProfileRow>& table) {
  table.optional("BUFFER_POOL", own(&QosRows::buffer_pool), "memory that is shared")
      .optional("BUFFER_PROFILE", own(&QosRows::buffer_profile), "what one may use of a pool")
      .optional("BUFFER_PG", own(&QosRows::buffer_pg), "profiles of priority groups: \"3-4\", \"Ethernet0|3-4\"")
      .optional("BUFFER_QUEUE", own(&QosRows::buffer_queue), "profiles of queues: \"3-4\", \"Ethernet0|3-4\"")
      .optional("BUFFER_PORT_INGRESS_PROFILE_LIST", own(&QosRows::port_ingress), "limits of ports, over their groups")
      .optional("BUFFER_PORT_EGRESS_PROFILE_LIST", own(&QosRows::port_egress), "limits of ports, over their queues")
      .optional("DEFAULT_LOSSLESS_BUFFER_PARAMETER", own(&QosRows::lossless_parameter), "of the profile NULL")
      .optional("LOSSLESS_TRAFFIC_PATTERN", own(&QosRows::traffic_pattern), "of the headroom calculator")
      .optional("CABLE_LENGTH", own(&QosRows::cable_length),
                "named maps of ports to lengths: ports of pfc_enable get lossless groups; 0m: none")
      .optional("WRED_PROFILE", own(&QosRows::wred_profile), "marks and early drops")
      .optional("SCHEDULER", own(&QosRows::scheduler), "order and rates")
      .optional("QUEUE", own(&QosRows::queue), "schedulers and marks of queues: \"3-4\", \"Ethernet0|3-4\"")
      .optional("PFC_WD", own(&QosRows::pfc_wd), "the watchdog of paused queues, by port or GLOBAL");
}

bool says_no_size_twice(Reader& reader, Value at, const ProfileRow& row) {
  bool good = true;
  for (const auto& [key, given] : {std::pair("queue_limit", row.queue_limit.has_value()),
                                   std::pair("queue_limits", row.queue_limits.has_value())}) {
    if (given && row.has_buffers()) {
      good = reader.fail(at.child(key), "goes without BUFFER_* tables only: they say what a queue may hold");
    }
  }
  return good;
}

}  // namespace

const Table<ProfileRow>& Tables<ProfileRow>::table() {
  static const Table<ProfileRow> table = [] {
    Table<ProfileRow> out("profile", "The tables that a switch works by.");
    out.optional("base", &ProfileRow::base, "the profile that this one changes")
        .optional("config_db", &ProfileRow::config_db, "a switch's config_db.json, whose tables go under these")
        .optional("pg_profile_lookup", &ProfileRow::pg_profile_lookup,
                  "a platform's pg_profile_lookup.ini: lossless profiles by speed and cable, as buffermgrd adds them")
        .optional("switch_json", &ProfileRow::switch_json, "a switch's switch.json: the seed and offset of its hash")
        .optional("switch_config", &ProfileRow::switch_config,
                  "a switch's own configuration: its lines on hashing, of Cumulus Linux, Arista EOS, Cisco NX-OS, "
                  "Junos, SONiC, OpenConfig")
        .optional("queue_limit", &ProfileRow::queue_limit, "of every queue, without BUFFER_* tables",
                  at_least<Bytes>({64}))
        .optional("queue_limits", &ProfileRow::queue_limits, "of single queues, without BUFFER_* tables")
        .optional("mtu", &ProfileRow::mtu, "of its links, unless they say otherwise", within<uint32_t>(1'280, 9'216))
        .optional(
            "in_band_telemetry", &ProfileRow::in_band_telemetry,
            "each port writes its load into packets that have room for that, as those of hpcc; false if not given")
        .optional("hash", &ProfileRow::hash, "of ECMP groups")
        .optional("lag_hash", &ProfileRow::lag_hash, "of LAGs; what it does not say is as in 'hash'")
        .optional("SWITCH_HASH", &ProfileRow::switch_hash, "the same as SONiC writes it")
        .optional("DEVICE_METADATA", &ProfileRow::device_metadata, "what SONiC's seed and offset follow from")
        .optional("groups", &ProfileRow::groups, "of next hops: how one of them is chosen")
        .optional("neighbours", &ProfileRow::neighbours,
                  "of a ToR: what it knows of its hosts ages; if not given, as long as their links are there")
        .optional("platform", own(&QosRows::platform), "the switch chip: its cell, slices and ingress_pool_size",
                  with_public_rules())
        .optional("cell", own(&QosRows::cell), "what memory is given out in", within<Bytes>({32}, {16'384}))
        .optional("slices", own(&QosRows::slices), "parts of the memory: each pool is divided evenly",
                  within<uint32_t>(1, 16))
        .optional("PORT_SLICE", own(&QosRows::port_slice), "ports' slices; equal blocks in their order if not given")
        .optional("ingress_pool_size", own(&QosRows::ingress_pool_size),
                  "shared: BUFFER_POOL's size is what is shared; total: what groups reserve is in it, as on Trident 2");
    add_maps(out);
    add_buffers_and_queues(out);
    out.check([](Reader& reader, Value at, const ProfileRow& row) {
      return !row.hash || !row.switch_hash || reader.fail(at.child("SWITCH_HASH"), "says again what 'hash' says");
    });
    return out.check(says_no_size_twice);
  }();
  return table;
}

const Table<NeighboursRow>& Tables<NeighboursRow>::table() {
  constexpr auto kLongest = dataplane::Duration::s(1'000'000);
  static const Table<NeighboursRow> table =
      Table<NeighboursRow>("neighbours", "What a ToR knows of its hosts, and for how long.")
          .optional("arp_timeout", &NeighboursRow::arp_timeout,
                    "how old an entry of ARP or ND may be; 4h if not given: behind it packets are dropped as "
                    "neighbour_incomplete, and the switch asks",
                    within(dataplane::Duration::us(1), kLongest))
          .optional("fdb_aging_time", &NeighboursRow::fdb_aging_time,
                    "how long a host may send nothing before the port of its MAC is forgotten; 300s if not given",
                    within(dataplane::Duration::us(1), kLongest))
          .optional("fdb_unicast_miss", &NeighboursRow::fdb_unicast_miss,
                    "what is done with a packet for a MAC whose port is not known; flood: to the other ports of its "
                    "VLAN; flood_all: also to the ports of other switches; drop_lossless: dropped as "
                    "neighbour_incomplete if its priority has PFC, and if it was routed the switch asks; drop: every "
                    "one; flood if not given");
  return table;
}

const Table<ProfileRow>& config_db_table() {
  static const Table<ProfileRow> table = [] {
    Table<ProfileRow> out("config_db", "SONiC's config_db.json.");
    out.optional("SWITCH_HASH", &ProfileRow::switch_hash, "of ECMP groups")
        .optional("DEVICE_METADATA", &ProfileRow::device_metadata, "what SONiC's seed and offset follow from");
    out.optional("PORT", own(&QosRows::port), "speed, lanes, up or down")
        .optional("PORTCHANNEL", &ProfileRow::port_channel, "LAGs")
        .optional("PORTCHANNEL_MEMBER", &ProfileRow::port_channel_member, "their ports");
    add_maps(out);
    add_buffers_and_queues(out);
    return out.among_others().beside(sonic_tables_beside());
  }();
  return table;
}

const Table<HashRow>& Tables<HashRow>::table() {
  static const Table<HashRow> table =
      Table<HashRow>("hash", "Key fields, algorithm, seed; the result is rotated right by the offset.")
          .optional(
              "model", &HashRow::model,
              "SAI; RTAG7: Broadcom's bins and functions; LINUX: the kernel's multipath hash; OVS: Open vSwitch's "
              "dp_hash")
          .optional("algorithm", &HashRow::algorithm,
                    "SAI's, or one of ours; OVS has SYM_L4, L4 and both with CRC32C, SYM_L4 if not given")
          .optional("fields", &HashRow::fields, "of the key, by SAI's names")
          .optional("udf", &HashRow::udf, "user-defined fields, behind the others")
          .optional("key", &HashRow::key,
                    "of an algorithm that takes one: the secret, in hexadecimal; the published one if not given")
          .optional("seed", &HashRow::seed, "input of the hash; OVS: the basis, selection_method_param's lower half")
          .optional("offset", &HashRow::offset, "bits", within<uint8_t>(0, 31))
          .optional("fine_grained", &HashRow::fine_grained, "SAI's fine-grained fields, behind all others")
          .optional("symmetric", &HashRow::symmetric, "SAI: both directions of a flow hash alike")
          .optional("ipv4", &HashRow::ipv4, "SAI: another hash object for IPv4 packets")
          .optional("ipv4_in_ipv4", &HashRow::ipv4_in_ipv4, "SAI: one for IPv4 in IPv4")
          .optional("ipv6", &HashRow::ipv6, "SAI: one for IPv6")
          .optional("ipv4_rdma", &HashRow::ipv4_rdma, "SAI: one for RoCEv2 over IPv4; like IPv4 if not given")
          .optional("ipv6_rdma", &HashRow::ipv6_rdma, "SAI: one for RoCEv2 over IPv6; like IPv6 if not given")
          .optional("policy", &HashRow::policy,
                    "LINUX: fib_multipath_hash_policy; with 3, 'fields' are those of fib_multipath_hash_fields",
                    within<uint8_t>(0, 3))
          .optional("rtag7", &HashRow::rtag7, "RTAG7's blocks and macro flows");
  return table;
}

const Table<SwitchHashRow>& Tables<SwitchHashRow>::table() {
  static const Table<SwitchHashRow> table =
      Table<SwitchHashRow>("SWITCH_HASH", "SONiC's table.").required("GLOBAL", &SwitchHashRow::global, "the only row");
  return table;
}

const Table<SwitchHashGlobalRow>& Tables<SwitchHashGlobalRow>::table() {
  static const Table<SwitchHashGlobalRow> table = [] {
    Table<SwitchHashGlobalRow> out("SWITCH_HASH_GLOBAL", "SONiC's SWITCH_HASH|GLOBAL.");
    out.optional("ecmp_hash", &SwitchHashGlobalRow::fields, "fields of the key")
        .optional("ecmp_hash_algorithm", &SwitchHashGlobalRow::algorithm, "SAI's name")
        .optional("lag_hash", &SwitchHashGlobalRow::lag_fields, "fields of the key, of LAGs")
        .optional("lag_hash_algorithm", &SwitchHashGlobalRow::lag_algorithm, "SAI's name, of LAGs");
    for (const SonicHashObject& object : kSonicHashObjects) {
      out.optional(object.ecmp_key, object.ecmp, object.meaning);
      out.optional(object.lag_key, object.lag, "the same of LAGs");
    }
    return out;
  }();
  return table;
}

const Table<DeviceMetadataRow>& Tables<DeviceMetadataRow>::table() {
  static const Table<DeviceMetadataRow> table = [] {
    Table<DeviceMetadataRow> out("DEVICE_METADATA", "SONiC's table.");
    out.optional("localhost", &DeviceMetadataRow::localhost, "the switch itself");
    return out.among_others();
  }();
  return table;
}

const Table<LocalhostRow>& Tables<LocalhostRow>::table() {
  static const Table<LocalhostRow> table = [] {
    Table<LocalhostRow> out("DEVICE_METADATA_LOCALHOST", "SONiC's DEVICE_METADATA|localhost.");
    out.optional("type", &LocalhostRow::type,
                 "ToRRouter: seed 0; LeafRouter: seed 10, offset 10; SpineRouter, as a part of a longer word, too: 25; "
                 "LowerRegionalHub 60, FabricRegionalHub 70, UpperRegionalHub 80; any other: 0")
        .optional("ecmp_hash_seed", &LocalhostRow::ecmp_hash_seed, "instead of the type's seed, and without its offset")
        .optional("hostname", &LocalhostRow::hostname, "which rows of a chassis are its own")
        .optional("asic_name", &LocalhostRow::asic_name, "which rows of a chassis are its own")
        .optional("platform", &LocalhostRow::platform,
                  "x86_64-mlnx_msn2700-r0 and the like: `platform: spectrum`, if the profile has none")
        .optional("namespace_id", &LocalhostRow::namespace_id, "of an ASIC among several: added to the seed",
                  within<uint32_t>(0, 65'535))
        .optional("switch_type", &LocalhostRow::switch_type, "chassis-packet: no offset; dpu: neither");
    return out.among_others().beside(sonic_fields_beside("localhost"));
  }();
  return table;
}

const Table<SwitchTableRow>& Tables<SwitchTableRow>::table() {
  static const Table<SwitchTableRow> table = [] {
    Table<SwitchTableRow> out("SWITCH_TABLE_switch", "SONiC's SWITCH_TABLE:switch.");
    out.optional(kSonicSeed, &SwitchTableRow::seed, "input of the hash")
        .optional(kSonicOffset, &SwitchTableRow::offset, "bits that the result is rotated by", within<uint8_t>(0, 31))
        .optional(kSonicLagSeed, &SwitchTableRow::lag_seed, "the same of LAGs")
        .optional(kSonicLagOffset, &SwitchTableRow::lag_offset, "the same of LAGs", within<uint8_t>(0, 31));
    return out.among_others().beside(sonic_fields_beside("SWITCH_TABLE_switch"));
  }();
  return table;
}

const Table<SwitchJsonRow>& Tables<SwitchJsonRow>::table() {
  static const Table<SwitchJsonRow> table = [] {
    Table<SwitchJsonRow> out("switch_json", "An item of SONiC's switch.json.");
    out.optional(kSonicSwitchTable, &SwitchJsonRow::table, "the switch itself");
    return out.among_others().beside(sonic_fields_beside("switch_json"));
  }();
  return table;
}

}  // namespace softspine::control
