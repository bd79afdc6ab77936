// SPDX-License-Identifier: Apache-2.0
// The tables about nodes, what stands behind them, and links.
#include <algorithm>

#include "control/format/link_limits.hpp"
#include "control/rows/congestion_format.hpp"
#include "control/rows/name_limits.hpp"
#include "control/rows/qos_formats.hpp"
#include "control/rows/row_formats.hpp"
#include "control/rows/tables.hpp"
#include "dataplane/congestion/algorithms.hpp"
#include "dataplane/flow_control/link_modes.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Rate;

const Limits<uint8_t> kRetryCounts = within<uint8_t>(3, 10);
const Limits<Rate> kLinkRates = within(kLeastLinkRate, kMaxLinkRate);
const Limits<Length> kLengths = within(kLeastLinkLength, kMaxLinkLength);
const Limits<uint32_t> kMtus = within(kLeastLinkMtu, kMaxLinkMtu);

const Limits<uint16_t> kVlanIds = within<uint16_t>(1, kMaxVlan);

const Limits<Duration> kKeepaliveTimes = within<Duration>(Duration::us(1), Duration::s(3600));

}  // namespace

const Table<LinkSpec>& Tables<LinkSpec>::table() {
  static const Table<LinkSpec> table =
      Table<LinkSpec>("link_kind", "What the links of one tier are like.")
          .required("rate", &LinkSpec::rate, "of each direction", kLinkRates)
          .optional("length", &LinkSpec::length, "of the cable: light takes 1 s for 198,000 km", kLengths)
          .optional("mtu", &LinkSpec::mtu, "of IP packets; the profile's if not given", kMtus)
          .parameters(&LinkSpec::parameters, dataplane::link_keys());
  return table;
}

const Table<LinkRow>& Tables<LinkRow>::table() {
  static const Table<LinkRow> table =
      Table<LinkRow>("link", "A link between two ports.")
          .required("endpoints", &LinkRow::endpoints, "two, each NODE:PORT, or NODE for its next free port",
                    held_to<std::vector<Endpoint>>([](const std::vector<Endpoint>& ends) {
                      return ends.size() == 2 ? "" : "a link has two endpoints, not " + std::to_string(ends.size());
                    }))
          .required("rate", &LinkRow::rate, "of each direction", kLinkRates)
          .optional("length", &LinkRow::length, "of the cable", kLengths)
          .optional("mtu", &LinkRow::mtu, "of IP packets; the profile's if not given", kMtus)
          .parameters(&LinkRow::parameters, dataplane::link_keys());
  return table;
}

const Table<TopologyRow>& Tables<TopologyRow>::table() {
  static const Table<TopologyRow> table =
      Table<TopologyRow>("topology", "Nodes and links by name.")
          .optional("import", &TopologyRow::imported, "nodes and links of another system's file")
          .optional("nodes", &TopologyRow::nodes, "new nodes, or more about generated ones")
          .optional("links", &TopologyRow::links, "which ports are joined")
          .optional("servers", &TopologyRow::servers, "the GPUs of servers, as NCCL's topology files have them")
          .optional("stacks", &TopologyRow::stacks, "pairs of ToRs that are one system to their hosts' bonds")
          .optional("lags", &TopologyRow::lags, "parallel links between two switches that are one way for routes");
  return table;
}

const Table<ServerRow>& Tables<ServerRow>::table() {
  static const Table<ServerRow> table =
      Table<ServerRow>("server", "Servers whose GPUs, NICs and NVLinks are as a file of NCCL's has them.")
          .required("file", &ServerRow::file, "NCCL's topology XML (NCCL_TOPO_FILE), a path from the testbed's folder")
          .optional("of", &ServerRow::of,
                    "their NICs: built-in hosts, sets of them; those of all servers with several if not given");
  return table;
}

const Table<StackRow>& Tables<StackRow>::table() {
  static const Table<StackRow> table =
      Table<StackRow>("stack",
                      "Two ToRs that are one system to their hosts' bonds (MC-LAG), with a link between them. Keys and "
                      "defaults are those of vPC.")
          .required("switches", &StackRow::switches, "the two ToRs",
                    held_to<std::vector<std::string>>([](const std::vector<std::string>& names) {
                      return names.size() == 2 ? "" : "a stack is two ToRs, not " + std::to_string(names.size());
                    }))
          .optional("primary", &StackRow::primary,
                    "which of the two goes on if both live and the peer link is lost; the first if not given")
          .optional(
              "management", &StackRow::management,
              "keepalives also go over a network of their own, which never fails; false: over the peer link alone")
          .optional("keepalive_interval", &StackRow::keepalive_interval, "keepalives go at every multiple of this",
                    kKeepaliveTimes)
          .optional("keepalive_timeout", &StackRow::keepalive_timeout,
                    "how long no keepalive may arrive until the peer is held for lost", kKeepaliveTimes)
          .optional("hold_timeout", &StackRow::hold_timeout,
                    "how long, once the peer link is lost, nothing is concluded from keepalives",
                    within<Duration>(Duration{}, Duration::s(3600)))
          .optional("delay_restore", &StackRow::delay_restore,
                    "how long the ports to hosts stay shut after the peer link, or the switch itself, is back",
                    within<Duration>(Duration{}, Duration::s(3600)))
          .check([](Reader& reader, Value at, const StackRow& row) {
            return row.keepalive_timeout >= row.keepalive_interval ||
                   reader.fail(at.child("keepalive_timeout"),
                               "is shorter than keepalive_interval: the peer would be lost between two keepalives");
          });
  return table;
}

const Table<LagRow>& Tables<LagRow>::table() {
  static const Table<LagRow> table =
      Table<LagRow>("lag", "A link aggregation group: parallel links between two switches, one way for routes.")
          .required("name", &LagRow::name, "PortChannel1, or as it is to be called in the report", kNames)
          .required("between", &LagRow::between, "the two switches",
                    held_to<std::vector<std::string>>([](const std::vector<std::string>& ends) {
                      return ends.size() == 2 ? ""
                                              : "a LAG is between two switches, not " + std::to_string(ends.size());
                    }))
          .optional("members", &LagRow::members,
                    "its ports at either switch, as NODE:PORT; all links between the two if not given")
          .optional("min_links", &LagRow::min_links, "with fewer members it is down", at_least<uint32_t>(1))
          .optional("mode", &LagRow::mode,
                    "static: a member is one while it has a link; lacp: and while both ends agree")
          .optional("fast_rate", &LagRow::fast_rate,
                    "lacp: a LACPDU each second, and a time-out of 3 s; else 30 s and 90 s")
          .optional("retry_count", &LagRow::retry_count,
                    "lacp: so many LACPDUs may be missing until the other end is given up, as SONiC's config "
                    "portchannel retry-count has it; 3 if not given",
                    kRetryCounts)
          .optional("agreed", &LagRow::agreed,
                    "lacp: both ends have agreed before the run begins; else they do so in its first seconds");
  return table;
}

const Table<ImportRow>& Tables<ImportRow>::table() {
  static const Table<ImportRow> table =
      Table<ImportRow>("import", "A fabric out of another system's file, as softspine import reads it.")
          .required("file", &ImportRow::files, "beside this file; of some formats several")
          .required("format", &ImportRow::format, "whose file it is")
          .optional("as", &ImportRow::rules, kNodeRuleHelp)
          .optional("rate", &ImportRow::rate, "of links that the file gives none", kLinkRates)
          .optional("length", &ImportRow::length, "of links that the file gives none", kLengths);
  return table;
}

const Table<NodeRow>& Tables<NodeRow>::table() {
  static const Table<NodeRow> table =
      Table<NodeRow>("node", "A switch or a host.")
          .optional("kind", &NodeRow::kind, "needed unless the node is a generated one")
          .optional("role", &NodeRow::role, "switches: which pipeline; tor if not given")
          .optional("profile", &NodeRow::profile, "switches: the tables it works by")
          .optional("subnet", &NodeRow::subnet, "switches: of the hosts on it, instead of the planned ones")
          .optional("address", &NodeRow::address, "hosts: instead of the planned ones; within the subnet of its switch")
          .optional("mac", &NodeRow::mac, "hosts: instead of the planned one")
          .optional("server", &NodeRow::server, "hosts: the machine that this NIC is in")
          .optional("guest", &NodeRow::guest, "hosts: a virtual machine that we start")
          .optional("namespace", &NodeRow::name_space, "hosts: a network namespace that we make")
          .optional("verbs", &NodeRow::verbs, "hosts: programs of this machine, with an RDMA device of ours")
          .optional("edge", &NodeRow::edge, "hosts: a way out of the emulation; with two links a list, one for each")
          .optional("nic", &NodeRow::nic, "hosts that are not built in: what stands between them and their link")
          .optional("bond", &NodeRow::bond, "hosts with two links: how they use them")
          .optional("vlan", &NodeRow::vlan,
                    "hosts: the VLAN of their ports at ToRs, tagged unless it says otherwise; its number or a map. "
                    "Those in one VLAN of a ToR share a subnet")
          .parameters(&NodeRow::builtin, kBuiltinHostKeys);
  return table;
}

const Table<BondRow>& Tables<BondRow>::table() {
  static const Table<BondRow> table =
      Table<BondRow>("bond", "How a host uses its two ports, and what becomes of its traffic when one has no link.")
          .optional("mode", &BondRow::mode,
                    "lacp and balance-xor: queue pairs are spread over both ports; active-backup: all leave by eth0 "
                    "while it has a link; lacp if not given")
          .optional(
              "lacp_rate", &BondRow::lacp_rate,
              "lacp: host and switches exchange LACPDUs, of which the host asks for one every 30 s (slow) or every "
              "second (fast); it misses them after three. If not given, none are exchanged: both ends have "
              "agreed for ever")
          .optional(
              "fast_rate", &BondRow::fast_rate,
              "lacp: its switches ask the host for a LACPDU each second, and miss it after 3 s; false: every 30 s, "
              "and after 90 s; true if not given")
          .optional("retry_count", &BondRow::retry_count,
                    "lacp: so many of these LACPDUs may be missing until its switches give the host up, as SONiC's "
                    "config portchannel retry-count has it; 3 if not given",
                    kRetryCounts)
          .optional("xmit_hash_policy", &BondRow::xmit_hash_policy,
                    "which queue pair leaves by which port; qp: they take turns; layer2, layer2+3, layer3+4: Linux's "
                    "hashes of their headers; qp if not given")
          .optional("miimon", &BondRow::miimon,
                    "the host looks at its links at every multiple of this, 0 for never; 100ms if not given",
                    at_least(Duration{}))
          .optional("downdelay", &BondRow::downdelay,
                    "how long a link must have been seen down before its port is left; 0 if not given",
                    at_least(Duration{}))
          .optional("updelay", &BondRow::updelay,
                    "how long a link must have been seen up before its port is used again; 0 if not given",
                    at_least(Duration{}))
          .optional("remote_failover", &BondRow::remote_failover,
                    "how others reach it while one of its ports has no link; route: its other ToR announces a host "
                    "route; transport: connections that time out take their sender's other port; both; none; both if "
                    "not given")
          .optional("path_change_after", &BondRow::path_change_after,
                    "timeouts in a row after which its connections take its other port; 2 if not given",
                    within<uint8_t>(1, 7));
  return table;
}

const Table<VlanRow>& Tables<VlanRow>::table() {
  static const Table<VlanRow> table =
      Table<VlanRow>("vlan", "The VLAN of a host's ports, by SONiC's words (VLAN, VLAN_MEMBER).")
          .required("id", &VlanRow::id, "its number", kVlanIds)
          .optional("tagging_mode", &VlanRow::tagging_mode,
                    "tagged: its packets have a tag, both ways; untagged: they have none")
          .optional("pcp", &VlanRow::pcp,
                    "built-in hosts: of all their packets' tags; the traffic class of each packet's DSCP if not given",
                    within<uint8_t>(0, 7))
          .check([](Reader& reader, Value at, const VlanRow& row) {
            return !row.pcp || row.tagging_mode == TaggingMode::kTagged ||
                   reader.fail(at.child("pcp"), "is part of a tag, and 'tagging_mode' is untagged");
          });
  return table;
}

// The number alone, or a map.
bool Format<VlanRow>::read(Reader& reader, Value value, VlanRow& row) {
  if (value.kind() == ValueKind::kMap) return Tables<VlanRow>::table().read(reader, value, row);
  row.where = value;
  return Format<uint16_t>::read(reader, value, row.id) && kVlanIds.check(reader, value, row.id);
}

Json Format<VlanRow>::schema(SchemaBook& book) {
  Json number = Format<uint16_t>::schema(book);
  kVlanIds.describe(number);
  return {{"anyOf", {number, Tables<VlanRow>::table().schema(book)}}};
}

const Table<NicRow>& Tables<NicRow>::table() {
  static const Table<NicRow> table =
      Table<NicRow>("nic", "What stands between a guest, a namespace or an edge and its link.")
          .optional(
              "pfc_enable", &NicRow::pfc_enable,
              "priorities whose pauses it obeys, and that it pauses when the host can't take what comes; those of "
              "the switch's port if not given, [] for none")
          .parameters(&NicRow::parameters, dataplane::kNicKeys)
          .check([](Reader& reader, Value at, const NicRow& row) {
            bool good = true;
            const bool controls = controls_congestion(row.parameters.congestion_control);
            for (const char* key : {"cnp_dscp", "cnp_interval"}) {
              if (is_given(at, key) && !controls) good = reader.fail(at.child(key), "needs 'congestion_control'");
            }
            if (controls && !uses_cnps(row.parameters.congestion_control)) {
              good = reader.fail(at.child("congestion_control"),
                                 "is for built-in hosts: a NIC has CNPs alone to go by (DCQCN)");
            }
            if (row.parameters.relay_pfc && row.pfc_enable && row.pfc_enable->mask != 0) {
              good = reader.fail(at.child("relay_pfc"), "contradicts 'pfc_enable': one of the two adapters obeys");
            }
            return good;
          });
  return table;
}

const Table<GuestRow>& Tables<GuestRow>::table() {
  static const Table<GuestRow> table =
      Table<GuestRow>("guest", "A virtual machine, its NICs on vhost-user sockets.")
          .optional("kind", &GuestRow::kind, "user-mode Linux, or QEMU")
          .optional("run", &GuestRow::run,
                    "a shell command in the guest; its output and exit status are reported; none: the guest stays up")
          .optional("memory", &GuestRow::memory, "of the guest, such as 512MiB; 64MiB to 64GiB",
                    within<Bytes>({64ULL << 20}, {64ULL << 30}))
          .optional("cpus", &GuestRow::cpus, "processors of the guest, 1 to 256; user-mode Linux has one",
                    within<uint32_t>(1, 256))
          .optional("root", &GuestRow::root,
                    "a folder, or an ext4 or squashfs image, that lies over our root folder for the guest's command "
                    "and programs; never written; beside this file if relative; ours alone if not given")
          .optional("files", &GuestRow::files,
                    "files and folders of this machine, each by the path at which the guest finds a copy, made at the "
                    "start: {/etc/app.conf: ./app.conf}; beside this file if relative")
          .optional("kernel", &GuestRow::kernel,
                    "the guest's own kernel: user-mode Linux's program, or QEMU's bzImage; beside this file if "
                    "relative; ours if not given")
          .optional("timeout", &GuestRow::timeout, "wall time of the command, from its begin, until it is given up",
                    at_least(Duration::ms(1)))
          .check([](Reader& reader, Value at, const GuestRow& row) {
            return row.cpus == 1 || row.kind == GuestKind::kQemu ||
                   reader.fail(at.child("cpus"), "user-mode Linux has one processor; guests of 'kind: qemu' have more");
          });
  return table;
}

namespace {

// Linux refuses all others.
bool check_interface(Reader& reader, Value at, const std::string& name) {
  const bool good = !name.empty() && name.size() <= 15 && name.find_first_of("/ \t\n:") == std::string::npos &&
                    name != "." && name != "..";
  return good || reader.fail(at, shown(name) + " is no interface name: at most 15 characters, no space, '/' or ':'");
}

bool is_process(const std::string& text) {
  return text.size() <= 9 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool check_joined(Reader& reader, Value at, const NamespaceRow& row) {
  if (row.interface && row.join.empty())
    return reader.fail(at.child("interface"), "is for a namespace that exists already, and there is no 'join'");
  if (!row.join.empty() && !row.join.starts_with('/') && !is_process(row.join))
    return reader.fail(
        at.child("join"),
        shown(row.join) + " is neither the path of a file, such as /run/netns/web, nor the number of a process");
  return !row.interface || check_interface(reader, at.child("interface"), *row.interface);
}

}  // namespace

const Table<NamespaceRow>& Tables<NamespaceRow>::table() {
  static const Table<NamespaceRow> table =
      Table<NamespaceRow>("namespace", "A network namespace, its ports TAPs.")
          .optional("run", &NamespaceRow::run, "a shell command in it; its output and exit status are reported")
          .optional("join", &NamespaceRow::join,
                    "one that exists already, such as a container's: its file, or the number of a process in it; one "
                    "of our own if not given")
          .optional("interface", &NamespaceRow::interface,
                    "with 'join': what the fabric's port is called there; fabric0 if not given")
          .optional("timeout", &NamespaceRow::timeout, "wall time of the command, from its begin, until it is given up",
                    at_least(Duration::ms(1)))
          .check(check_joined);
  return table;
}

const Table<VerbsRow>& Tables<VerbsRow>::table() {
  static const Table<VerbsRow> table =
      Table<VerbsRow>("verbs", "Programs of this machine, with an RDMA device of ours: softspine0.")
          .optional("run", &VerbsRow::run, "a shell command; its output and exit status are reported")
          .optional("timeout", &VerbsRow::timeout, "wall time of the command, from its begin, until it is given up",
                    at_least(Duration::ms(1)));
  return table;
}

const Table<EdgeRow>& Tables<EdgeRow>::table() {
  static const Table<EdgeRow> table =
      Table<EdgeRow>("edge", "A port whose other side is outside; exactly one kind.")
          .optional("tap", &EdgeRow::tap, "a TAP device that we make")
          .optional("af_packet", &EdgeRow::af_packet, "an existing interface, such as one end of a veth")
          .optional("vhost_user", &EdgeRow::vhost_user, "a vhost-user socket that we serve")
          .optional("pcap", &EdgeRow::pcap,
                    "capture files: frames enter at their recorded time, what leaves is written")
          .optional("dpdk", &EdgeRow::dpdk, "a PCI address, or a virtual device with its arguments")
          .check([](Reader& reader, Value at, const EdgeRow& row) {
            const int given = int{row.tap.has_value()} + row.af_packet.has_value() + row.vhost_user.has_value() +
                              row.pcap.has_value() + row.dpdk.has_value();
            if (row.dpdk && row.dpdk->empty()) return reader.fail(at.child("dpdk"), "names no device");
            return given == 1 || reader.fail(at, "needs exactly one of tap, af_packet, vhost_user, pcap, dpdk");
          });
  return table;
}

const Table<TapRow>& Tables<TapRow>::table() {
  static const Table<TapRow> table = Table<TapRow>("tap", "A TAP device.")
                                         .required("name", &TapRow::name, "of the interface")
                                         .check([](Reader& reader, Value at, const TapRow& row) {
                                           return check_interface(reader, at.child("name"), row.name);
                                         });
  return table;
}

const Table<AfPacketRow>& Tables<AfPacketRow>::table() {
  static const Table<AfPacketRow> table = Table<AfPacketRow>("af_packet", "An existing interface.")
                                              .required("interface", &AfPacketRow::interface, "its name")
                                              .check([](Reader& reader, Value at, const AfPacketRow& row) {
                                                return check_interface(reader, at.child("interface"), row.interface);
                                              });
  return table;
}

const Table<VhostUserRow>& Tables<VhostUserRow>::table() {
  static const Table<VhostUserRow> table =
      Table<VhostUserRow>("vhost_user", "A vhost-user socket.")
          .required("socket", &VhostUserRow::socket, "path of the socket")
          .check([](Reader& reader, Value at, const VhostUserRow& row) {
            const bool good = !row.socket.empty() && row.socket.size() <= 107;  // sun_path holds no more
            return good || reader.fail(at.child("socket"), "must be a path of 1 to 107 bytes");
          });
  return table;
}

const Table<PcapRow>& Tables<PcapRow>::table() {
  static const Table<PcapRow> table =
      Table<PcapRow>("pcap", "Capture files; at least one of the two.")
          .optional("in", &PcapRow::in, "frames that enter the fabric")
          .optional("out", &PcapRow::out, "frames that leave it")
          .optional("zero", &PcapRow::zero,
                    "the recorded time that is the start of the run: the file's first frame's; the earliest of all "
                    "edges that say `together`; or 0, for what softspine has recorded")
          .optional("offset", &PcapRow::offset, "frames enter later than that by so much", at_least(Duration{}))
          .check([](Reader& reader, Value at, const PcapRow& row) {
            if (row.in.empty() && row.out.empty()) return reader.fail(at, "needs 'in', 'out' or both");
            if (row.in.empty() && (row.zero || row.offset)) {
              return reader.fail(at.child(row.zero ? "zero" : "offset"), "says when frames enter: needs 'in'");
            }
            return row.in.empty() || !same_file(row.in, row.out) ||
                   reader.fail(at, "would overwrite " + shown(row.out) + " while it is read");
          });
  return table;
}

}  // namespace softspine::control
