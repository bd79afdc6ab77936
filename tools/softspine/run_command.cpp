// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "control/config/judge.hpp"
#include "control/telemetry/report.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tools/softspine/capture_options.hpp"
#include "tools/softspine/error_printer.hpp"
#include "tools/softspine/fabric_server.hpp"
#include "tools/softspine/interrupt.hpp"
#include "tools/softspine/progress.hpp"
#include "tools/softspine/screen.hpp"
#include "tools/softspine/service_report.hpp"
#include "tools/softspine/summary.hpp"

namespace softspine::tools {

namespace {

struct RunArguments {
  std::string file;
  control::Overrides overrides;
  testbeds::CaptureRequest capture;
  std::string report;
  std::string folder;
  bool json = false;
  bool quiet = false;
  bool no_server = false;
};

std::unexpected<Status> wrong(const std::string& message) {
  fmt::print(stderr, "softspine: {}\n", message);
  return std::unexpected(Status::kWrongInput);
}

// Guests and namespaces have files: what they are to run, and what they print.
bool has_files(const control::Testbed& testbed) {
  return std::ranges::any_of(testbed.fabric.nodes, [](const control::FabricNode& node) {
    return std::holds_alternative<control::Guest>(node.attachment) ||
           std::holds_alternative<control::NamespaceHost>(node.attachment);
  });
}

// Why a file could not be written, before a run is spent on it. It is neither made nor changed.
std::string obstacle_to_writing(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) {
    ::close(file);
    return "";
  }
  if (errno == ENXIO) return "";  // a pipe that nobody reads from yet
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (errno == ENOENT && path.has_filename() && ::access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return std::strerror(errno);
}

// Where outside hosts put their files: as asked for, or a new folder of our own.
std::expected<std::filesystem::path, Status> run_folder(const RunArguments& arguments,
                                                        const control::Testbed& testbed) {
  if (!has_files(testbed)) return std::filesystem::path{};
  if (!arguments.folder.empty()) return std::filesystem::absolute(arguments.folder);
  std::string made = "/tmp/softspine-run-XXXXXX";
  if (mkdtemp(made.data()) == nullptr) return wrong("cannot make a folder in /tmp for the outside hosts' files");
  return std::filesystem::path{made};
}

class Run {
 public:
  Run(const RunArguments& arguments, const control::Testbed& testbed) : arguments_(arguments), testbed_(testbed) {}

  Status operator()() {
    if (const auto ready = prepare(); !ready) {
      forget_folder();
      return ready.error();
    }
    // Also while the report is written: what ends the run must not end the report of it.
    const StopOnInterrupt on_interrupt{*fabric_};
    if (const auto ran = run(); !ran) return ran.error();
    return incomplete_.empty() ? finish() : finish_incomplete();
  }

 private:
  // Whatever can be wrong is found here, in an order that leaves files of earlier runs alone until none is left.
  std::expected<void, Status> prepare() {
    if (!arguments_.report.empty()) {
      const std::string obstacle = obstacle_to_writing(arguments_.report);
      if (!obstacle.empty()) return wrong("cannot write the report " + arguments_.report + ": " + obstacle);
    }
    if (const auto made = make(); !made) return made;
    server_ = std::make_unique<FabricServer>(*fabric_);
    if (!arguments_.no_server) {
      if (const auto listening = server_->listen(); !listening) {
        return wrong(listening.error() + "; with --no-server it runs without a socket");
      }
    }
    if (arguments_.capture.path.empty()) return {};
    const auto opened = fabric_->open_capture(arguments_.capture);
    if (!opened) return wrong(opened.error());
    return {};
  }

  std::expected<void, Status> make() {
    const auto folder = run_folder(arguments_, testbed_);
    if (!folder) return std::unexpected(folder.error());
    folder_ = *folder;
    auto fabric = testbeds::RunningFabric::make(
        testbed_,
        {.run_folder = folder_.empty() ? std::filesystem::temp_directory_path() : folder_, .capture = std::nullopt});
    if (!fabric) return wrong(fabric.error());
    fabric_ = std::move(*fabric);
    for (const std::string& note : fabric_->notes()) fmt::print(stderr, "softspine: {}\n", note);
    return {};
  }

  // One of our own that nobody has been told about.
  void forget_folder() {
    server_.reset();
    fabric_.reset();
    std::error_code ignored;
    if (!folder_.empty() && arguments_.folder.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  std::expected<void, Status> run() {
    Screen screen;
    const ErrorPrinter error_printer{fabric_->errors(), screen};
    std::optional<Progress> progress;
    if (!arguments_.quiet) progress.emplace(*fabric_, screen);
    const auto ran = fabric_->run();
    progress.reset();
    server_->stop();
    if (ran) return {};
    if (!fabric_->ran_out_of_memory()) return wrong(ran.error());
    incomplete_ = ran.error();
    return {};
  }

  // Counters of a run that could not go on are written for who looks for the cause, and judged by nobody.
  Status finish_incomplete() {
    const auto capture = fabric_->close_capture();
    if (!capture) fmt::print(stderr, "softspine: {}: {}\n", arguments_.capture.path, capture.error());
    control::Json report{{"incomplete", incomplete_}};
    report.update(control::report_json(fabric_->snapshot(), run_facts(testbed_)));
    write_report(report);
    if (arguments_.json) fmt::print("{}\n", report.dump(2));
    fabric_->drain();
    return Status::kUnexpected;
  }

  Status finish() {
    const auto capture = fabric_->close_capture();
    if (!capture) fmt::print(stderr, "softspine: {}: {}\n", arguments_.capture.path, capture.error());
    control::Json report = control::report_json(fabric_->snapshot(), run_facts(testbed_));
    report["notes"] = fabric_->notes();
    const bool commands_succeeded = add_commands(report);
    const auto verdicts = control::judge(testbed_.expectations, report);
    const bool as_expected = add_verdicts(report, verdicts);
    move_engine_last(report);
    const bool written = write_report(report);
    if (arguments_.json) {
      fmt::print("{}\n", report.dump(2));
    } else {
      fmt::print("{}", summary_text(report));
      print_verdicts(verdicts);
      print_files(capture);
    }
    if (const uint64_t leaked = fabric_->drain(); leaked != 0) {
      fmt::print(stderr, "softspine: {} packets were not given back: a defect, please report it\n", leaked);
      return Status::kUnexpected;
    }
    const bool whole = capture && fabric_->errors().empty();
    return whole && written && commands_succeeded && as_expected ? Status::kDone : Status::kUnexpected;
  }

  // What outside hosts' commands came to; true if all went well.
  bool add_commands(control::Json& report) const {
    bool succeeded = true;
    for (const testbeds::OutsideOutcome& outcome : fabric_->outcomes()) {
      succeeded = succeeded && outcome.succeeded();
      report["commands"][outcome.host] = {
          {"machine", outcome.machine},
          {"exit_status", outcome.exit_status ? control::Json(*outcome.exit_status) : control::Json()},
          {"timed_out", outcome.timed_out},
          {"stopped", outcome.stopped},
          {"problem", outcome.problem},
          {"seconds", outcome.seconds},
          {"stdout", outcome.stdout_path.string()},
          {"stderr", outcome.stderr_path.string()},
          {"counters", counters_of(outcome)}};
    }
    return succeeded;
  }

  // By device, as the guest's kernel names them: its NICs', and rdma_rxe's hw_counters.
  static control::Json counters_of(const testbeds::OutsideOutcome& outcome) {
    control::Json out = control::Json::object();
    for (const auto& [name, value] : outcome.counters) {
      const size_t space = name.find(' ');
      out[name.substr(0, space)][name.substr(space + 1)] = value;
    }
    return out;
  }

  // What may differ between identical runs stands last.
  static void move_engine_last(control::Json& report) {
    control::Json engine = std::move(report["engine"]);
    report.erase("engine");
    report["engine"] = std::move(engine);
  }

  static bool add_verdicts(control::Json& report, const std::vector<control::Verdict>& verdicts) {
    control::Json list = control::Json::array();
    bool all = true;
    for (const control::Verdict& verdict : verdicts) {
      all = all && verdict.held;
      list.push_back({{"held", verdict.held}, {"text", verdict.text}});
    }
    report["expectations"] = std::move(list);
    return all;
  }

  bool write_report(const control::Json& report) const {
    if (arguments_.report.empty()) return true;
    std::ofstream file(arguments_.report);
    file << report.dump(2) << "\n";
    file.close();
    if (file) return true;
    fmt::print(stderr, "softspine: {}: cannot be written: {}\n", arguments_.report, std::strerror(errno));
    return false;
  }

  static void print_verdicts(const std::vector<control::Verdict>& verdicts) {
    if (verdicts.empty()) return;
    const auto held = std::ranges::count_if(verdicts, [](const control::Verdict& v) { return v.held; });
    fmt::print("\nExpectations: {} of {} held\n", held, verdicts.size());
    for (const control::Verdict& verdict : verdicts)
      fmt::print("  {} {}\n", verdict.held ? "ok    " : "FAILED", verdict.text);
  }

  void print_files(const std::expected<control::CaptureTotals, std::string>& capture) const {
    std::string out;
    if (!arguments_.report.empty()) out += fmt::format("  {}  the report\n", arguments_.report);
    if (!arguments_.capture.path.empty() && capture) {
      out += fmt::format("  {}  {} frames, {}{}{}\n", arguments_.capture.path, capture->frames,
                         short_number(static_cast<double>(capture->bytes), "B"),
                         arguments_.capture.rotation.any() ? fmt::format(" in {} numbered files", capture->files) : "",
                         capture->missed + capture->omitted == 0
                             ? ""
                             : fmt::format("; {} missed, {} beyond its limit", capture->missed, capture->omitted));
    }
    if (!folder_.empty()) out += fmt::format("  {}  files of outside hosts\n", folder_.string());
    if (!out.empty()) fmt::print("\nFiles\n{}", out);
  }

  const RunArguments& arguments_;
  const control::Testbed& testbed_;
  std::filesystem::path folder_;
  std::unique_ptr<testbeds::RunningFabric> fabric_;
  std::unique_ptr<FabricServer> server_;
  std::string incomplete_;  // why the run could not go on
};

Status run(const RunArguments& arguments) {
  const auto testbed = read_testbed(arguments.file, arguments.overrides);
  if (!testbed) return testbed.error();
  if (const auto review = reviewed(*testbed); !review) return review.error();
  return Run(arguments, *testbed)();
}

}  // namespace

void add_run_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "build a testbed, run it, and say what it did");
  command->footer(
      "Examples:\n"
      "  softspine run testbeds/two-tier.yaml\n"
      "  softspine run two-tier.yaml --capture fabric.pcapng --report report.json\n"
      "  softspine run two-tier.yaml --capture tor1.pcapng --capture-port 'tor1:*' --snaplen 128\n"
      "  softspine run pfc-storm.yaml --capture pauses.pcapng --capture-filter 'ether proto 0x8808'\n"
      "  softspine run two-tier.yaml --workers 2 --seed 3 --json | jq .flows\n"
      "Ctrl-C (or SIGTERM, SIGHUP) ends it: files are closed and what was counted is printed.");
  command->add_option("FILE", arguments->file, "a testbed file")->required();
  add_overrides(*command, arguments->overrides);
  CLI::Option* capture =
      command->add_option("--capture", arguments->capture.path, "write what crosses the fabric to this pcapng file");
  add_capture_options(*command, arguments->capture, "--capture-", capture);
  command->add_option("--report", arguments->report, "write the report to this JSON file");
  command->add_option("--folder", arguments->folder, "for the files of guests and namespaces; else one in /tmp");
  command->add_flag("--json", arguments->json, "the report on stdout instead of tables");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  command->add_flag("--no-server", arguments->no_server, "no control socket: `softspine show` will not find it");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace softspine::tools
