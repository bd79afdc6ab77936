// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/explain_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "control/explain/explanation.hpp"
#include "control/explain/probe.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/parse.hpp"
#include "tools/softspine/compare_captures.hpp"
#include "tools/softspine/host_named.hpp"
#include "tools/softspine/links_down.hpp"
#include "tools/softspine/wrong_input.hpp"

namespace softspine::tools {

using control::Json;
using control::Walker;

namespace {

struct ExplainArguments {
  std::string file;
  std::string from;
  std::string to;
  std::string pcap;
  std::vector<std::string> down;
  std::string protocol = "udp";
  control::Probe probe;
  AgainstArguments against;
  bool json = false;
};

// Whose packet it is: the host with the source's address.
std::optional<uint32_t> sender_of(const control::Fabric& fabric, const dataplane::Packet& packet) {
  const dataplane::PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost) continue;
    const bool is_it =
        (meta.flags & dataplane::kIsIpv4) != 0
            ? dataplane::load32(l3 + dataplane::ipv4::kSource) == node.ipv4.value
            : (meta.flags & dataplane::kIsIpv6) != 0 &&
                  std::equal(node.ipv6.bytes.begin(), node.ipv6.bytes.end(), l3 + dataplane::ipv6::kSource);
    if (is_it) return n;
  }
  return std::nullopt;
}

void print_path(Walker& walker, const control::Path& path, bool json) {
  if (json) {
    fmt::print("{}\n", path_json(walker, path).dump(2));
  } else {
    fmt::print("{}", path_text(walker, path));
  }
}

Status explain_probe(const ExplainArguments& arguments, Walker& walker) {
  const control::Fabric& fabric = walker.testbed().fabric;
  control::Probe probe = arguments.probe;
  const auto from = host_named(fabric, arguments.from);
  const auto to = host_named(fabric, arguments.to);
  if (!from) return wrong_input("--from: there is no host '" + arguments.from + "'");
  if (!to) return wrong_input("--to: there is no host '" + arguments.to + "'");
  probe.from = *from;
  probe.to = *to;
  if (probe.port >= fabric.nodes[*from].ports.size()) return wrong_input("--port: the host has not so many");
  probe.protocol = arguments.protocol == "tcp" ? dataplane::ip::kTcp : dataplane::ip::kUdp;
  const control::LinkEnd sender{probe.from, probe.port};
  const auto frame = frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node));
  print_path(walker, walker.walk(frame, static_cast<uint32_t>(frame.size()), sender), arguments.json);
  return Status::kDone;
}

// Every packet of a capture; in JSON one object a line.
Status explain_pcap(const ExplainArguments& arguments, Walker& walker) {
  const control::Fabric& fabric = walker.testbed().fabric;
  auto reader = dataplane::PcapReader::open(arguments.pcap);
  if (!reader) return wrong_input(arguments.pcap + ": " + reader.error().message);
  const std::optional<uint32_t> from = arguments.from.empty() ? std::nullopt : host_named(fabric, arguments.from);
  if (!arguments.from.empty() && !from) return wrong_input("--from: there is no host '" + arguments.from + "'");
  dataplane::ScratchPacket scratch;
  dataplane::RecordedFrame frame;
  uint64_t number = 0;
  while (reader->next(frame)) {
    ++number;
    const uint32_t stored = std::min(frame.captured, dataplane::kMaxFrameBytes);
    dataplane::Packet& packet = scratch.load({frame.bytes, stored}, std::max(frame.length, stored));
    dataplane::parse(packet);
    const auto sender = from ? from : sender_of(fabric, packet);
    if (!sender) {
      arguments.json ? fmt::print("{}\n", Json{{"packet", number}, {"end", "unknown_sender"}}.dump())
                     : fmt::print("packet {}: no host has its source address; name one by --from\n\n", number);
      continue;
    }
    const control::Path path =
        walker.walk({frame.bytes, stored}, std::max(frame.length, stored), {*sender, arguments.probe.port});
    if (arguments.json) {
      Json out{{"packet", number}, {"from", fabric.nodes[*sender].name}};
      out.update(path_json(walker, path));
      fmt::print("{}\n", out.dump());
    } else {
      fmt::print("packet {}, from {}\n{}\n", number, fabric.nodes[*sender].name, path_text(walker, path));
    }
  }
  return reader->error().empty() ? Status::kDone : wrong_input(arguments.pcap + ": " + reader->error());
}

Status explain(const ExplainArguments& arguments) {
  const auto testbed = read_testbed(arguments.file, {});
  if (!testbed) return testbed.error();
  const auto up = links_without(testbed->fabric, arguments.down);
  if (!up) return wrong_input(up.error());
  const bool compares = !arguments.against.captures.empty();
  if (!compares && !arguments.against.ports.empty()) return wrong_input("--ports goes with --against");
  if (!compares && arguments.pcap.empty() && (arguments.from.empty() || arguments.to.empty()))
    return wrong_input("explain needs --from and --to, or --pcap, or --against");
  Walker walker{*testbed, *up};
  if (compares) return compare_captures(arguments.against, arguments.from, walker, arguments.json);
  return arguments.pcap.empty() ? explain_probe(arguments, walker) : explain_pcap(arguments, walker);
}

void add_options(CLI::App& command, ExplainArguments& out) {
  command.add_option("FILE", out.file, "a testbed file")->required();
  command.add_option("--from", out.from,
                     "the host that sends; of a capture: of all its packets, and with --against of those whose address "
                     "no host has (a host, or SWITCH:PORT)");
  command.add_option("--to", out.to, "the host it is for");
  command.add_option("--port", out.probe.port, "of the sending host, from 0: a bond has two");
  command.add_option("--sport", out.probe.source_port, "UDP or TCP source port (49152)");
  command.add_option("--dport", out.probe.destination_port, "destination port (4791: RoCEv2)");
  command.add_option("--qp", out.probe.qp, "destination QP")->check(CLI::Range(0, 0xffffff));
  command.add_option("--opcode", out.probe.opcode, "BTH opcode (10: WRITE_ONLY)")->check(CLI::Range(0, 255));
  command.add_option("--protocol", out.protocol, "udp or tcp")->check(CLI::IsMember({"udp", "tcp"}));
  command.add_flag("--ipv6", out.probe.is_ipv6, "over IPv6");
  command.add_option("--flow-label", out.probe.flow_label, "IPv6")->check(CLI::Range(0, 0xfffff));
  command.add_option("--down", out.down, "a link that is down, NODE:PORT; several");
  CLI::Option* pcap = command.add_option("--pcap", out.pcap, "a capture: each of its packets");
  command
      .add_option("--against", out.against.captures,
                  "captures made at ports: compares the ports that flows took with those predicted; FILE whose "
                  "interfaces are named after ports, SWITCH=FILE, or SWITCH:PORT=FILE; several")
      ->excludes(pcap);
  command.add_option("--ports", out.against.ports,
                     "a file of lines 'WHAT PORT': WHAT the captures have, an interface's name or the MAC address that "
                     "a port sends from, is PORT, such as tor1:Ethernet4");
  command.add_flag("--all", out.against.all, "every row of every table, with --against");
  command.add_flag("--json", out.json, "for programs; of --pcap one object a line");
}

}  // namespace

void add_explain_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand("explain", "every hop of a packet: key, hash, bucket, port; nothing is run");
  command->footer(
      "Examples:\n"
      "  softspine explain testbeds/two-tier.yaml --from h1 --to h16 --sport 50000 --qp 17\n"
      "  softspine explain two-tier.yaml --from h1 --to h16 --down tor1:Ethernet16   with that link down\n"
      "  softspine explain replay.yaml --pcap replay/in.pcap --json | jq .hops[0].out_port\n"
      "  softspine explain two-tier.yaml --against fabric.pcapng     did flows go where they should?\n"
      "  softspine explain lab.yaml --against tor1:Ethernet4=port4.pcap --against tor1:Ethernet8=port8.pcap\n"
      "With --against the exit status is 1 if a flow took another port than predicted.");
  add_options(*command, *arguments);
  command->callback([arguments, &status] { status = explain(*arguments); });
}

}  // namespace softspine::tools
