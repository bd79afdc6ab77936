// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/explain_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/explain/explanation.hpp"
#include "analysis/explain/probe.hpp"
#include "analysis/reading/host_named.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/compare_captures.hpp"
#include "tools/softspine/explain_captures.hpp"
#include "tools/softspine/links_down.hpp"

namespace softspine::tools {

using analysis::PathDetail;
using analysis::Walker;

namespace {

struct ExplainArguments {
  std::string file;
  std::string from;
  std::string to;
  std::vector<std::string> pcap;
  std::vector<std::string> down;
  std::string protocol = "udp";
  analysis::Probe probe;
  std::vector<std::string> of_the_packet;  // those options that were given
  AgainstArguments against;
  bool json = false;
};

void print_path(Walker& walker, const analysis::Path& path, bool json) {
  if (json) {
    fmt::print("{}\n", path_json(walker, path, PathDetail::kFields).dump(2));
  } else {
    fmt::print("{}", path_text(walker, path, PathDetail::kFields));
  }
}

// Options that would change nothing.
std::string idle_option(const ExplainArguments& arguments) {
  const auto is_given = [&](const char* name) { return std::ranges::count(arguments.of_the_packet, name) > 0; };
  const bool compares = !arguments.against.captures.empty();
  if (compares && arguments.probe.port != 0) return "--port: of --against the capture says which port a packet took";
  if (compares || !arguments.pcap.empty()) {
    return arguments.of_the_packet.empty() ? "" : arguments.of_the_packet.front() + ": packets of captures have theirs";
  }
  const analysis::Probe& probe = arguments.probe;
  const bool is_roce = arguments.protocol == "udp" && probe.destination_port == dataplane::udp::kRoceV2Port;
  if (!is_roce && (is_given("--qp") || is_given("--opcode"))) return "--qp, --opcode: only UDP to port 4791 has them";
  if (!probe.is_ipv6 && is_given("--flow-label")) return "--flow-label goes with --ipv6";
  return "";
}

Status explain_probe(const ExplainArguments& arguments, Walker& walker) {
  const control::Fabric& fabric = walker.testbed().fabric;
  analysis::Probe probe = arguments.probe;
  const auto sender = analysis::sender_named(fabric, arguments.from, probe.port);
  const auto to = analysis::host_named(fabric, "--to", arguments.to);
  if (!sender) return wrong_input(sender.error());
  if (!to) return wrong_input(to.error());
  probe.from = sender->node;
  probe.to = *to;
  probe.protocol = arguments.protocol == "tcp" ? dataplane::ip::kTcp : dataplane::ip::kUdp;
  const auto frame = frame_of(fabric, probe, walker.router_mac(fabric.peer_of(*sender).node));
  print_path(walker, walker.walk(frame, static_cast<uint32_t>(frame.size()), *sender), arguments.json);
  return Status::kDone;
}

Status explain(const ExplainArguments& arguments) {
  if (const std::string idle = idle_option(arguments); !idle.empty()) return wrong_input(idle);
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
  if (arguments.pcap.empty()) return explain_probe(arguments, walker);
  return explain_captures({arguments.pcap, arguments.from, arguments.probe.port, arguments.json}, walker);
}

// The one packet's own words, and that they were given.
void add_probe_options(CLI::App& command, ExplainArguments& out) {
  constexpr int kMaxPort = UINT16_MAX;
  const std::vector<CLI::Option*> options{
      command.add_option("--to", out.to, "the host it is for"),
      command.add_option("--sport", out.probe.source_port, "UDP or TCP source port (49152)")
          ->check(CLI::Range(0, kMaxPort)),
      command.add_option("--dport", out.probe.destination_port, "destination port (4791: RoCEv2)")
          ->check(CLI::Range(0, kMaxPort)),
      command.add_option("--qp", out.probe.qp, "destination QP")->check(CLI::Range(0, 0xffffff)),
      command.add_option("--opcode", out.probe.opcode, "BTH opcode (10: WRITE_ONLY)")->check(CLI::Range(0, 255)),
      command.add_option("--protocol", out.protocol, "udp or tcp")->check(CLI::IsMember({"udp", "tcp"})),
      command.add_flag("--ipv6", out.probe.is_ipv6, "over IPv6"),
      command.add_option("--flow-label", out.probe.flow_label, "IPv6")->check(CLI::Range(0, 0xfffff)),
  };
  for (CLI::Option* each : options) {
    each->group("The packet, where no capture has it");
    each->each([&out, each](const std::string&) { out.of_the_packet.push_back(each->get_name()); });
  }
}

void add_options(CLI::App& command, ExplainArguments& out) {
  command.add_option("FILE", out.file, "a testbed file")->required();
  command.add_option(
      "--from", out.from,
      "the host that sends; of captures (a host, or SWITCH:PORT): that of all packets, and with --against of "
      "those whose address no host has");
  command.add_option("--port", out.probe.port, "of the sending host, from 0: a bond has two");
  add_probe_options(command, out);
  command.add_option("--down", out.down, "a link that is down, NODE:PORT; several");
  CLI::Option* pcap =
      command.add_option("--pcap", out.pcap, "a capture: each of its packets, as the first switch routes it; several");
  CLI::Option* against =
      command
          .add_option("--against", out.against.captures,
                      "captures made at ports: compares the ports that flows took with those predicted; FILE whose "
                      "interfaces are named after ports, SWITCH=FILE, or SWITCH:PORT=FILE; several")
          ->excludes(pcap);
  command.add_option("--ports", out.against.ports,
                     "a file of lines 'WHAT PORT': WHAT the captures have, an interface's name or the MAC address that "
                     "a port sends from, is PORT, such as tor1:Ethernet4");
  command.add_flag("--all", out.against.all, "every row of every table, with --against")->needs(against);
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
      "  softspine explain lab.yaml --pcap eth2.pcap --from tor1:Ethernet0      whose addresses the testbed does not "
      "have\n"
      "  softspine explain two-tier.yaml --against fabric.pcapng     did flows go where they should?\n"
      "  softspine explain lab.yaml --against tor1:Ethernet4=port4.pcap --against tor1:Ethernet8=port8.pcap\n"
      "With --against the exit status is 1 if a flow took another port than predicted.");
  add_options(*command, *arguments);
  command->callback([arguments, &status] { status = explain(*arguments); });
}

}  // namespace softspine::tools
