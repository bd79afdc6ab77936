// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/page/report_page.hpp"
#include "control/expect/judge.hpp"
#include "control/record/series.hpp"
#include "control/report/fct_file.hpp"
#include "control/report/flows_csv.hpp"
#include "control/report/report.hpp"
#include "control/server/socket_path.hpp"
#include "dataplane/packet/huge_heap.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/flow_series.hpp"
#include "testbeds/run/outside_watch.hpp"
#include "testbeds/run/pfc_file.hpp"
#include "testbeds/run/queue_lengths.hpp"
#include "testbeds/run/run_recording.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "testbeds/run/trace_file.hpp"
#include "testbeds/run/workload_flows.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/screen.hpp"
#include "tools/command/whole_file.hpp"
#include "tools/page/live_page.hpp"
#include "tools/softspine/error_printer.hpp"
#include "tools/softspine/interrupt.hpp"
#include "tools/softspine/polarization_hint.hpp"
#include "tools/softspine/run_arguments.hpp"
#include "tools/softspine/run_complaints.hpp"
#include "tools/softspine/run_files.hpp"
#include "tools/softspine/run_folder.hpp"
#include "tools/softspine/run_http.hpp"
#include "tools/softspine/run_pictures.hpp"
#include "tools/softspine/run_progress.hpp"
#include "tools/softspine/run_ranks.hpp"
#include "tools/softspine/service_report.hpp"
#include "tools/softspine/summary/summary.hpp"
#include "tools/softspine/summary/summary_words.hpp"
#include "tools/softspine/views/fabric_server.hpp"
#include "tools/softspine/views/file_clashes.hpp"
#include "tools/softspine/views/run_cases.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kLastWords = 3;  // lines

std::unexpected<Status> fail(const std::string& message) {
  complain("softspine: {}\n", message);
  return std::unexpected(Status::kWrongInput);
}

class Run {
 public:
  // `ranks`: null if this process is alone.
  Run(const RunArguments& arguments, const control::Testbed& testbed, testbeds::RankProcess* ranks,
      std::optional<control::RankMeetingTime> meeting = std::nullopt)
      : arguments_(arguments), testbed_(testbed), ranks_(ranks), meeting_(meeting) {}
  ~Run() { forget_folder(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // After prepare().
  Status operator()() {
    // Also while the report is written: what ends the run must not end the report of it.
    const CatchInterrupts interrupts;
    const StopOnInterrupt on_interrupt{*fabric_};
    if (const auto ran = run(); !ran) return ran.error();
    return incomplete_.empty() ? finish() : finish_incomplete();
  }

  // Whatever can be wrong is found here, in an order that leaves files of earlier runs alone until none is left. Rank 0
  // alone writes.
  std::expected<void, Status> prepare() {
    choose_telemetry();
    if (!is_first()) return help_first();
    if (series_.path.empty() && !arguments_.series.counters.empty())
      return fail("--counters goes with --counters-file");
    const bool samples = !series_.path.empty() || !arguments_.flow_series.empty() || !arguments_.qlen_file.empty();
    if (!samples && arguments_.sample_interval)
      return fail("--sample-interval goes with --counters-file, --flow-series or --qlen-file");
    if (!is_recorded() && arguments_.record_interval) return fail("--record-interval goes with --record or --html");
    if (arguments_.trace.empty() && arguments_.trace_interval) return fail("--trace-interval goes with --trace");
    std::vector<FileUse> files = outputs();
    for (const FileUse& file : files) {
      const std::string obstacle = file.path.empty() ? "" : obstacle_to_writing(file.path);
      if (!obstacle.empty()) return fail("cannot write " + file.what + " " + file.path.string() + ": " + obstacle);
    }
    files.push_back({"the capture", arguments_.capture.path, true, arguments_.capture.rotation.any()});
    std::vector<FileUse> uses = files_of(testbed_);
    uses.insert(uses.end(), files.begin(), files.end());
    if (const auto clash = first_clash(uses)) return fail(*clash);
    const bool given = has_files(testbed_) && !arguments_.folder.empty();
    if (const auto lost =
            given ? first_lost_in(std::filesystem::path(arguments_.folder) / "board", uses) : std::nullopt) {
      return fail(*lost);
    }
    for (const FileUse& use : uses) {
      if (!use.numbered && waits_for_reader(arguments_, use))
        complain("softspine: {} is a pipe: the run begins when it is read\n", use.path.string());
    }
    if (const auto made = make(); !made) return made;
    server_ = std::make_unique<FabricServer>(*fabric_, std::move(uses));
    if (!arguments_.no_server) {
      if (const auto listening = server_->listen(); !listening) {
        return fail(listening.error() + "; with --no-server it runs without a socket");
      }
      if (ranks_ != nullptr) remove_when_lost(control::socket_path(testbed_.name)->string());
    }
    if (const auto served = serve_http(); !served) return served;
    return ranks_ == nullptr ? open_outputs() : std::expected<void, Status>{};
  }

  // Files that are written while it runs. Over ranks by all at once, when all are ready.
  std::expected<void, Status> open_outputs() {
    if (ranks_ != nullptr) {
      fabric_->part<testbeds::OutsideWatch>().share_notes();
      if (is_first()) say_notes(*fabric_);
    }
    if (const auto opened = open_telemetry(); !opened) return fail(opened.error());
    if (arguments_.capture.path.empty()) return {};
    testbeds::CaptureRequest request = arguments_.capture;
    request.wait_for_reader = true;
    const auto opened = fabric_->part<testbeds::Captures>().open_for_run(request);
    if (!opened) return fail(opened.error());
    return {};
  }

 private:
  // Another rank than the first: carries out what that one is asked, and records the events that it shows.
  std::expected<void, Status> help_first() {
    const auto made = make();
    if (made) server_ = std::make_unique<FabricServer>(*fabric_);
    if (made && arguments_.http) fabric_->part<testbeds::EventLog>().open(std::unique_ptr<control::EventSink>{});
    return made;
  }

  bool is_first() const { return ranks_ == nullptr || ranks_->is_first(); }

  std::expected<void, Status> serve_http() {
    if (!arguments_.http) return {};
    auto options = web_options(arguments_);
    if (!options) return fail(options.error());
    options->files = live_page();
    const auto where = server_->listen_web(std::move(*options));
    if (!where) return fail(where.error());
    complain("softspine: {} is at {}\n", testbed_.name, where->url());
    return {};
  }

  std::vector<FileUse> outputs() const {
    std::vector<FileUse> out{{"the report", arguments_.report, true},
                             {"test cases", arguments_.junit, true},
                             {"the flows", arguments_.flows, true},
                             {"completion times", arguments_.fct_file, true},
                             {"pauses", arguments_.pfc_file, true},
                             {"queue lengths", arguments_.qlen_file, true},
                             {"counters", series_.path, true},
                             {"the flows over time", arguments_.flow_series, true},
                             {"events", events_, true},
                             {"the recording", arguments_.record, true},
                             {"the page", arguments_.html, true},
                             {"the trace", arguments_.trace, true}};
    for (FileUse& picture : arguments_.pictures.outputs()) out.push_back(std::move(picture));
    return out;
  }

  // The command line's, else the testbed's, whose files lie beside it.
  void choose_telemetry() {
    const control::TelemetryConfig& given = testbed_.run.telemetry;
    const auto beside = [this](const std::string& file) {
      return file.empty() ? file : (std::filesystem::path(testbed_.file).parent_path() / file).string();
    };
    series_ = arguments_.series;
    if (series_.path.empty()) series_.path = beside(given.counters_file);
    if (series_.counters.empty()) series_.counters = given.counters;
    series_.interval = arguments_.sample_interval.value_or(given.sample_interval);
    events_ = arguments_.events.empty() ? beside(given.events_file) : arguments_.events;
  }

  // Over ranks all open the same, in one order; so each is opened there after an error, too.
  std::expected<void, std::string> open_telemetry() {
    std::expected<void, std::string> out;
    const auto open = [&](bool is_asked, auto&& opens) {
      if (!is_asked || (!out && ranks_ == nullptr)) return;
      const std::expected<void, std::string> opened = opens();
      if (out) out = opened;
    };
    open(!series_.path.empty(), [&] { return fabric_->part<testbeds::CounterSeries>().open(series_); });
    open(!arguments_.flow_series.empty(),
         [&] { return fabric_->part<testbeds::FlowSeries>().open(arguments_.flow_series, series_.interval); });
    open(!arguments_.pfc_file.empty(), [&] { return fabric_->part<testbeds::PfcFile>().open(arguments_.pfc_file); });
    if (!arguments_.qlen_file.empty()) fabric_->part<testbeds::QueueLengths>().begin_every(series_.interval);
    open(!events_.empty(), [&] { return fabric_->part<testbeds::EventLog>().open(events_); });
    open(!arguments_.trace.empty(), [&] { return open_trace(*fabric_, arguments_); });
    open(is_recorded(), [&] { return open_recording(); });
    return out;
  }

  bool is_recorded() const { return !arguments_.record.empty() || !arguments_.html.empty(); }

  std::expected<void, std::string> open_recording() {
    std::expected<void, std::string> made;
    if (is_first()) recording_ = arguments_.record;
    if (is_first() && recording_.empty()) made = make_file_for_page(recording_);
    const dataplane::Duration usual = testbeds::usual_record_interval(testbed_.run);
    const auto opened =
        fabric_->part<testbeds::RunRecording>().open({.path = recording_,
                                                      .run = {.version = run_facts(testbed_).program,
                                                              .text = bytes_of_file(testbed_.file),
                                                              .interval = arguments_.record_interval.value_or(usual)}});
    return made ? opened : made;
  }

  std::expected<void, Status> make() {
    const auto folder = run_folder(arguments_.folder.empty() ? arguments_.lab_files : arguments_.folder, testbed_);
    if (!folder) return fail(folder.error());
    folder_ = *folder;
    if (ranks_ != nullptr && !folder_.empty() && !keeps_folder()) remove_when_lost(folder_.string());
    auto fabric = testbeds::RunningFabric::make(
        testbed_, {.run_folder = folder_.empty() ? std::filesystem::temp_directory_path() : folder_,
                   .capture = std::nullopt,
                   .flat = arguments_.flat,
                   .stays = arguments_.stays,
                   .steps = !arguments_.pictures.steps.empty(),
                   .traced_steps = !arguments_.trace.empty() || is_recorded(),
                   .talk = ranks_ == nullptr ? nullptr : &ranks_->talk(),
                   .meeting = meeting_});
    if (!fabric) return fail(fabric.error());
    fabric_ = std::move(*fabric);
    if (ranks_ == nullptr) say_notes(*fabric_);
    return {};
  }

  bool keeps_folder() const { return !folder_.empty() && !arguments_.folder.empty(); }

  // One of our own, once nobody is in it any more.
  void forget_folder() {
    error_printer_.reset();  // reads the fabric's errors, also where an exception ends the run
    server_.reset();
    fabric_.reset();
    std::error_code ignored;
    // A recording that has failed has a journal beside it.
    for (const char* const end : {"", "-journal"}) {
      if (arguments_.record.empty() && !recording_.empty()) std::filesystem::remove(recording_ + end, ignored);
    }
    if (!folder_.empty() && !keeps_folder()) std::filesystem::remove_all(folder_, ignored);
  }

  std::vector<testbeds::OutsideOutcome> ends_of_commands() const {
    std::vector<testbeds::OutsideOutcome> out = fabric_->part<testbeds::OutsideWatch>().outcomes(kLastWords);
    for (testbeds::OutsideOutcome& outcome : out) {
      if (!keeps_folder()) outcome.stdout_path = outcome.stderr_path = outcome.console_path = "";
    }
    return out;
  }

  std::expected<void, Status> run() {
    if (is_first() && !arguments_.stays) say_when_it_ends(*fabric_);
    error_printer_.emplace(fabric_->errors(), screen_);
    if (arguments_.when_up) {
      fabric_->part<testbeds::OutsideWatch>().when_up([this] {
        if (!arguments_.when_up(fabric_->errors().empty())) fabric_->stop();
      });
    }
    std::optional<Progress> progress;
    if (!arguments_.quiet) progress.emplace(*fabric_, screen_);
    const auto ran = fabric_->run();
    progress.reset();
    if (server_) server_->stop();
    if (ran) return {};
    if (!fabric_->ran_out_of_memory()) {  // all ranks have one error
      return is_first() ? fail(ran.error()) : std::unexpected(Status::kWrongInput);
    }
    incomplete_ = ran.error();
    return {};
  }

  // Counters of a run that could not go on are written for who looks for the cause, and judged by nobody.
  Status finish_incomplete() {
    static_cast<void>(
        fabric_->part<testbeds::Captures>().close_all());  // what is wrong with it is on the error channel
    error_printer_.reset();
    control::Json report{{"incomplete", incomplete_}};
    report.update(control::report_json(fabric_->snapshot(), run_facts(testbed_, true), rows(arguments_.idle_rows)));
    write_file(arguments_.report, [&] { return report.dump(2) + "\n"; });
    write_file(arguments_.junit, [&] { return junit(incomplete_cases(testbed_, incomplete_), report, {}); });
    if (arguments_.json) fmt::print("{}\n", report.dump(2));
    fabric_->drain();
    return Status::kUnexpected;
  }

  // Files first: a reader of stderr or stdout that takes nothing keeps no one from the report.
  Status finish() {
    const auto capture = fabric_->part<testbeds::Captures>().close_all();
    const std::vector<testbeds::OutsideOutcome> outcomes = ends_of_commands();
    const control::FabricSnapshot snapshot = fabric_->snapshot();
    if (!is_first()) {
      error_printer_.reset();
      return drained() && fabric_->errors().empty() ? Status::kDone : Status::kUnexpected;
    }
    const bool whole = arguments_.idle_rows || reads_idle_rows(testbed_.expectations);
    const bool interrupted = fabric_->was_interrupted();
    control::Json report = run_report(snapshot, testbed_, outcomes, fabric_->notes(), rows(whole), interrupted);
    add_polarization(report);
    const auto verdicts = control::judge(testbed_.expectations, report);
    if (whole && !arguments_.idle_rows) control::leave_out_idle(report, snapshot);
    add_verdicts(report, verdicts);
    const bool report_written = write_file(arguments_.report, [&] { return report.dump(2) + "\n"; });
    const bool junit_written = write_file(arguments_.junit, [&] {
      return junit(run_cases(testbed_, report, verdicts, outcomes), report, summary_text(report));
    });
    const bool flows_written = write_file(arguments_.flows, [&] { return control::flows_csv(snapshot); });
    const bool fct_written =
        write_file(arguments_.fct_file, [&] { return control::fct_text(snapshot, testbed_.fabric); });
    const bool queues_written =
        write_file(arguments_.qlen_file, [&] { return fabric_->part<testbeds::QueueLengths>().text(); });
    const bool pictures_written = arguments_.pictures.write(snapshot, testbed_.name, fabric_->stop_requested());
    auto& recording = fabric_->part<testbeds::RunRecording>();
    const bool recorded =
        recording.add_results(snapshot, report, recorded_pictures(snapshot, testbed_.name)) && write_page();
    error_printer_.reset();
    const bool adds_up = all_add_up(report["totals"]["imbalances"].get<std::vector<std::string>>()) &&
                         all_add_up(fabric_->part<testbeds::CounterSeries>().check(snapshot)) &&
                         all_add_up(recording.check(snapshot)) &&
                         all_add_up(fabric_->part<testbeds::TraceFile>().check(snapshot));
    const bool succeeded = adds_up && all_went_on(report) && all_commands_succeeded(outcomes) &&
                           std::ranges::all_of(verdicts, &control::Verdict::held);
    if (arguments_.json) {
      fmt::print("{}\n", report.dump(2));
    } else {
      fmt::print("{}{}{}", summary_text(report), polarized(), verdicts_text(verdicts));
      print_files(capture);
    }
    if (!drained()) return Status::kUnexpected;
    const bool flawless = capture && fabric_->errors().empty();
    return flawless && report_written && junit_written && flows_written && fct_written && queues_written &&
                   pictures_written && recorded && succeeded
               ? Status::kDone
               : Status::kUnexpected;
  }

  std::string junit(const std::vector<control::JunitCase>& cases, const control::Json& report,
                    const std::string& output) const {
    return control::junit_text(testbed_.name, cases, report["engine"]["wall_seconds"].get<double>(), output);
  }

  bool drained() {
    const uint64_t leaked = fabric_->drain();
    if (leaked != 0) complain("softspine: {} packets were not given back: a defect, please report it\n", leaked);
    return leaked == 0;
  }

  static control::IdleRows rows(bool with_idle) {
    return with_idle ? control::IdleRows::kShown : control::IdleRows::kLeftOut;
  }

  // Where something is expected of it: other reports have no such section.
  void add_polarization(control::Json& report) const {
    if (!testbeds::expects_polarization(testbed_)) return;
    report[testbeds::kPolarizationSection] = testbeds::polarization_section(testbed_);
  }

  // For built-in hosts' traffic; that of outside hosts is not known.
  std::string polarized() const {
    if (testbed_.workloads.empty()) return {};
    const std::string text = polarized_text(polarized_tiers(testbed_), testbed_.file);
    return text.empty() ? text : "\n" + text;
  }

  // True if no flow has stalled for want of a way, but those that the testbed names.
  bool all_went_on(const control::Json& report) const {
    const uint64_t stalled = control::unexpected_stalls(testbed_.expectations, report);
    if (stalled == 0) return true;
    complain(
        "softspine: {} flows stalled (`stalled` in the report); a testbed in which they are meant to expects a number "
        "of totals.stalled_flows, or of their workload's\n",
        stalled);
    return false;
  }

  // An empty path: not asked for.
  template <typename Text>
  bool write_file(const std::string& path, Text&& text) const {
    if (path.empty() || !is_first()) return true;
    const auto written = write_whole(path, text(), &fabric_->stop_requested());
    if (written) return true;
    complain("softspine: {}: cannot be written: {}\n", path, written.error());
    return false;
  }

  bool write_page() const {
    if (arguments_.html.empty()) return true;
    const auto page = analysis::page::report_page(recording_);
    if (!page) complain("softspine: {}\n", page.error());
    return page && write_file(arguments_.html, [&] { return *page; });
  }

  void print_files(const std::expected<control::CaptureTotals, std::string>& capture) const {
    std::string out = files_text(arguments_, {.counters = series_.path, .events = events_}, capture);
    if (keeps_folder()) out += fmt::format("  {}  files of outside hosts\n", folder_.string());
    if (!out.empty()) fmt::print("\nFiles\n{}", out);
  }

  const RunArguments& arguments_;
  const control::Testbed& testbed_;
  testbeds::RankProcess* ranks_;
  std::optional<control::RankMeetingTime> meeting_;
  std::filesystem::path folder_;
  std::unique_ptr<testbeds::RunningFabric> fabric_;
  std::unique_ptr<FabricServer> server_;
  testbeds::SeriesRequest series_;
  std::string events_;
  std::string recording_;   // its path; empty: none
  std::string incomplete_;  // why the run could not go on
  Screen screen_;
  std::optional<ErrorPrinter> error_printer_;  // while it runs, and until its captures are closed
};

Status run_alone(const RunArguments& arguments) {
  const auto testbed = read_testbed(arguments.file, arguments.overrides);
  if (!testbed) return testbed.error();
  if (const auto review = reviewed(*testbed); !review) return review.error();
  return run_testbed(arguments, *testbed);
}

// Other ranks than the first read, run and count, and say nothing.
Status run_over(testbeds::RankProcess& ranks, RunArguments arguments) {
  if (const auto same = agree(ranks, arguments); !same) return same.error();
  arguments.quiet = arguments.quiet || !ranks.is_first();
  QuietOutput output{!ranks.is_first()};
  std::expected<control::Testbed, Status> testbed = read_testbed(arguments.file, arguments.overrides);
  const auto same = agree_on_files(ranks, testbed ? &*testbed : nullptr);
  if (!same) return same.error();
  const auto network = measured_network(ranks, testbed ? &*testbed : nullptr);
  const auto meeting = network ? std::optional(network->meeting) : std::nullopt;
  std::optional<Run> run;
  const auto prepare = [&]() -> std::expected<void, Status> {
    if (!testbed) return std::unexpected(testbed.error());
    if (const auto review = reviewed(*testbed); !review) return std::unexpected(review.error());
    if (const auto able = able_over_ranks(ranks, arguments, *testbed, network); !able) return able;
    return run.emplace(arguments, *testbed, &ranks, meeting).prepare();
  };
  auto ready = all_are_ready(ranks, prepare(), output);
  if (ready) ready = all_are_ready(ranks, run->open_outputs(), output);
  return ready ? joint_status(ranks, (*run)()) : ready.error();
}

Status run(const RunArguments& arguments) {
  dataplane::use_huge_pages_for_heap();
  const auto ranks = start_ranks();
  if (!ranks) return ranks.error();
  return *ranks ? run_over(**ranks, arguments) : run_alone(arguments);
}

}  // namespace

Status run_testbed(const RunArguments& arguments, const control::Testbed& testbed) {
  Run run{arguments, testbed, nullptr};
  const auto ready = run.prepare();
  return ready ? run() : ready.error();
}

void add_run_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "build a testbed, run it, and say what it did");
  command->footer(
      "Examples:\n"
      "  softspine run testbeds/two-tier.yaml\n"
      "  softspine run two-tier.yaml --capture fabric.pcapng --report report.json\n"
      "  softspine run two-tier.yaml --capture tor1.pcapng --capture-port 'tor1:*' --snaplen 128\n"
      "  softspine run pfc-storm.yaml --capture pauses.pcapng --capture-filter 'ether proto 0x8808'\n"
      "  softspine run pfc-storm.yaml --counters-file storm.jsonl --sample-interval 10us --counters 'pfc_*,drops'\n"
      "  softspine run pfc-storm.yaml --events events.jsonl\n"
      "  softspine run pfc-storm.yaml --record storm.sqlite --html storm.html\n"
      "  softspine run pfc-storm.yaml --trace storm.perfetto-trace\n"
      "  softspine run link-flap.yaml --timeline faults.png\n"
      "  softspine run two-tier.yaml --clock wall --http 127.0.0.1:8080\n"
      "  mpirun -n 4 softspine run two-tier.yaml --report report.json\n"
      "  softspine run two-tier.yaml --workers 2 --seed 3 --json | jq .flows\n"
      "Ctrl-C (or SIGTERM, SIGHUP) ends it: files are closed and what was counted is printed.");
  add_run_arguments(*command, *arguments);
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace softspine::tools
