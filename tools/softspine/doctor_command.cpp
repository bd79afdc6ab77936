// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/doctor_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "control/telemetry/json.hpp"
#include "testbeds/doctor/looks.hpp"

namespace softspine::tools {

using testbeds::Finding;
using testbeds::Findings;
using testbeds::State;

namespace {

struct DoctorArguments {
  std::string file;
  control::Overrides overrides;
  bool json = false;
  bool strict = false;
};

control::Json json_of(const Findings& findings, const std::optional<control::Testbed>& testbed) {
  control::Json rows = control::Json::array();
  for (const Finding& it : findings) {
    rows.push_back({{"what", it.what}, {"state", word_of(it.state)}, {"fact", it.fact}, {"mend", it.mend}});
  }
  return {{"testbed", testbed ? control::Json(testbed->name) : control::Json()},
          {"ready", is_ready(findings)},
          {"rows", std::move(rows)}};
}

// A line each for what is asked, one for all that is not.
void print_text(const Findings& findings) {
  size_t width = 0;
  for (const Finding& it : findings) {
    if (it.state != State::kNotNeeded) width = std::max(width, it.what.size());
  }
  std::string idle;
  for (const Finding& it : findings) {
    if (it.state == State::kNotNeeded) {
      idle += (idle.empty() ? "" : ", ") + it.what;
      continue;
    }
    fmt::print("{:<7}  {:<{}}  {}{}\n", word_of(it.state), it.what, width, it.fact,
               it.mend.empty() ? "" : "; mend: " + it.mend);
  }
  if (!idle.empty()) fmt::print("not needed: {}\n", idle);
}

Status doctor(const DoctorArguments& arguments) {
  std::optional<control::Testbed> testbed;
  if (!arguments.file.empty()) {
    auto read = read_testbed(arguments.file, arguments.overrides);
    if (!read) return read.error();
    testbed = std::move(*read);
  }
  const testbeds::Machine machine;
  const Findings findings = examine(machine, testbed ? testbeds::asked_by(*testbed) : testbeds::all_of_it());
  if (arguments.json) {
    fmt::print("{}\n", json_of(findings, testbed).dump(2, ' ', false, control::Json::error_handler_t::replace));
  } else {
    print_text(findings);
  }
  const bool is_short = std::ranges::find(findings, State::kShort, &Finding::state) != findings.end();
  return is_ready(findings) && !(arguments.strict && is_short) ? Status::kDone : Status::kUnexpected;
}

}  // namespace

void add_doctor_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand("doctor", "whether this machine has what a testbed asks, and how to mend it");
  command->footer(
      "A line for each thing: ok; short: a run starts, and the line says at what price; missing: a run does not "
      "start,\n"
      "or a host of it cannot be set up; unknown: it cannot be seen. Nothing is changed.\n"
      "Exit status: 0 nothing that is asked is missing or unknown (with --strict: or short); 1 something is; 2 the\n"
      "input was wrong.\n"
      "Examples:\n"
      "  softspine doctor testbeds/namespaces.yaml\n"
      "  softspine doctor lab.yaml && softspine run lab.yaml\n"
      "  softspine doctor --json | jq -r '.rows[] | select(.state == \"missing\") | .mend'");
  command->add_option("FILE", arguments->file, "a testbed file; without it all that softspine can use");
  add_overrides(*command, arguments->overrides);
  command->add_flag("--json", arguments->json, "for programs");
  command->add_flag("--strict", arguments->strict, "status 1 also if something is short");
  command->callback([arguments, command, &status] {
    if (arguments->file.empty()) {
      for (const CLI::Option* option : command->parse_order()) {
        const bool is_override = option->get_name() != "--json" && option->get_name() != "--strict";
        if (is_override) throw CLI::RequiredError("FILE, for " + option->get_name());
      }
    }
    status = doctor(*arguments);
  });
}

}  // namespace softspine::tools
