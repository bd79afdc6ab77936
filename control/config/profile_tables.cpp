// SPDX-License-Identifier: Apache-2.0
// The tables of a profile, under SONiC's names. A new one: a row struct, its table here, its resolution in
// profiles.cpp.
#include "control/config/tables.hpp"

namespace softspine::control {

const Table<ProfileRow>& Tables<ProfileRow>::table() {
  static const Table<ProfileRow> table =
      Table<ProfileRow>("profile", "The tables that a switch works by.")
          .optional("base", &ProfileRow::base, "the profile that this one changes")
          .optional("queue_limit", &ProfileRow::queue_limit, "of every queue", at_least<Bytes>({64}))
          .optional("queue_limits", &ProfileRow::queue_limits, "of single queues")
          .optional("mtu", &ProfileRow::mtu, "of its links, unless they say otherwise", within<uint32_t>(1'280, 9'216))
          .optional("hash", &ProfileRow::hash, "of ECMP groups")
          .optional("SWITCH_HASH", &ProfileRow::switch_hash, "the same as SONiC writes it")
          .optional("groups", &ProfileRow::groups, "of next hops: how one of them is chosen")
          .optional("DSCP_TO_TC_MAP", &ProfileRow::dscp_to_tc_map, "named maps of DSCP to traffic class; unlisted: 0")
          .optional("TC_TO_QUEUE_MAP", &ProfileRow::tc_to_queue_map,
                    "named maps of traffic class to queue; unlisted: 0")
          .optional("PORT_QOS_MAP", &ProfileRow::port_qos_map, "which of several named maps are in force")
          .check([](Reader& reader, Value at, const ProfileRow& row) {
            return !row.hash || !row.switch_hash ||
                   reader.wrong(at.child("SWITCH_HASH"), "says again what 'hash' says");
          });
  return table;
}

const Table<HashRow>& Tables<HashRow>::table() {
  static const Table<HashRow> table =
      Table<HashRow>("hash", "Key fields, algorithm, seed; the result is rotated right by the offset.")
          .optional("model", &HashRow::model, "SAI, or RTAG7: 16-bit bins, Broadcom's CRCs, the seed hashed first")
          .optional("algorithm", &HashRow::algorithm, "SAI's, TOEPLITZ or XXH3")
          .optional("fields", &HashRow::fields, "of the key, by SAI's names")
          .optional("udf", &HashRow::udf, "user-defined fields, behind the others")
          .optional("key", &HashRow::key, "TOEPLITZ: the secret, in hexadecimal; Microsoft's if not given")
          .optional("seed", &HashRow::seed, "input of the hash")
          .optional("offset", &HashRow::offset, "bits", within<uint8_t>(0, 31));
  return table;
}

const Table<SwitchHashRow>& Tables<SwitchHashRow>::table() {
  static const Table<SwitchHashRow> table =
      Table<SwitchHashRow>("SWITCH_HASH", "SONiC's table.").required("GLOBAL", &SwitchHashRow::global, "the only row");
  return table;
}

const Table<SwitchHashGlobalRow>& Tables<SwitchHashGlobalRow>::table() {
  static const Table<SwitchHashGlobalRow> table =
      Table<SwitchHashGlobalRow>("SWITCH_HASH_GLOBAL", "SONiC's SWITCH_HASH|GLOBAL.")
          .optional("ecmp_hash", &SwitchHashGlobalRow::fields, "fields of the key")
          .optional("ecmp_hash_algorithm", &SwitchHashGlobalRow::algorithm, "SAI's name")
          .optional("ecmp_hash_seed", &SwitchHashGlobalRow::seed, "input of the hash")
          .optional("ecmp_hash_offset", &SwitchHashGlobalRow::offset, "bits that the result is rotated by",
                    within<uint8_t>(0, 31))
          .optional("lag_hash", &SwitchHashGlobalRow::lag_fields, "read and not used: there are no LAGs here")
          .optional("lag_hash_algorithm", &SwitchHashGlobalRow::lag_algorithm, "read and not used");
  return table;
}

const Table<PortQosMapRow>& Tables<PortQosMapRow>::table() {
  static const Table<PortQosMapRow> table = Table<PortQosMapRow>("PORT_QOS_MAP", "SONiC's table.")
                                                .required("global", &PortQosMapRow::global, "for the whole switch");
  return table;
}

const Table<PortQosGlobalRow>& Tables<PortQosGlobalRow>::table() {
  static const Table<PortQosGlobalRow> table =
      Table<PortQosGlobalRow>("PORT_QOS_MAP_global", "Maps in force, by name.")
          .optional("dscp_to_tc_map", &PortQosGlobalRow::dscp_to_tc_map, "a row of DSCP_TO_TC_MAP")
          .optional("tc_to_queue_map", &PortQosGlobalRow::tc_to_queue_map, "a row of TC_TO_QUEUE_MAP");
  return table;
}

}  // namespace softspine::control
