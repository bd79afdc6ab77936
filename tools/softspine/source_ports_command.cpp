// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/source_ports_command.hpp"

#include <fmt/format.h>

#include <memory>

#include "analysis/explain/source_ports.hpp"
#include "analysis/explain/walker.hpp"
#include "analysis/reading/host_named.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/links_down.hpp"

namespace softspine::tools {

using analysis::Walker;
using control::Json;

namespace {

struct SourcePortArguments {
  std::string file;
  std::string from;
  std::string to;
  std::vector<std::string> down;
  uint32_t paths = UINT32_MAX;
  analysis::Probe probe;
  bool json = false;
};

Json search_json(const control::Fabric& fabric, const analysis::PortSearch& found) {
  Json paths = Json::array();
  for (const analysis::FoundPath& path : found.disjoint) {
    Json links = Json::array();
    for (const control::LinkEnd link : path.links) links.push_back(fabric.name_of(link));
    paths.push_back({{"source_port", path.source_port}, {"links", std::move(links)}});
  }
  return {{"disjoint", std::move(paths)},
          {"ports_tried", found.ports_tried},
          {"paths_reached", found.paths_reached},
          {"search_space", found.paths_there}};
}

Status source_ports(const SourcePortArguments& arguments) {
  const auto testbed = read_testbed(arguments.file, {});
  if (!testbed) return testbed.error();
  const control::Fabric& fabric = testbed->fabric;
  const auto up = links_without(fabric, arguments.down);
  if (!up) return wrong_input(up.error());
  analysis::Probe probe = arguments.probe;
  const auto sender = analysis::sender_named(fabric, arguments.from, probe.port);
  const auto to = analysis::host_named(fabric, "--to", arguments.to);
  if (!sender) return wrong_input(sender.error());
  if (!to) return wrong_input(to.error());
  if (sender->node == *to) return wrong_input("--from and --to: two hosts of the testbed");
  probe.from = sender->node;
  probe.to = *to;
  Walker walker{*testbed, *up};
  const analysis::PortSearch found = disjoint_source_ports(walker, probe, arguments.paths);
  if (arguments.json) {
    fmt::print("{}\n", search_json(fabric, found).dump(2));
    return Status::kDone;
  }
  for (const analysis::FoundPath& path : found.disjoint) {
    std::string links;
    for (const control::LinkEnd link : path.links) links += " " + fabric.name_of(link);
    fmt::print("{}{}\n", path.source_port, links);
  }
  fmt::print("{} disjoint paths; {} source ports tried reach {} of the {} paths there are\n", found.disjoint.size(),
             found.ports_tried, found.paths_reached, found.paths_there);
  return Status::kDone;
}

}  // namespace

void add_source_ports_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<SourcePortArguments>();
  CLI::App* command = app.add_subcommand("source-ports", "source ports whose paths share no link between switches");
  command->footer(
      "Examples:\n"
      "  softspine source-ports testbeds/two-tier.yaml --from h1 --to h16\n"
      "  softspine source-ports two-tier.yaml --from h1 --to h16 --qp 17 --paths 4 --json | jq "
      ".disjoint[].source_port");
  command->add_option("FILE", arguments->file, "a testbed file")->required();
  command->add_option("--from", arguments->from, "the host that sends")->required();
  command->add_option("--to", arguments->to, "the host it is for")->required();
  command->add_option("--port", arguments->probe.port, "of the sending host, from 0");
  command->add_option("--qp", arguments->probe.qp, "destination QP")->check(CLI::Range(0, 0xffffff));
  command->add_flag("--ipv6", arguments->probe.is_ipv6, "over IPv6");
  command->add_option("--paths", arguments->paths, "how many are enough; without it all that exist")
      ->check(CLI::Range(1, 65'536));
  command->add_option("--down", arguments->down, "a link that is down, NODE:PORT; several");
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments, &status] { status = source_ports(*arguments); });
}

}  // namespace softspine::tools
