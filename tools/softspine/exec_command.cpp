// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/exec_command.hpp"

#include <unistd.h>

#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testbeds/process/attended_program.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/labs/guest_copy.hpp"
#include "tools/softspine/labs/guest_program.hpp"
#include "tools/softspine/labs/host_program.hpp"

namespace softspine::tools {

namespace {

namespace fs = std::filesystem;

struct ExecArguments {
  std::string fabric;
  std::string host;
  std::vector<std::string> command;
};

// On each kind of host.
struct HostWork {
  std::function<std::expected<int, std::string>(const HostEntrance& entrance)> in_guest;
  std::function<int(const HostEntrance& entrance)> here;  // on a host that has this machine's programs
};

Status status_on_host(const ExecArguments& arguments, const HostWork& work) {
  const auto entrance = entrance_of(arguments.fabric, arguments.host);
  if (!entrance) return wrong_input(entrance.error());
  const auto status =
      entrance->line.empty() ? run_on_host(*entrance, [&] { return work.here(*entrance); }) : work.in_guest(*entrance);
  return status ? static_cast<Status>(*status) : wrong_input(status.error());
}

void add_fabric(CLI::App& command, std::string& fabric) {
  command.add_option("--fabric", fabric, "the running testbed's name; not needed if only one runs");
}

void add_exec(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ExecArguments>();
  CLI::App* command = app.add_subcommand("exec", "run a program on a host of a running fabric");
  command->footer(
      "On a namespace host it is one of this machine, has the host's network, /proc and name, and needs the rights "
      "that\n"
      "the fabric runs with; on a verbs host it sees its RDMA devices, softspine0 and on, and the names of the "
      "fabric's\n"
      "verbs hosts, without root; in a guest it is one of the guest's, in /guest.\n"
      "Streams, terminal and signals are yours, and the exit status is the program's: 128 + N if signal N ended it,\n"
      "127 if there is no such program. A program on a namespace host or in a guest ends with the host.\n"
      "Examples:\n"
      "  softspine exec h1 -- ping -c 3 h2\n"
      "  softspine exec h1 -- sh -c 'ip addr; ip route'\n"
      "  softspine exec h2 -- ib_write_bw -d softspine0 h1");
  command->add_option("HOST", arguments->host, "a host with `namespace`, `verbs` or `guest`")->required();
  command->add_option("COMMAND", arguments->command, "the program and its arguments, behind --")->required();
  add_fabric(*command, arguments->fabric);
  command->callback([arguments, &status] {
    const auto& words = arguments->command;
    status = status_on_host(*arguments,
                            {.in_guest = [&](const HostEntrance& entrance) { return run_in_guest(entrance, words); },
                             .here = [&](const HostEntrance&) { return testbeds::become_program(words); }});
  });
}

int become_shell() {
  const char* const bash = "/bin/bash";
  return testbeds::become_program({access(bash, X_OK) == 0 ? bash : "/bin/sh"});
}

// Nobody has written a .bashrc there.
std::expected<int, std::string> shell_in_guest(HostEntrance entrance) {
  entrance.environment["PS1"] = "\\h:\\w\\$ ";
  return run_in_guest(entrance, {"bash"});
}

void add_shell(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ExecArguments>();
  CLI::App* command = app.add_subcommand("shell", "a shell on a host of a running fabric");
  command->footer(
      "bash, else sh, on your terminal; in a guest its bash. Its exit status is that of its last command.\n"
      "Example:\n"
      "  softspine shell h1");
  command->add_option("HOST", arguments->host, "a host with `namespace`, `verbs` or `guest`")->required();
  add_fabric(*command, arguments->fabric);
  command->callback([arguments, &status] {
    status = status_on_host(*arguments,
                            {.in_guest = shell_in_guest, .here = [](const HostEntrance&) { return become_shell(); }});
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

Status copy(CopyArguments& arguments) {
  const auto [from_host, from] = host_and_path(arguments.from);
  const auto [to_host, to] = host_and_path(arguments.to);
  if (from_host.empty() == to_host.empty()) return wrong_input("one of the two is on a host: HOST:PATH");
  arguments.host = from_host + to_host;
  const bool is_to_host = from_host.empty();
  return status_on_host(arguments, {.in_guest =
                                        [&](const HostEntrance& entrance) {
                                          return is_to_host ? copy_to_guest(entrance, from, to)
                                                            : copy_from_guest(entrance, from, to);
                                        },
                                    .here =
                                        [&](const HostEntrance& entrance) {
                                          const fs::path on_host = entrance.folder / (is_to_host ? to : from);
                                          return is_to_host ? copy_files(from, on_host) : copy_files(on_host, to);
                                        }});
}

void add_copy(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<CopyArguments>();
  CLI::App* command = app.add_subcommand("cp", "copy a file or folder to a host of a running fabric, or from it");
  command->footer(
      "A relative HOST:PATH is in the host's own folder, where its command writes its files (in a guest /guest). What "
      "is\n"
      "there is written over.\n"
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
