// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/fabric_commands.hpp"

#include <memory>

#include "tools/softspine/capture_command.hpp"
#include "tools/softspine/fabric_client.hpp"
#include "tools/softspine/inject_command.hpp"
#include "tools/softspine/show_command.hpp"
#include "tools/softspine/top_command.hpp"

namespace softspine::tools {

using control::Json;

namespace {

struct LinkArguments : FabricArguments {
  std::string what;
  std::string state;
};

Status set_link(const LinkArguments& arguments) {
  return ask_fabric(arguments, "link", {{"link", arguments.what}, {"state", arguments.state}});
}

void add_link(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<LinkArguments>();
  CLI::App* command = app.add_subcommand("link", "take a link of a running fabric down, or up again");
  command->footer(
      "Routes follow after the testbed's `convergence`; what is lost on the way is counted.\n"
      "Examples:\n"
      "  softspine link tor1:Ethernet16 down\n"
      "  softspine link spine2 down            all of its links\n"
      "  softspine link spine2 up");
  command->add_option("LINK", arguments->what, "either end as NODE:PORT, or a NODE for all of its links")->required();
  command->add_option("STATE", arguments->state, "up or down")->required()->check(CLI::IsMember({"up", "down"}));
  add_fabric_options(*command, *arguments);
  command->callback([arguments, &status] { status = set_link(*arguments); });
}

struct ProfileArguments : FabricArguments {
  std::string node;
  std::string profile;
};

Status set_profile(const ProfileArguments& arguments) {
  return ask_fabric(arguments, "profile", {{"node", arguments.node}, {"profile", arguments.profile}});
}

void add_profile(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* command = app.add_subcommand("profile", "give a switch of a running fabric the tables of another profile");
  command->footer(
      "Its maps, buffers, queues and pauses, not its hash: flows keep their paths, and nothing is lost.\n"
      "The profile is one of the testbed's, with cells of the same size.\n"
      "Example:\n"
      "  softspine profile tor1 tight-thresholds");
  command->add_option("NODE", arguments->node, "a switch")->required();
  command->add_option("PROFILE", arguments->profile, "a profile of the testbed")->required();
  add_fabric_options(*command, *arguments);
  command->callback([arguments, &status] { status = set_profile(*arguments); });
}

struct ClearArguments : FabricArguments {
  std::string what;
  std::string node;
};

Status clear(const ClearArguments& arguments) {
  Json wanted = Json::object();
  if (!arguments.node.empty()) wanted["node"] = arguments.node;
  return ask_fabric(arguments, "clear " + arguments.what, wanted);
}

void add_clear(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ClearArguments>();
  CLI::App* command = app.add_subcommand("clear", "reset watermarks of a running fabric");
  command->footer(
      "Those of priority groups, queues, pools and headroom, at once.\n"
      "Example:\n"
      "  softspine clear watermarks --node tor1");
  command->add_option("WHAT", arguments->what, "watermarks")->required()->check(CLI::IsMember({"watermarks"}));
  command->add_option("--node", arguments->node, "only this switch");
  add_fabric_options(*command, *arguments);
  command->callback([arguments, &status] { status = clear(*arguments); });
}

}  // namespace

void add_fabric_commands(CLI::App& app, Status& status) {
  add_show_command(app, status);
  add_top_command(app, status);
  add_link(app, status);
  add_inject_command(app, status);
  add_capture_command(app, status);
  add_profile(app, status);
  add_clear(app, status);
}

}  // namespace softspine::tools
