// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/report_command.hpp"

#include <memory>
#include <string>

#include "analysis/page/report_page.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/whole_file.hpp"

namespace softspine::tools {

namespace {

struct ReportArguments {
  std::string recording;
  std::string out = "/dev/stdout";
};

Status write_report(const ReportArguments& arguments) {
  const auto page = analysis::page::report_page(arguments.recording);
  if (!page) {
    complain("softspine: {}\n", page.error());
    return Status::kWrongInput;
  }
  const auto written = write_whole(arguments.out, *page);
  if (written) return Status::kDone;
  complain("softspine: cannot write {}: {}\n", arguments.out, written.error());
  return Status::kUnexpected;
}

}  // namespace

void add_report_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "one HTML page about a recorded run, to be read anywhere");
  command->footer(
      "Examples:\n"
      "  softspine run testbeds/pfc-storm.yaml --record storm.sqlite\n"
      "  softspine report storm.sqlite -o storm.html\n"
      "`softspine run --html FILE` writes the same page.");
  command->add_option("RECORDING", arguments->recording, "a file that `softspine run --record` has written")
      ->required();
  command->add_option("-o,--output", arguments->out, "the page's file; else it goes to the standard output");
  command->callback([arguments, &status] { status = write_report(*arguments); });
}

}  // namespace softspine::tools
