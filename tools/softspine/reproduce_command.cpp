// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "control/report/report.hpp"
#include "control/telemetry/json.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/picture_file.hpp"
#include "tools/command/screen.hpp"
#include "tools/command/whole_file.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/interrupt.hpp"
#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/trial_picture.hpp"
#include "tools/softspine/reproduce/trial_report.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

namespace {

constexpr uint32_t kMostSeeds = 1'000;

struct ReproduceArguments {
  std::vector<std::string> names;
  TrialOptions trial;
  std::string html;
  std::string svg;
  bool all = false;
  bool whole = false;
  bool json = false;
  bool quiet = false;
};

std::expected<std::vector<const Experiment*>, std::string> chosen(const ReproduceArguments& arguments) {
  std::vector<const Experiment*> out;
  std::set<std::string> named;
  for (const std::string& name : arguments.names) {
    const Experiment* const found = find_experiment(name);
    if (found == nullptr) {
      return std::unexpected(fmt::format("there is no experiment '{}'; softspine reproduce lists them", name));
    }
    if (named.insert(name).second) out.push_back(found);
  }
  for (const Experiment& each : experiments()) {
    if (arguments.all) out.push_back(&each);
  }
  return out;
}

// Before hours are spent: where what comes out could not be written; empty if it can.
std::string obstacle(const ReproduceArguments& arguments) {
  for (const std::string& folder : {arguments.svg, arguments.trial.keep}) {
    if (folder.empty()) continue;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) return fmt::format("cannot make the folder {}: {}", folder, failed.message());
    if (access(folder.c_str(), W_OK) != 0) return fmt::format("cannot write into {}", folder);
  }
  if (arguments.html.empty()) return {};
  const std::string why = obstacle_to_writing(arguments.html);
  return why.empty() ? why : fmt::format("cannot write {}: {}", arguments.html, why);
}

std::expected<std::optional<control::Json>, std::string> run_testbed(const control::Testbed& testbed) {
  auto fabric = testbeds::RunningFabric::make(testbed, {});
  if (!fabric) return std::unexpected(fabric.error());
  const StopOnInterrupt on_interrupt{**fabric};
  if (const auto ran = (*fabric)->run(); !ran) return std::unexpected(ran.error());
  if ((*fabric)->stop_requested()) return std::nullopt;
  control::Json report = control::report_json((*fabric)->snapshot(), run_facts(testbed));
  if ((*fabric)->drain() != 0) return std::unexpected("packets were not given back: a defect, please report it");
  if (!report["totals"]["balanced"].get<bool>()) {
    return std::unexpected("its counters do not add up: a defect, please report it");
  }
  return report;
}

class Reproduction {
 public:
  explicit Reproduction(const ReproduceArguments& arguments) : arguments_(arguments) {}

  Status operator()(const std::vector<const Experiment*>& wanted) {
    // Also between two runs, and while the files are written.
    const CatchInterrupts interrupts;
    for (const Experiment* each : wanted) {
      auto trial = try_out(*each, arguments_.trial, run_testbed, [&](uint32_t done, uint32_t all) {
        if (!arguments_.quiet) show(*each, done, all);
      });
      if (!arguments_.quiet) screen_.redraw("");
      if (!trial) {
        complain("softspine: {}: {}\n", each->name, trial.error());
        has_failed_ = true;
        break;
      }
      if (!arguments_.json) fmt::print("{}{}", trials_.empty() ? "" : "\n", trial_text(*trial));
      std::fflush(stdout);
      trials_.push_back(std::move(*trial));
      if (trials_.back().was_interrupted) break;
    }
    if (arguments_.json) print_json();
    const bool written = write_files();
    const bool holds = !has_failed_ && std::ranges::all_of(trials_, &Trial::holds);
    return written && holds ? Status::kDone : Status::kUnexpected;
  }

 private:
  // A terminal has one line in its place, a file a line for each tenth.
  void show(const Experiment& it, uint32_t done, uint32_t all) {
    const std::string line = fmt::format("{}: run {} of {}", it.name, done + 1, all);
    if (isatty(STDERR_FILENO) != 0) {
      screen_.redraw(line + "\n");
    } else if (done != 0 && done * 10 / all != (done - 1) * 10 / all) {
      screen_.print_line(line);
    }
  }

  void print_json() const {
    control::Json out = control::Json::array();
    for (const Trial& trial : trials_) out.push_back(trial_json(trial));
    fmt::print("{}\n", out.dump(2));
  }

  bool write_files() const {
    bool succeeded = true;
    const auto write = [&](const std::string& path, const std::string& text) {
      const auto written = write_whole(path, text);
      if (!written) complain("softspine: cannot write {}: {}\n", path, written.error());
      succeeded = succeeded && written;
    };
    for (const Trial& trial : trials_) {
      if (arguments_.svg.empty()) break;
      const std::string name = std::string(trial.experiment->name) + ".svg";
      write((std::filesystem::path(arguments_.svg) / name).string(), trial_picture(trial));
    }
    if (!arguments_.html.empty()) write(arguments_.html, trials_page(trials_));
    return succeeded;
  }

  const ReproduceArguments& arguments_;
  Screen screen_;
  std::vector<Trial> trials_;
  bool has_failed_ = false;  // what came out before that is written nevertheless
};

Status reproduce_papers(const ReproduceArguments& arguments) {
  const auto wanted = chosen(arguments);
  if (!wanted) return wrong_input(wanted.error());
  if (wanted->empty()) {
    if (arguments.json) {
      fmt::print("{}\n", experiments_json(experiments()).dump(2));
    } else {
      fmt::print("{}", experiment_list(experiments()));
    }
    return Status::kDone;
  }
  const std::string why = obstacle(arguments);
  if (!why.empty()) return wrong_input(why);
  return Reproduction{arguments}(*wanted);
}

}  // namespace

void add_reproduce_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand("reproduce", "the figures and tables of papers, ours beside theirs");
  command->footer(
      "Without a NAME: the list. Each experiment runs with several seeds. Beside the paper's numbers stand the mean,\n"
      "the standard deviation, the least and the most of ours. A figure's shape is a few claims, each a predicate\n"
      "over the numbers. A claim that does not hold is shown as such, with the reason that we believe.\n"
      "Exit status: 0 all claims hold; 1 one does not, or something failed; 2 the input was wrong.\n"
      "Examples:\n"
      "  softspine reproduce\n"
      "  softspine reproduce uet-single-path\n"
      "  softspine reproduce meta-table3 --seeds 2 --keep testbeds-of-it --svg pictures\n"
      "  softspine reproduce --all --html papers.html\n"
      "  softspine reproduce hpn-fig19 --json | jq '.[].claims[] | select(.holds | not)'");
  CLI::Option* names = command->add_option("NAME", arguments->names, "experiments");
  command->add_flag("--all", arguments->all, "every experiment")->excludes(names);
  command->add_flag("--whole", arguments->whole, "the paper's numbers of GPUs and bytes, as far as it says: days");
  command->add_option("--seeds", arguments->trial.seeds, "how many seeds, from 1 on; by itself as the list has it")
      ->check(CLI::Range(1U, kMostSeeds));
  command->add_option("--workers", arguments->trial.workers, "threads that move packets")->check(CLI::Range(1, 128));
  command->add_option("--keep", arguments->trial.keep, "a folder for the testbeds of seed 1, for softspine run");
  command->add_option("--svg", arguments->svg, "a folder for a picture of each");
  command->add_option("--html", arguments->html, "a page with all of it, pictures, too");
  command->add_flag("--json", arguments->json, "for programs");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  command->callback([arguments, &status] {
    arguments->trial.size = arguments->whole ? TrialSize::kWhole : TrialSize::kSmall;
    status = reproduce_papers(*arguments);
  });
}

}  // namespace softspine::tools
