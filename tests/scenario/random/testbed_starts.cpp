// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/testbed_starts.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace softspine::tests {
namespace {

// Two tiers, whose names the starts below go by: h1 and h2 on Ethernet0 and 4 of tor1, spine1 on Ethernet8 to 16.
constexpr std::string_view kTwoTier = R"({"fabric": {"kind": "leaf-spine", "tors": 2, "spines": 2, "hosts_per_tor": 2,
  "links_per_spine": 3, "host_link": {"rate": "100Gbps"}, "fabric_link": {"rate": "100Gbps"}}})";

struct Row {
  std::string_view of;  // a table, or one key: fault.drain
  bool two_tier;
  std::string_view text;
};

constexpr std::string_view kRtag7 = R"({"profiles": {"default": {"hash": {"model": "RTAG7", "algorithm": "CRC_XOR",
  "fields": ["SRC_IP", "DST_IP", "L4_SRC_PORT", "L4_DST_PORT"], "seed": 7,
  "rtag7": {"a": {"second": "CRC_32LO", "pre_processing": true, "equal_ports": ["SRC_IP", "DST_IP"]},
    "b": {"first": "CRC_CCITT", "fields": ["SRC_IP", "DST_IP"], "seed": 25, "symmetric": true}, "output": "B0"}}}}})";
constexpr std::string_view kMacroFlows = R"({"profiles": {"default": {"hash": {"model": "RTAG7", "algorithm": "CRC_XOR",
  "fields": ["SRC_IP", "DST_IP", "L4_SRC_PORT", "L4_DST_PORT"], "seed": 7,
  "rtag7": {"macro_flow": {"algorithm": "CRC", "table": [{"output": "A0", "offset": 3},
    {"output": "B1", "offset": 9}]}}}}}})";
constexpr std::string_view kTimely = R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
  "congestion_control": {"kind": "timely", "t_low": "5us", "t_high": "20us"}}]})";
constexpr std::string_view kTimelyPatched = R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
  "congestion_control": {"kind": "timely_patched", "t_low": "5us", "t_high": "20us"}}]})";
constexpr std::string_view kBuffers = R"({"profiles": {"default": {"base": "lossless", "queue_limit": null,
  "BUFFER_PG": {"3-4": {"profile": "pg_lossless_auto_profile"}},
  "BUFFER_QUEUE": {"3-4": {"profile": "egress_lossless_profile"}}}}})";
constexpr std::string_view kExtraHost = R"({"topology": {"nodes": {"extra": {"kind": "host"}},
  "links": [{"endpoints": ["extra", "tor1"], "rate": "100Gbps"}]}})";

// h1 and h3 are two GPUs of one server, and h1 is a rank of two collectives.
constexpr std::string_view kGpus = R"({"topology": {"nodes": {
    "h1": {"server": "box", "scale_up_rate": "90Gbps", "scale_up_latency": "300ns"},
    "h3": {"server": "box", "scale_up_rate": "90Gbps", "scale_up_latency": "300ns"}}},
  "collectives": [{"name": "c0", "op": "all_reduce", "size": "64KiB", "channels": 2, "ranks": ["h1", "h3", "h2", "h4"]},
    {"name": "c1", "op": "all_to_all", "size": "32KiB", "ranks": ["h1", "h2"], "compute": "3us"}]})";
// All compute, and h2 for longer than the others; h1 belongs to two.
constexpr std::string_view kSlowGpu = R"({"topology": {"nodes": {"h2": {"compute_scale": "230%"}}},
  "collectives": [{"name": "c0", "op": "all_reduce", "size": "32KiB", "compute": "4us", "iterations": 3},
    {"name": "c1", "op": "all_to_all", "size": "16KiB", "ranks": ["h1", "h2"], "compute": "3us", "iterations": 2}]})";
// Two servers of two GPUs, and rails from one to the other.
constexpr std::string_view kPxn = R"({"topology": {"nodes": {"h1": {"server": "a"}, "h3": {"server": "a"},
    "h2": {"server": "b"}, "h4": {"server": "b"}}},
  "collectives": [{"name": "c0", "op": "all_to_all", "size": "64KiB", "pxn": true}]})";
constexpr std::string_view kTrainingByPxn = R"({"topology": {"nodes": {"h1": {"server": "a"}, "h3": {"server": "a"},
    "h2": {"server": "b"}, "h4": {"server": "b"}}},
  "training": [{"name": "t0", "tensor_parallel": 4, "pxn": true, "layers": [{"name": "a",
    "forward": {"compute": "3us", "op": "all_to_all", "size": "32KiB"}}]}]})";
constexpr std::string_view kServers = R"({"topology": {"nodes": {"h1": {"server": "box"}, "h3": {"server": "box"}},
    "servers": [{"file": "drawn-server.xml", "of": ["h1", "h3"]}]},
  "collectives": [{"name": "c0", "op": "all_reduce", "size": "64KiB"}]})";
constexpr std::string_view kTraining = R"({"training": [{"name": "t0", "tensor_parallel": 2, "expert_parallel": 2,
    "layers": [{"name": "a", "times": 2, "update": "1us",
      "forward": {"compute": "3us", "op": "all_reduce", "size": "32KiB", "group": "tensor"},
      "input_gradient": {"compute": "2us", "op": "all_to_all", "size": "16KiB", "group": "expert"},
      "weight_gradient": {"compute": "1us", "op": "reduce_scatter", "size": "64KiB", "group": "data"}}]}]})";
constexpr std::string_view kWorkloadText = R"({"training": [{"name": "t0", "file": "drawn-workload.txt"}]})";
constexpr std::string_view kTrace = R"({"traces": [{"name": "t0", "file": "drawn.goal"}]})";

constexpr std::string_view kEdge = R"({"topology": {"nodes": {"h1": {"edge": {"pcap": {"in": "drawn-in.pcapng",
  "out": "drawn-out0.pcap"}}}}}, "workload": [{"name": "w0", "pattern": "pairs", "from": ["h2", "h3"],
  "to": ["h3", "h4"], "message": "64KiB", "messages": 20, "rate": "20Gbps"}]})";

// One of the links from spine1 to tor2 is too narrow for some: what spine1 tells their hosts is hashed over its links
// to tor1, with the MACs that it has before it is routed.
constexpr std::string_view kNarrow = R"({"topology": {"links": [{"endpoints": ["spine1", "tor2"], "rate": "100Gbps",
  "mtu": 2000}]}, "profiles": {"default": {"hash": {"fields": ["SRC_MAC", "DST_MAC", "SRC_IP", "DST_IP",
  "L4_SRC_PORT"]}}}, "workload": [{"name": "w0", "pattern": "pairs", "from": ["h1", "h2"], "to": ["h3", "h4"],
  "message": "64KiB", "messages": 20, "mtu": 4096, "qps": 8, "rate": "40Gbps"}]})";
constexpr std::string_view kImport = R"({"fabric": null,
  "topology": {"import": {"file": "drawn-hpcc.txt", "format": "hpcc"}}})";

constexpr std::string_view kList = R"({"workload": [{"name": "w0", "pattern": "list", "file": "drawn-flows.txt",
  "zero": "200us", "transport": "rc"}]})";
constexpr std::string_view kPoisson = R"({"workload": [{"name": "w0", "pattern": "poisson", "load": "80%",
  "sizes": "googlerpc", "flows": 16, "transport": "rc"}]})";

constexpr std::array kRows{
    Row{"collective", true, R"({"collectives": [{"name": "c0", "op": "all_reduce", "size": "64KiB"}]})"},
    Row{"collective.channels", true, kGpus},
    Row{"collective.compute", true, kGpus},
    Row{"collective.pxn", true, kPxn},
    Row{"training.pxn", true, kTrainingByPxn},
    Row{"topology.servers", true, kServers},
    Row{"server", true, kServers},
    Row{"collective.plan", true, R"({"collectives": [{"name": "c0", "op": "all_reduce", "size": "60000B",
      "plan": "drawn-plan.xml", "ranks": ["h1", "h4"]}]})"},
    Row{"node.scale_up_rate", true, kGpus},
    Row{"node.scale_up_latency", true, kGpus},
    Row{"node.compute_scale", true, kSlowGpu},
    Row{"collective.root", true, R"({"collectives": [{"name": "c0", "op": "broadcast", "size": "64KiB"}]})"},
    Row{"training", true, kTraining},
    Row{"training.file", true, kWorkloadText},
    Row{"training.layers", true, kTraining},
    Row{"training.tensor_parallel", true, kTraining},
    Row{"training.expert_parallel", true, kTraining},
    Row{"training.compute_scale", true, kTraining},
    Row{"layer", true, kTraining},
    Row{"phase", true, kTraining},
    Row{"testbed.traces", true, kTrace},
    Row{"trace.ranks", true, R"({"traces": [{"name": "t0", "file": "drawn.goal", "ranks": ["h3", "h1", "h4"]}],
      "collectives": [{"name": "c0", "op": "all_gather", "size": "64KiB"}]})"},
    Row{"trace", true, kTrace},
    Row{"trace.file", true, R"({"traces": [{"name": "t0", "file": "drawn-simai.txt", "format": "simai_flows"}]})"},
    Row{"trace.format", true, R"({"traces": [{"name": "t0", "file": "drawn", "format": "chakra"}]})"},
    Row{"trace.start_unit", true, R"({"traces": [{"name": "t0", "file": "drawn.cm", "format": "htsim"}]})"},
    Row{"lag", true, R"({"topology": {"lags": [{"name": "all", "between": ["tor1", "spine1"]}]}})"},
    Row{"lag.members", true, R"({"topology": {"lags": [{"name": "two", "between": ["tor1", "spine1"],
      "members": ["tor1:Ethernet8", "tor1:Ethernet12"]}]}})"},
    Row{"stack", false, R"({"fabric": {"kind": "hpn", "segments": 2, "servers_per_segment": 2, "rails": 1, "planes": 1,
      "aggregations_per_plane": 2, "host_link": {"rate": "100Gbps"}, "fabric_link": {"rate": "100Gbps"}},
      "topology": {"links": [{"endpoints": ["s1-r1-tor1", "s1-r1-tor2"], "rate": "100Gbps"}],
      "stacks": {"rack": {"switches": ["s1-r1-tor1", "s1-r1-tor2"]}}}})"},
    Row{"topology.stacks", false, R"({"fabric": {"kind": "hpn", "segments": 2, "servers_per_segment": 2, "rails": 1,
      "planes": 1, "aggregations_per_plane": 2, "host_link": {"rate": "100Gbps"}, "fabric_link": {"rate": "100Gbps"}},
      "topology": {"links": [{"endpoints": ["s1-r1-tor1", "s1-r1-tor2"], "rate": "100Gbps"}],
      "stacks": {"rack": {"switches": ["s1-r1-tor1", "s1-r1-tor2"]}}}})"},
    Row{"node.bond", false, R"({"fabric": {"kind": "hpn", "segments": 2, "servers_per_segment": 2, "rails": 1,
      "planes": 1, "aggregations_per_plane": 2, "host_link": {"rate": "100Gbps"}, "fabric_link": {"rate": "100Gbps"}},
      "topology": {"nodes": {"s1-h1-nic1": {"bond": {"mode": "lacp", "miimon": "10us"}}}}})"},
    Row{"topology.import", false, kImport},
    Row{"import", false, kImport},
    Row{"profile.config_db", false, R"({"profiles": {"default": {"config_db": "drawn-config_db.json"}}})"},
    Row{"profile.pg_profile_lookup", false, R"({"profiles": {"default": {"base": "lossless", "queue_limit": null,
      "config_db": "drawn-config_db.json", "pg_profile_lookup": "drawn-pg_profile_lookup.ini"}}})"},
    Row{"link.mtu", true, kNarrow},
    Row{"hash.fields", true, kNarrow},
    Row{"profile.mtu", true, kNarrow},
    Row{"node.edge", true, kEdge},
    Row{"node.nic", true, kEdge},
    Row{"edge", true, kEdge},
    Row{"pcap", true, kEdge},
    Row{"nic", true, kEdge},
    Row{"link", true, kExtraHost},
    Row{"topology.links", true, kExtraHost},
    Row{"topology.nodes", true, kExtraHost},
    Row{"node.kind", true, kExtraHost},
    Row{"node.role", true, R"({"topology": {"nodes": {"top": {"kind": "switch", "role": "core"}},
      "links": [{"endpoints": ["top", "spine1"], "rate": "100Gbps"}]}})"},
    Row{"node.profile", true, R"({"topology": {"nodes": {"tor1": {"profile": "other"}}}})"},
    Row{"node.subnet", true, R"({"topology": {"nodes": {"tor2": {"subnet": "10.9.1.0/24"}}}})"},
    Row{"node.address", true, R"({"topology": {"nodes": {"h1": {"address": "10.0.1.77"}}}})"},
    Row{"node.mac", true, R"({"topology": {"nodes": {"h1": {"mac": "02:00:00:77:00:01"}}}})"},
    Row{"node.server", true, R"({"topology": {"nodes": {"h1": {"server": "box"}, "h3": {"server": "box"}}}})"},
    Row{"node.vlan", true, R"({"topology": {"nodes": {"h1": {"vlan": 7}, "h2": {"vlan": 7}}}})"},
    Row{"node.pfc_watchdog", true, R"({"topology": {"nodes": {"h1": {"pfc_watchdog": "20us"}}}})"},
    Row{"hash.rtag7", false, kRtag7},
    Row{"rtag7", false, kRtag7},
    Row{"rtag7_a", false, kRtag7},
    Row{"rtag7_b", false, kRtag7},
    Row{"rtag7.macro_flow", false, kMacroFlows},
    Row{"macro_flow", false, kMacroFlows},
    Row{"macro_flow_entry", false, kMacroFlows},
    Row{"flap", true, R"({"faults": [{"at": "5us", "link": "tor1:Ethernet8", "set": "down",
      "flap": {"period": "20us", "count": 2}}]})"},
    Row{"fault.drain", true, R"({"faults": [{"at": "5us", "node": "h1", "set": "slow_receiver", "drain": "5Gbps"}]})"},
    Row{"fault.drop", true, R"({"faults": [{"at": "5us", "link": "tor1:Ethernet8", "set": "lossy", "drop": "9%"}]})"},
    Row{"fault.corrupt", true, R"({"faults": [{"at": "5us", "link": "tor1:Ethernet8", "set": "lossy",
      "corrupt": "9%"}]})"},
    Row{"fault.direction", true, R"({"faults": [{"at": "5us", "link": "tor1:Ethernet8", "set": "one_way",
      "direction": "in"}]})"},
    Row{"fault.carrier", true, R"({"faults": [{"at": "5us", "link": "tor1:Ethernet8", "set": "dead",
      "carrier": "goes"}]})"},
    Row{"fault.rack", true, R"({"faults": [{"at": "5us", "rack": "tor1", "set": "down"}]})"},
    Row{"fault.links_after", true, R"({"faults": [{"at": "5us", "node": "spine1", "set": "drained",
      "links_after": "4us"}]})"},
    Row{"bfd", false, R"({"detection": {"bfd": {"interval": "10us"}}})"},
    Row{"override.from", true,
        R"({"overrides": [{"at": "tor1", "from": "Ethernet0", "to": "h3", "via": "Ethernet8"}]})"},
    Row{"workload.file", true, kList},
    Row{"workload.format", true, kList},
    Row{"workload.zero", true, kList},
    Row{"workload.load", true, kPoisson},
    Row{"workload.sizes", true, kPoisson},
    Row{"workload.flows", true, kPoisson},
    Row{"workload.until", true, R"({"workload": [{"name": "w0", "pattern": "poisson", "load": "80%",
      "sizes": "googlerpc", "until": "20us"}]})"},
    Row{"timely", false, kTimely},
    Row{"timely_patched", false, kTimelyPatched},
    Row{"bdp_fc", false, R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
      "congestion_control": {"kind": "bdp_fc", "rtt": "4us"}}]})"},
    Row{"dctcp", false, R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
      "congestion_control": {"kind": "dctcp", "rtt": "4us"}}]})"},
    Row{"hpcc", false, R"({"profiles": {"default": {"in_band_telemetry": true}}, "workload": [{"name": "w0",
      "pattern": "ring", "transport": "rc", "congestion_control": {"kind": "hpcc", "rtt": "4us"}}]})"},
    Row{"swift", false, R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
      "congestion_control": {"kind": "swift", "base_target": "4us"}}]})"},
    Row{"dcqcn_connectx", false, R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
      "congestion_control": {"kind": "dcqcn_connectx", "time_reset": "30us"}}]})"},
    Row{"dcqcn_paper", false, R"({"workload": [{"name": "w0", "pattern": "ring", "transport": "rc",
      "congestion_control": {"kind": "dcqcn_paper", "time_reset": "30us"}}]})"},
    Row{"profile.BUFFER_PG", false, kBuffers},
    Row{"profile.BUFFER_QUEUE", false, kBuffers},
    Row{"BUFFER_USE", false, kBuffers},
    Row{"PORT_QOS_MAP.dot1p_to_tc_map", false, R"({"profiles": {"default": {"DOT1P_TO_TC_MAP": {"AZURE": {"3": 3}},
      "PORT_QOS_MAP": {"*": {"dot1p_to_tc_map": "AZURE"}}}}})"},
    Row{"BUFFER_POOL.xoff", false, R"({"profiles": {"default": {"base": "lossless", "queue_limit": null,
      "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "4MiB"}}}}})"},
    Row{"groups.flowlets", false, R"({"profiles": {"default": {"groups": {"mode": "flowlet", "gap": "5us",
      "flowlets": 64}}}})"},
    Row{"groups.weights", true, R"({"profiles": {"default": {"groups": {"weights": {"spine1": 3, "spine2": 1}}}}})"},
    Row{"expectation.at_least", false, R"({"expect": [{"value": "totals.sent_packets", "at_least": 1}]})"},
    Row{"expectation.at_most", false, R"({"expect": [{"value": "totals.sent_packets", "at_most": 9}]})"},
    Row{"expectation.between", false, R"({"expect": [{"value": "totals.sent_packets", "between": [1, 9]}]})"},
};

}  // namespace

Json start_of(const SchemaKey& goal) {
  auto found = std::ranges::find(kRows, goal.text(), &Row::of);
  if (found == kRows.end()) found = std::ranges::find(kRows, goal.table, &Row::of);
  if (found == kRows.end()) return Json::object();
  Json out = Json::parse(found->text);
  if (found->two_tier) out.update(Json::parse(kTwoTier));
  return out;
}

}  // namespace softspine::tests
