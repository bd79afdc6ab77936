// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/fabric_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string_view>
#include <thread>

#include "tools/softspine/capture_command.hpp"
#include "tools/softspine/fabric_client.hpp"
#include "tools/softspine/inject_command.hpp"

namespace softspine::tools {

using control::Client;
using control::Json;
using control::Result;

namespace {

struct Thing {
  std::string_view words;
  std::string_view is;
};
constexpr Thing kThings[] = {
    {"fabric", "its name, clock and time"},
    {"interfaces counters", "packets, bytes, rates and drops of every port"},
    {"queue counters", "packets, bytes, drops and occupancy of every queue"},
    {"queue watermark unicast", "most shared memory that each queue has used"},
    {"priority-group watermark shared", "most shared memory that each priority group has used"},
    {"priority-group watermark headroom", "most headroom that each priority group has used"},
    {"priority-group drop counters", "frames that each priority group refused"},
    {"buffer_pool watermark", "most that was used of each pool"},
    {"headroom-pool watermark", "most that was used of each shared headroom pool"},
    {"pfc counters", "pauses received, sent and ended, and the time spent paused"},
    {"pfcwd stats", "storms that the PFC watchdog found"},
    {"drops", "by node and reason"},
    {"hash counters", "flowlets begun, and keys that a packet was too short for"},
    {"flows", "built-in traffic: what was sent, what arrived, how late"},
    {"nics", "of hosts that are outside: pauses, CNPs, what waits"},
    {"links", "up or down, and what was lost on them"},
    {"ip route", "of a switch (--node)"},
    {"arp", "the neighbours that a switch knows (--node)"},
    {"mac", "the hosts that a switch has learned (--node)"},
    {"counters", "everything under SAI's names, as JSON"},
    {"prometheus", "everything as Prometheus reads it"},
    {"report", "what the run's report would say now, as JSON"},
};

std::string list_of_things() {
  std::string out = "What can be shown:\n";
  for (const Thing& thing : kThings) out += fmt::format("  {:<33}  {}\n", thing.words, thing.is);
  return out;
}

struct ShowArguments : FabricArguments {
  std::vector<std::string> words;
  std::string node;
  std::chrono::nanoseconds every{0};  // 0: once
};

// Until the fabric ends or the user has seen enough.
Status show_again_and_again(Client& client, const ShowArguments& arguments, const std::string& command,
                            const Json& wanted) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  for (bool answered = false;; answered = true) {
    const Result result = client.call(command, wanted);
    if (!result) {
      const bool ended = answered && !Client::connect_to_fabric(arguments.fabric);
      return ended ? Status::kDone : failed(result.error());
    }
    if (terminal) fmt::print("\x1b[H\x1b[2J");
    print_result(*result);
    std::fflush(stdout);
    std::this_thread::sleep_for(arguments.every);
  }
}

Status show(const ShowArguments& arguments) {
  const std::string what = CLI::detail::join(arguments.words, " ");
  if (std::ranges::find(kThings, what, &Thing::words) == std::end(kThings)) {
    const Status status = failed("there is no '" + what + "' to show");
    fmt::print(stderr, "{}", list_of_things());
    return status;
  }
  auto client = Client::connect_to_fabric(arguments.fabric);
  if (!client) return failed(client.error());
  const std::string command = "show " + what;
  Json wanted{{"format", arguments.json ? "json" : "table"}};
  if (!arguments.node.empty()) wanted["node"] = arguments.node;
  if (arguments.every.count() > 0) return show_again_and_again(*client, arguments, command, wanted);
  return ask(*client, command, wanted);
}

void add_show(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = app.add_subcommand("show", "what a running fabric has counted, learned and decided");
  command->footer(list_of_things() +
                  "Examples:\n"
                  "  softspine show interfaces counters --node tor1\n"
                  "  softspine show drops --every 1s\n"
                  "  softspine show counters | jq '.tor1.Ethernet0'");
  command->add_option("WORDS", arguments->words, "what: see below")->required();
  add_fabric_options(*command, *arguments);
  command->add_option("--node", arguments->node, "only this one");
  command->add_option_function<std::string>(
      "--every",
      [arguments](const std::string& text) {
        arguments->every =
            std::chrono::nanoseconds{quantity_argument("--every", text, control::kDurationQuantity) / 1'000};
      },
      "again and again, e.g. 1s; Ctrl-C ends it");
  command->callback([arguments, &status] { status = show(*arguments); });
}

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
  CLI::App* command = app.add_subcommand("clear", "let watermarks of a running fabric begin again");
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
  add_show(app, status);
  add_link(app, status);
  add_inject_command(app, status);
  add_capture_command(app, status);
  add_profile(app, status);
  add_clear(app, status);
}

}  // namespace softspine::tools
