// SPDX-License-Identifier: Apache-2.0
// A testbed file's rows as they are written: names not resolved, defaults of other tables not filled in.
// Only the loader uses these; everything else uses Testbed. The keys are declared in the files of tables beside this
// one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "control/format/format.hpp"
#include "control/generators/generators.hpp"
#include "control/imports/flow_list_format.hpp"
#include "control/imports/import.hpp"
#include "control/model/testbed.hpp"
#include "control/rows/attachment_rows.hpp"
#include "control/rows/collective_row.hpp"
#include "control/rows/engineering_rows.hpp"
#include "control/rows/lag_row.hpp"
#include "control/rows/port_channel_rows.hpp"
#include "control/rows/qos_rows.hpp"
#include "control/rows/stack_row.hpp"
#include "control/rows/trace_row.hpp"
#include "control/rows/training_row.hpp"

namespace softspine::control {

// A number of 0 … Keys-1, or a list of them, to a value: {3: 3, 4: 4}. SONiC quotes all numbers: read here alike.
template <typename T, size_t Keys>
struct NumberMap {
  std::vector<std::pair<uint8_t, T>> items;
};

struct TelemetryRow {
  Value where;
  std::string counters_file;
  std::string events_file;
  dataplane::Duration sample_interval = TelemetryConfig{}.sample_interval;
  std::vector<std::string> counters;
};

struct RunRow {
  Value where;
  std::optional<ClockKind> clock;
  std::optional<dataplane::Duration> duration;
  uint64_t seed = RunConfig{}.seed;
  uint32_t workers = RunConfig{}.workers;
  uint32_t dilation = RunConfig{}.dilation;
  uint32_t clock_ppm = RunConfig{}.clock_ppm;
  Share start_jitter{RunConfig{}.start_jitter_millionths};
  std::optional<Bytes> memory;
  TelemetryRow telemetry;
};

// Two hexadecimal digits a byte.
struct HexBytes {
  std::vector<uint8_t> bytes;
};
// A 16-bit number, decimal or as 0x0800.
struct HexNumber {
  uint16_t value = 0;
};

struct UdfMatchRow {
  Value where;
  std::optional<HexNumber> l2_type;
  std::optional<uint8_t> l3_protocol;
  std::optional<uint16_t> l4_dst_port;
};
struct UdfRow {
  Value where;
  UdfBase base = UdfBase::kL4;
  uint16_t offset = 0;
  uint8_t length = 1;
  std::optional<HexBytes> mask;
  std::optional<UdfMatchRow> match;
};

using AnyAddress = std::variant<Ipv4Address, Ipv6Address>;

// RTAG7's blocks: dataplane/hashing/rtag7_blocks.hpp. Block A's first function, fields and seed are the hash's own.
struct Rtag7OptionsRow {
  std::optional<HashAlgorithm> second;
  std::optional<std::vector<HashField>> equal_ports;
  std::optional<bool> pre_processing;
  std::optional<bool> low_ipv6;
  std::optional<bool> symmetric;
};
struct Rtag7ARow : Rtag7OptionsRow {
  Value where;
};
struct Rtag7BRow : Rtag7OptionsRow {
  Value where;
  std::optional<HashAlgorithm> first;
  std::optional<std::vector<HashField>> fields;
  std::optional<uint32_t> seed;
};
struct MacroFlowEntryRow {
  Value where;
  Rtag7Output output = Rtag7Output::kA0;
  uint8_t offset = 0;
};
struct MacroFlowRow {
  Value where;
  std::optional<HashAlgorithm> algorithm;
  std::optional<bool> upper_byte;
  std::vector<MacroFlowEntryRow> table;
};
struct Rtag7Row {
  Value where;
  std::optional<Rtag7ARow> a;
  std::optional<Rtag7BRow> b;
  std::optional<Rtag7Output> output;
  std::optional<MacroFlowRow> macro_flow;
};

struct FineGrainedRow {
  Value where;
  HashField field = HashField::kSrcIp;
  std::optional<AnyAddress> mask;
  uint32_t sequence = 0;
};
struct HashObjectRow {
  Value where;
  std::optional<std::vector<HashField>> fields;
  std::optional<std::vector<UdfRow>> udf;
  std::optional<std::vector<FineGrainedRow>> fine_grained;
  // Instead of the keys: this object, or none.
  std::optional<std::optional<dataplane::HashObject>> as_it_is;
};

struct HashRow {
  Value where;
  std::optional<HashModel> model;
  std::optional<HashAlgorithm> algorithm;
  std::optional<std::vector<HashField>> fields;
  std::optional<std::vector<UdfRow>> udf;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  std::optional<HexBytes> key;
  std::optional<std::vector<FineGrainedRow>> fine_grained;
  std::optional<bool> symmetric;
  std::shared_ptr<const HashObjectRow> ipv4;  // apart, and the next: few rows have them
  std::shared_ptr<const HashObjectRow> ipv4_in_ipv4;
  std::shared_ptr<const HashObjectRow> ipv6;
  std::shared_ptr<const HashObjectRow> ipv4_rdma;
  std::shared_ptr<const HashObjectRow> ipv6_rdma;
  std::optional<uint8_t> policy;
  std::optional<Rtag7Row> rtag7;
};

// The key of each hash object and its member, by HashObjectOf.
inline constexpr std::array<std::pair<std::string_view, std::shared_ptr<const HashObjectRow> HashRow::*>, 5>
    kHashObjectRows{{{"ipv4", &HashRow::ipv4},
                     {"ipv4_in_ipv4", &HashRow::ipv4_in_ipv4},
                     {"ipv6", &HashRow::ipv6},
                     {"ipv4_rdma", &HashRow::ipv4_rdma},
                     {"ipv6_rdma", &HashRow::ipv6_rdma}}};

struct EcmpGroupsRow {
  Value where;
  std::optional<EcmpGroupMode> mode;
  std::optional<EcmpGroupKind> kind;
  std::optional<uint32_t> buckets;
  std::optional<Named<uint32_t>> weights;
  std::optional<dataplane::Duration> gap;
  std::optional<uint32_t> flowlets;
};

// What a ToR knows of its hosts, and for how long.
struct NeighboursRow {
  Value where;
  std::optional<dataplane::Duration> arp_timeout;
  std::optional<dataplane::Duration> fdb_aging_time;
  std::optional<dataplane::UnicastMiss> fdb_unicast_miss;
};

// SONiC writes ["SRC_IP", "DST_IP"], or "SRC_IP,DST_IP".
struct HashFieldList {
  std::vector<HashField> fields;
  friend bool operator==(const HashFieldList&, const HashFieldList&) = default;
};

// SONiC: SWITCH_HASH|GLOBAL. Seed and offset follow from the device's type.
struct SwitchHashGlobalRow {
  using Fields = std::optional<HashFieldList>;
  Value where;
  std::optional<HashAlgorithm> algorithm;
  Fields fields;
  // Of LAGs; as those of ECMP groups if not given.
  Fields lag_fields;
  std::optional<HashAlgorithm> lag_algorithm;
  // Of packets of one kind; as all others if not given.
  Fields ipv4, ipv4_in_ipv4, ipv6, ipv4_rdma, ipv6_rdma;
  Fields lag_ipv4, lag_ipv4_in_ipv4, lag_ipv6, lag_ipv4_rdma, lag_ipv6_rdma;
};

// Keys and members of each hash object, by HashObjectOf.
struct SonicHashObject {
  std::string_view ecmp_key;
  std::string_view lag_key;
  SwitchHashGlobalRow::Fields SwitchHashGlobalRow::* ecmp;
  SwitchHashGlobalRow::Fields SwitchHashGlobalRow::* lag;
  std::string_view meaning;
};
inline constexpr std::array<SonicHashObject, 5> kSonicHashObjects{
    {{"ecmp_hash_ipv4", "lag_hash_ipv4", &SwitchHashGlobalRow::ipv4, &SwitchHashGlobalRow::lag_ipv4,
      "fields of the key of IPv4 packets"},
     {"ecmp_hash_ipnip", "lag_hash_ipnip", &SwitchHashGlobalRow::ipv4_in_ipv4, &SwitchHashGlobalRow::lag_ipv4_in_ipv4,
      "of IPv4 in IPv4"},
     {"ecmp_hash_ipv6", "lag_hash_ipv6", &SwitchHashGlobalRow::ipv6, &SwitchHashGlobalRow::lag_ipv6, "of IPv6"},
     {"ecmp_hash_ipv4_rdma", "lag_hash_ipv4_rdma", &SwitchHashGlobalRow::ipv4_rdma, &SwitchHashGlobalRow::lag_ipv4_rdma,
      "of RoCEv2 over IPv4; like IPv4 if not given"},
     {"ecmp_hash_ipv6_rdma", "lag_hash_ipv6_rdma", &SwitchHashGlobalRow::ipv6_rdma, &SwitchHashGlobalRow::lag_ipv6_rdma,
      "of RoCEv2 over IPv6; like IPv6 if not given"}}};
struct SwitchHashRow {
  Value where;
  SwitchHashGlobalRow global;
};

// SONiC: DEVICE_METADATA|localhost, as far as the hash follows from it.
struct LocalhostRow {
  Value where;
  std::optional<std::string> type;
  std::optional<std::string> switch_type;
  std::optional<std::string> hostname;
  std::optional<std::string> asic_name;
  std::optional<std::string> platform;
  std::optional<uint32_t> ecmp_hash_seed;
  std::optional<uint32_t> namespace_id;
};
struct DeviceMetadataRow {
  Value where;
  std::optional<LocalhostRow> localhost;
};

// An item of SONiC's switch.json, which is what its containers make of DEVICE_METADATA.
struct SwitchTableRow {
  Value where;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  std::optional<uint32_t> lag_seed;
  std::optional<uint8_t> lag_offset;
};
struct SwitchJsonRow {
  Value where;
  std::optional<SwitchTableRow> table;
};

struct ProfileRow : QosRows {
  Value where;
  bool read_well = true;
  std::optional<std::string> base;
  std::optional<std::string> config_db;
  std::optional<std::string> pg_profile_lookup;
  std::optional<std::string> switch_json;
  std::optional<std::string> switch_config;
  std::optional<Bytes> queue_limit;
  std::optional<NumberMap<Bytes, 8>> queue_limits;
  std::optional<uint32_t> mtu;
  std::optional<bool> in_band_telemetry;
  std::shared_ptr<const HashRow> hash;  // apart: it is large, and few rows of a long list have one
  std::shared_ptr<const HashRow> lag_hash;
  std::shared_ptr<const SwitchHashRow> switch_hash;  // likewise
  std::optional<DeviceMetadataRow> device_metadata;
  std::optional<EcmpGroupsRow> groups;
  Keyed<RowName, PortChannelRow> port_channel;  // of a config_db.json, as the next
  Keyed<ChannelMember, ChannelMemberRow> port_channel_member;
  std::optional<NeighboursRow> neighbours;
  std::optional<Named<NumberMap<uint8_t, 64>>> dscp_to_tc_map;
  std::optional<Named<NumberMap<uint8_t, 8>>> dot1p_to_tc_map;
  std::optional<Named<NumberMap<uint8_t, 8>>> tc_to_queue_map;
  std::optional<Named<NumberMap<uint8_t, 8>>> tc_to_pg_map;
  std::optional<Named<NumberMap<uint8_t, 8>>> pfc_to_queue_map;
  std::optional<Named<NumberMap<uint8_t, 8>>> pfc_to_pg_map;
};

using AnyPrefix = std::variant<Ipv4Prefix, Ipv6Prefix>;

struct NodeRow {
  Value where;
  std::optional<NodeKind> kind;
  // switches
  std::optional<Role> role;
  std::optional<std::string> profile;
  std::optional<OneOrMore<AnyPrefix>> subnet;
  // hosts
  std::optional<OneOrMore<AnyAddress>> address;
  std::optional<MacAddress> mac;
  std::optional<std::string> server;
  std::optional<GuestRow> guest;
  std::optional<NamespaceRow> name_space;
  std::optional<VerbsRow> verbs;
  std::optional<OneOrMore<EdgeRow>> edge;
  std::optional<NicRow> nic;
  std::optional<BondRow> bond;
  std::optional<VlanRow> vlan;
  BuiltinHostParameters builtin;
};

struct LinkRow {
  Value where;
  std::vector<Endpoint> endpoints;
  dataplane::Rate rate;
  Length length = Length::metres(5);
  std::optional<uint32_t> mtu;
  dataplane::LinkParameters parameters;
};

struct ImportRow {
  Value where;
  OneOrMore<std::string> files;
  ImportFormat format = ImportFormat::kHpcc;
  std::vector<NodeRule> rules;
  dataplane::Rate rate = ImportOptions{}.rate;
  Length length = ImportOptions{}.length;
};

// Servers that are as one of NCCL's topology files has them.
struct ServerRow {
  Value where;
  std::string file;
  std::optional<OneOrMore<std::string>> of;
};

struct TopologyRow {
  Value where;
  Tried<ImportRow> imported;
  Named<NodeRow> nodes;
  Tried<std::vector<LinkRow>> links;
  Named<StackRow> stacks;
  std::vector<LagRow> lags;
  std::vector<ServerRow> servers;
};

// The profiles of switches that name none, a member for each row of kSwitchRoles: a table's key is a member.
template <size_t Number>
struct ProfileOfRole {
  std::optional<std::string> profile;
};
template <typename Numbers>
struct ProfilesOfRoles;
template <size_t... Number>
struct ProfilesOfRoles<std::index_sequence<Number...>> : ProfileOfRole<Number>... {};

struct RolesRow : ProfilesOfRoles<std::make_index_sequence<kSwitchRoles.size()>> {
  Value where;
};
// In the order of kSwitchRoles.
inline constexpr auto kProfileOfRole = []<size_t... Number>(std::index_sequence<Number...>) {
  using Member = std::optional<std::string> RolesRow::*;
  return std::array{static_cast<Member>(&ProfileOfRole<Number>::profile)...};
}(std::make_index_sequence<kSwitchRoles.size()>{});

// A UDP source port, or `per_qp`.
struct SourcePort {
  uint16_t port = 0;
};
// Hosts by name, or how many.
struct HostsOrCount {
  std::optional<uint32_t> count;
  std::vector<std::string> names;
};

struct WorkloadRow {
  Value where;
  std::string name;
  Pattern pattern = Pattern::kPermutation;
  std::optional<std::vector<std::string>> hosts;
  std::optional<HostsOrCount> from;
  std::optional<OneOrMore<std::string>> to;
  std::optional<std::string> file;  // list
  std::optional<FlowListFormat> format;
  dataplane::Duration zero;
  std::optional<Share> load;  // poisson
  std::optional<std::string> sizes;
  std::optional<uint64_t> flows;
  std::optional<dataplane::Duration> until;
  Bytes message{Workload{}.message_bytes};
  uint64_t messages = Workload{}.messages;
  uint32_t mtu = Workload{}.mtu;
  uint32_t qps = Workload{}.qps;
  Scaling scaling = Scaling::kEach;
  QpNumbering qp_numbers = QpNumbering::kRxe;
  std::optional<uint32_t> first_qp;
  SourcePort source_port;
  std::optional<dataplane::Rate> rate;
  dataplane::Duration start;
  std::optional<uint8_t> dscp;
  TransportKind transport = TransportConfig{}.kind;
  Verb verb = TransportConfig{}.verb;
  ReliableParameters reliable;
  std::optional<uint8_t> ack_dscp;
  std::optional<uint8_t> cnp_dscp;
  std::optional<dataplane::Duration> cnp_interval;
};

struct JobRow {
  Value where;
  std::string name;
  HostsOrCount servers;
  std::optional<Placement> placement;
  std::optional<OneOrMore<std::string>> of;
};

// Whether the end that gets no frames any more still has a signal.
enum class Carrier : uint8_t { kStays, kGoes };

// Down and up again, several times.
struct FlapRow {
  Value where;
  dataplane::Duration period;
  std::optional<dataplane::Duration> down;
  dataplane::Duration jitter;
  uint32_t count = 1;
};

struct BfdRow {
  Value where;
  dataplane::Duration interval;
  uint32_t multiplier = 3;
};

struct DetectionRow {
  Value where;
  std::optional<dataplane::Duration> loss_of_signal;
  std::optional<BfdRow> bfd;
  bool none = false;
};

struct FaultRow {
  Value where;
  dataplane::Duration at;
  std::optional<Endpoint> link;
  std::optional<std::string> node;
  std::optional<FaultKind> set;
  std::optional<std::string> profile;
  // Of a host, port or cable that fails.
  std::optional<dataplane::Duration> until;
  std::optional<std::vector<uint8_t>> priorities;
  std::optional<dataplane::Rate> drain;
  std::optional<Share> drop;
  std::optional<Share> corrupt;
  std::optional<LossyWay> direction;
  // Of links.
  std::optional<std::vector<std::string>> ports;  // some of the node's
  std::optional<uint32_t> plane;                  // from 1 on
  std::optional<std::string> rack;
  std::optional<Carrier> carrier;
  std::optional<dataplane::Duration> links_after;
  std::optional<FlapRow> flap;
};

struct ExpectRow {
  Value where;
  std::string value;
  std::optional<Expected> equal;
  std::optional<Expected> at_least;
  std::optional<Expected> at_most;
  std::optional<std::vector<Expected>> between;
  std::optional<Share> within;
};

struct TestbedRow {
  Value where;
  std::string name;
  OneOrMore<std::string> include;
  RunRow run;
  Tried<FabricSpec> fabric;
  Named<Tried<FabricSpec>> fabrics;
  RolesRow roles;
  std::optional<TopologyRow> topology;
  Named<ProfileRow> profiles;
  std::vector<JobRow> jobs;
  std::vector<WorkloadRow> workload;
  std::vector<CollectiveRow> collectives;
  std::vector<TrainingRow> training;
  std::vector<TraceRow> traces;
  std::vector<OverrideRow> overrides;
  std::optional<EngineeringRow> engineering;
  std::vector<FaultRow> faults;
  dataplane::Duration convergence;
  std::optional<dataplane::Duration> convergence_per_hop;
  std::optional<DetectionRow> detection;
  std::vector<ExpectRow> expect;
};

}  // namespace softspine::control
