// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/exec_command.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/labs/host_program.hpp"

namespace softspine::tools {

namespace {

namespace fs = std::filesystem;

struct ExecArguments {
  std::string fabric;
  std::string host;
  std::vector<std::string> command;
};

Status status_on_host(const ExecArguments& arguments, const std::function<int(const HostEntrance& entrance)>& work) {
  const auto entrance = entrance_of(arguments.fabric, arguments.host);
  if (!entrance) return wrong_input(entrance.error());
  const auto status = run_on_host(*entrance, [&] { return work(*entrance); });
  return status ? static_cast<Status>(*status) : wrong_input(status.error());
}

void add_fabric(CLI::App& command, std::string& fabric) {
  command.add_option("--fabric", fabric, "the running testbed's name; not needed if only one runs");
}

void add_exec(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ExecArguments>();
  CLI::App* command = app.add_subcommand("exec", "run a program of this machine on a host of a running fabric");
  command->footer(
      "On a namespace host it has the host's network, /proc and name, and needs the rights that the fabric runs with;\n"
      "on a verbs host it sees its RDMA devices, softspine0 and on, and the names of the fabric's verbs hosts, without root.\n"
      "Folder, streams, terminal and signals are yours, and the exit status is the program's: 128 + N if signal N\n"
      "ended it, 127 if there is no such program. A program on a namespace host ends with the host.\n"
      "Examples:\n"
      "  softspine exec h1 -- ping -c 3 h2\n"
      "  softspine exec h1 -- sh -c 'ip addr; ip route'\n"
      "  softspine exec h2 -- ib_write_bw -d softspine0 h1");
  command->add_option("HOST", arguments->host, "a host with `namespace` or `verbs`")->required();
  command->add_option("COMMAND", arguments->command, "the program and its arguments, behind --")->required();
  add_fabric(*command, arguments->fabric);
  command->callback([arguments, &status] {
    status = status_on_host(*arguments, [&](const HostEntrance&) { return become(arguments->command); });
  });
}

int become_shell() {
  const char* const bash = "/bin/bash";
  return become({access(bash, X_OK) == 0 ? bash : "/bin/sh"});
}

void add_shell(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ExecArguments>();
  CLI::App* command = app.add_subcommand("shell", "a shell on a host of a running fabric");
  command->footer(
      "bash, else sh, on your terminal. Its exit status is that of its last command.\n"
      "Example:\n"
      "  softspine shell h1");
  command->add_option("HOST", arguments->host, "a host with `namespace` or `verbs`")->required();
  add_fabric(*command, arguments->fabric);
  command->callback([arguments, &status] {
    status = status_on_host(*arguments, [](const HostEntrance&) { return become_shell(); });
  });
}

struct CopyArguments : ExecArguments {
  std::string from;
  std::string to;
};

// "h1:iperf.log": the host and its path; else no host.
std::pair<std::string, std::string> host_and_path(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos || text.find('/') < colon) return {"", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Into a folder that is there: under its own name, as cp does.
int copy_file_or_folder(const fs::path& from, fs::path to) {
  std::error_code error;
  const fs::path plain = from.has_filename() ? from : from.parent_path();
  if (fs::is_directory(to, error)) to /= plain.filename();
  fs::copy(plain, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
  if (!error) return 0;
  complain("softspine: {} to {}: {}\n", from.native(), to.native(), error.message());
  return 1;
}

Status copy(CopyArguments& arguments) {
  const auto [from_host, from] = host_and_path(arguments.from);
  const auto [to_host, to] = host_and_path(arguments.to);
  if (from_host.empty() == to_host.empty()) return wrong_input("one of the two is on a host: HOST:PATH");
  arguments.host = from_host + to_host;
  return status_on_host(arguments, [&](const HostEntrance& entrance) {
    const fs::path on_host = entrance.folder / (from_host.empty() ? to : from);
    return from_host.empty() ? copy_file_or_folder(from, on_host) : copy_file_or_folder(on_host, to);
  });
}

void add_copy(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<CopyArguments>();
  CLI::App* command = app.add_subcommand("cp", "copy a file or folder to a host of a running fabric, or from it");
  command->footer(
      "A relative HOST:PATH is in the host's own folder, where its command writes its files. What is there is written\n"
      "over.\n"
      "Examples:\n"
      "  softspine cp h1:iperf.log .\n"
      "  softspine cp pairs.sh h1:pairs.sh\n"
      "  softspine cp h1:/proc/net/snmp h1.snmp");
  command->add_option("FROM", arguments->from, "PATH, or HOST:PATH")->required();
  command->add_option("TO", arguments->to, "HOST:PATH, or PATH")->required();
  add_fabric(*command, arguments->fabric);
  command->callback([arguments, &status] { status = copy(*arguments); });
}

}  // namespace

void add_exec_command(CLI::App& app, Status& status) {
  add_exec(app, status);
  add_shell(app, status);
  add_copy(app, status);
}

}  // namespace softspine::tools
