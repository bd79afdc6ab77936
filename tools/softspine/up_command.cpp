// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/up_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/labs/lab_folder.hpp"
#include "tools/softspine/run_arguments.hpp"
#include "tools/softspine/run_command.hpp"
#include "tools/softspine/service_report.hpp"

namespace softspine::tools {

using dataplane::OwnedFd;

namespace {

struct UpArguments : RunArguments {
  bool is_brief = false;
};

// The lab: this process, which has no terminal and belongs to nobody's session.
class Daemon {
 public:
  Daemon(LabFolder folder, OwnedFd ready) : folder_(std::move(folder)), ready_(std::move(ready)) {}

  Status operator()(UpArguments arguments, const control::Testbed& testbed) {
    setsid();
    folder_.write_process(getpid());
    const OwnedFd log{open(folder_.log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
    const OwnedFd nothing{open("/dev/null", O_RDONLY | O_CLOEXEC)};
    dup2(nothing.get(), STDIN_FILENO);
    dup2(log.get(), STDOUT_FILENO);
    dup2(log.get(), STDERR_FILENO);
    arguments.lab_files = folder_.files();
    arguments.stays = true;
    arguments.when_up = [this](bool is_well) { return is_well && say_ready(); };
    const Status status = run_testbed(arguments, testbed);
    std::fflush(stdout);
    folder_.write_status(static_cast<int>(status));
    if (is_abandoned_) forget_lab(testbed.name);
    return status;
  }

 private:
  // False if nobody waits for it any more: whoever started it was interrupted.
  bool say_ready() {
    is_abandoned_ = write(ready_.get(), "r", 1) != 1;
    ready_ = OwnedFd{};
    return !is_abandoned_;
  }

  LabFolder folder_;
  OwnedFd ready_;
  bool is_abandoned_ = false;
};

bool becomes_ready(const OwnedFd& ready) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(ready.get(), &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

// What the run has printed, and its status.
Status tell_failure(pid_t child, const Lab& lab) {
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  std::ifstream log{lab.log()};
  const std::string text{std::istreambuf_iterator<char>{log}, {}};
  complain("{}", text);
  if (!WIFEXITED(how)) complain("softspine: {} was killed while it began\n", lab.name);
  forget_lab(lab.name);
  return WIFEXITED(how) ? static_cast<Status>(WEXITSTATUS(how)) : Status::kUnexpected;
}

bool has_programs(const control::Attachment& host) {
  return std::holds_alternative<control::NamespaceHost>(host) || std::holds_alternative<control::VerbsHost>(host) ||
         std::holds_alternative<control::Guest>(host);
}

void print_up(const control::Testbed& testbed) {
  std::string hosts;
  for (const control::FabricNode& node : testbed.fabric.nodes) {
    if (hosts.size() < 60 && has_programs(node.attachment)) hosts += " " + node.name;
  }
  fmt::print("{} is up; softspine down {} ends it\n", testbed.name, testbed.name);
  if (!hosts.empty()) fmt::print("softspine shell HOST and softspine exec HOST -- COMMAND enter:{}\n", hosts);
}

Status up(UpArguments& arguments) {
  if (arguments.overrides.clock == control::ClockKind::kVirtual)
    return wrong_input("a lab runs on the wall clock; --dilation slows it down");
  arguments.overrides.clock = control::ClockKind::kWall;
  if (!arguments.overrides.duration) arguments.overrides.duration = dataplane::Duration::max();
  const auto testbed = read_testbed(arguments.file, arguments.overrides);
  if (!testbed) return testbed.error();
  if (const auto review = reviewed(*testbed); !review) return review.error();
  auto folder = LabFolder::take(testbed->name);
  if (!folder) return wrong_input(folder.error());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return wrong_input(std::strerror(errno));
  OwnedFd hears{ends[0]};
  OwnedFd says{ends[1]};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return wrong_input(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    hears = OwnedFd{};
    return Daemon{std::move(*folder), std::move(says)}(arguments, *testbed);
  }
  says = OwnedFd{};
  const auto lab = lab_named(testbed->name);
  if (!becomes_ready(hears)) return tell_failure(child, *lab);
  if (!arguments.is_brief) print_up(*testbed);
  return Status::kDone;
}

}  // namespace

void add_up_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<UpArguments>();
  arguments->quiet = true;
  CLI::App* command = app.add_subcommand("up", "run a testbed in the background, until softspine down");
  command->footer(
      "It returns when the fabric runs and each of its hosts is set up, or with the error and status of the run.\n"
      "A lab runs on the wall clock, and without an end: neither the testbed's duration nor the end of a host's "
      "command\n"
      "ends it, and commands have no timeout.\n"
      "Examples:\n"
      "  softspine up testbeds/namespaces.yaml\n"
      "  softspine exec h1 -- ping -c 3 h3\n"
      "  softspine shell h2\n"
      "  softspine ls\n"
      "  softspine logs namespaces\n"
      "  softspine down namespaces");
  command->add_option("FILE", arguments->file, "a testbed file")->required();
  add_overrides(*command, arguments->overrides);
  add_run_files(*command, *arguments);
  command->add_flag("--quiet", arguments->is_brief, "print nothing if all is well");
  command->callback([arguments, &status] { status = up(*arguments); });
}

}  // namespace softspine::tools
