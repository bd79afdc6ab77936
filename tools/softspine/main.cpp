// SPDX-License-Identifier: Apache-2.0
// The softspine command: reads its arguments and calls one of its subcommands.
#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <string>
#include <system_error>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/memory_shortage.hpp"
#include "tools/command/app_description.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/program_version.hpp"
#include "tools/command/standard_output.hpp"
#include "tools/softspine/bench_command.hpp"
#include "tools/softspine/check_command.hpp"
#include "tools/softspine/doctor_command.hpp"
#include "tools/softspine/exec_command.hpp"
#include "tools/softspine/explain_command.hpp"
#include "tools/softspine/fabric_commands.hpp"
#include "tools/softspine/identify_command.hpp"
#include "tools/softspine/import_command.hpp"
#include "tools/softspine/import_hash_command.hpp"
#include "tools/softspine/lab_commands.hpp"
#include "tools/softspine/pause_counters_command.hpp"
#include "tools/softspine/polarization_command.hpp"
#include "tools/softspine/report_command.hpp"
#include "tools/softspine/reproduce_command.hpp"
#include "tools/softspine/run_command.hpp"
#include "tools/softspine/source_ports_command.hpp"
#include "tools/softspine/storm_command.hpp"
#include "tools/softspine/sweep_command.hpp"
#include "tools/softspine/up_command.hpp"
#include "tools/softspine/view_command.hpp"

namespace {

using namespace softspine;
using namespace softspine::tools;

// The standard library's words for a lack ("Resource temporarily unavailable", "std::bad_alloc") name no cause.
std::string words_of(const std::exception& error) {
  using namespace softspine::dataplane;
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
    return "a thread cannot be started: " + thread_limit(read_memory_limits());
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "out of memory: " + memory_limit(read_memory_limits());
  return error.what();
}

Status command_status(int argc, char** argv) {
  CLI::App app{"softspine: a switch fabric in software, for real and for built-in RoCEv2 traffic"};
  app.name("softspine");
  app.set_version_flag("--version", program_version("softspine", dataplane::dpdk_version()));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done and as expected; 1 an expectation, a command, a file or a part of the run failed; 2 the "
      "input was wrong.\n"
      "softspine COMMAND --help says more, with examples.");
  Status status = Status::kDone;
  try {
    add_run_command(app, status);
    add_up_command(app, status);
    add_lab_commands(app, status);
    add_check_command(app, status);
    add_doctor_command(app, status);
    add_explain_command(app, status);
    add_polarization_command(app, status);
    add_source_ports_command(app, status);
    add_import_command(app, status);
    add_import_hash_command(app, status);
    add_identify_command(app, status);
    add_fabric_commands(app, status);
    add_exec_command(app, status);
    add_storm_command(app, status);
    add_pause_counters_command(app, status);
    add_report_command(app, status);
    add_view_command(app, status);
    add_reproduce_command(app, status);
    add_sweep_command(app, status);
    add_bench_command(app, status);
    if (!describe_if_asked(app, argc, argv)) app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const std::vector<std::string> rest = app.remaining(); !rest.empty() && app.get_subcommands().empty()) {
      complain("softspine: there is no command '{}'; softspine --help lists them\n", rest.front());
      return Status::kWrongInput;
    }
    // CLI11 gives each of its errors a status of its own; ours has one for all wrong input.
    return app.exit(error) == 0 ? Status::kDone : Status::kWrongInput;
  }
  return status;
}

// fmt throws when stdout takes nothing more: that is no wrong input, and said when stdout is closed.
Status guarded_status(int argc, char** argv) {
  try {
    return command_status(argc, argv);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return Status::kUnexpected;
    complain("softspine: {}\n", words_of(error));
    return Status::kWrongInput;
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  const Status status = guarded_status(argc, argv);
  const std::string lost = close_standard_output();
  if (lost.empty()) return static_cast<int>(status);
  complain("softspine: cannot write to stdout: {}\n", lost);
  return static_cast<int>(status == Status::kDone ? Status::kUnexpected : status);
}
