// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/exec_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/fabric_client.hpp"

namespace softspine::tools {

using control::Client;
using control::Json;

namespace {

struct ExecArguments {
  std::string fabric;
  std::string host;
  std::vector<std::string> command;
};

// This process becomes the command, so its streams, signals and exit status are the command's.
Status become(std::vector<std::string> command) {
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  complain("softspine: {}: {}\n", command.front(), std::strerror(errno));
  return Status::kUnexpected;
}

Status run_on_host(const ExecArguments& arguments) {
  auto client = Client::connect_to_fabric(arguments.fabric);
  if (!client) return wrong_input(client.error());
  const auto environment = client->call("environment", {{"node", arguments.host}});
  if (!environment) return wrong_input(environment.error());
  for (const auto& [name, value] : environment->items()) {
    if (value.is_string()) setenv(name.c_str(), value.get<std::string>().c_str(), 1);
  }
  return become(arguments.command);
}

}  // namespace

void add_exec_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ExecArguments>();
  CLI::App* command = app.add_subcommand("exec", "run a program of this machine on a verbs host of a running fabric");
  command->footer(
      "The program sees one RDMA device, softspine0, and the names of the fabric's verbs hosts. Nobody's root is "
      "needed;\n"
      "its exit status is the command's.\n"
      "Examples:\n"
      "  softspine exec h1 -- ib_write_bw -d softspine0\n"
      "  softspine exec h2 -- ib_write_bw -d softspine0 h1");
  command->add_option("HOST", arguments->host, "a host with `verbs`")->required();
  command->add_option("COMMAND", arguments->command, "the program and its arguments, behind --")->required();
  command->add_option("--fabric", arguments->fabric, "the running testbed's name; not needed if only one runs");
  command->callback([arguments, &status] { status = run_on_host(*arguments); });
}

}  // namespace softspine::tools
