// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "control/expect/report_path.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/picture_file.hpp"
#include "tools/command/screen.hpp"
#include "tools/command/whole_file.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/interrupt.hpp"
#include "tools/softspine/sweep/sweep_database.hpp"
#include "tools/softspine/sweep/sweep_picture.hpp"
#include "tools/softspine/sweep/sweep_runs.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

namespace {

constexpr uint32_t kMostAtOnce = 1'024;
constexpr std::string_view kOurProgram = "/proc/self/exe";

struct SweepArguments {
  std::string file;
  std::vector<std::string> axes;
  std::vector<std::string> wanted;
  std::string over;
  uint32_t jobs = 0;  // 0: as many as there are cores for
  std::string cache;
  bool no_cache = false;
  std::string csv;
  std::string sqlite;
  std::string plot;
  std::string plot_kind;
  std::string plot_column;
  bool list = false;
  bool json = false;
  bool quiet = false;
};

std::expected<control::Testbed, control::Errors> loaded(const std::string& file,
                                                        std::vector<control::Setting> settings) {
  auto testbed = checked_testbed(file, {.settings = std::move(settings)});
  if (!testbed) return std::unexpected(std::move(testbed.error().errors));
  return std::move(*testbed);
}

// A folder for the runs' files that goes when we do.
class SweepFolder {
 public:
  SweepFolder() {
    std::error_code failed;
    std::string made = (std::filesystem::temp_directory_path(failed) / "softspine-sweep-XXXXXX").string();
    if (!failed && mkdtemp(made.data()) != nullptr) path_ = made;
  }
  ~SweepFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }  // empty: there is none

 private:
  std::filesystem::path path_;
};

class Sweep {
 public:
  explicit Sweep(const SweepArguments& arguments) : arguments_(arguments) {}

  Status operator()() {
    if (const auto ready = prepare(); !ready) return ready.error();
    if (arguments_.list) return list_jobs();
    const SweepFolder folder;
    if (folder.path().empty())
      return wrong_input("cannot make a folder for the runs' files: $TMPDIR names another place");
    const CatchInterrupts interrupts;
    run(interrupts, folder.path());
    return finish(folder.path());
  }

 private:
  using Ready = std::expected<void, Status>;
  static std::unexpected<Status> wrong(const std::string& why) { return std::unexpected(wrong_input(why)); }

  Ready prepare() {
    std::vector<Axis> axes;
    for (const std::string& text : arguments_.axes) {
      auto axis = axis_of(text);
      if (!axis) return wrong("--set " + axis.error());
      axes.push_back(std::move(*axis));
    }
    auto combinations = Combinations::of(std::move(axes));
    if (!combinations) return wrong("--set: " + combinations.error());
    result_.emplace(arguments_.file, std::move(*combinations), std::vector<SweepRow>{});
    for (const std::string& text : arguments_.wanted) {
      auto wanted = wanted_value(text);
      if (!wanted) return wrong("--collect " + wanted.error());
      wanted_.push_back(std::move(*wanted));
    }
    if (const Ready found = find_over(); !found) return found;
    for (const std::string& path : {arguments_.csv, arguments_.sqlite, arguments_.plot}) {
      const std::string why = path.empty() ? "" : obstacle_to_writing(path);
      if (!why.empty()) return wrong(fmt::format("cannot write {}: {}", path, why));
    }
    if (const Ready checked = check_testbed(); !checked) return checked;
    return open_cache();
  }

  Ready find_over() {
    if (arguments_.over.empty()) return {};
    const std::vector<Axis>& axes = result_->combinations.axes();
    const auto found = std::ranges::find(axes, arguments_.over, &Axis::path);
    if (found == axes.end()) return wrong(fmt::format("--over {}: no --set varies it", arguments_.over));
    over_ = static_cast<size_t>(found - axes.begin());
    return {};
  }

  // One combination at least must be good, and its report must have what is collected.
  Ready check_testbed() {
    control::Errors first;
    for (uint64_t number = 0; number < result_->combinations.count(); ++number) {
      const auto testbed = loaded(arguments_.file, result_->combinations.settings(number));
      if (!testbed) {
        if (number == 0) first = testbed.error();
        continue;
      }
      workers_ = testbed->run.workers;
      is_virtual_ = testbed->run.clock == control::ClockKind::kVirtual;
      const control::Json outline = report_outline(*testbed);
      for (const WantedValue& wanted : wanted_) {
        const control::Found found = control::find_in_outline(outline, wanted.path);
        if (found.matches.empty()) return wrong(fmt::format("--collect {}: {}", wanted.path, found.missing));
      }
      return {};
    }
    return std::unexpected(print_errors(first, arguments_.file));
  }

  Ready open_cache() {
    if (!is_virtual_) {
      complain("softspine: the wall clock's runs are not reproducible: one at a time, and none is kept\n");
      return {};
    }
    if (arguments_.no_cache) return {};
    const std::filesystem::path folder =
        arguments_.cache.empty() ? RunCache::usual_folder() : std::filesystem::path(arguments_.cache);
    if (folder.empty()) return wrong("neither $XDG_CACHE_HOME nor $HOME names a folder: --cache DIR or --no-cache");
    auto cache = RunCache::open(folder, kOurProgram, arguments_.file);
    if (!cache) return wrong("the cache: " + cache.error());
    cache_.emplace(std::move(*cache));
    return {};
  }

  // A line for each combination, which fills the cache: for GNU parallel, or a line each for a job of an array.
  Status list_jobs() const {
    for (uint64_t number = 0; number < result_->combinations.count(); ++number) {
      std::string line = fmt::format("softspine sweep {} --quiet", quoted(arguments_.file));
      if (!arguments_.cache.empty()) line += " --cache " + quoted(arguments_.cache);
      for (const control::Setting& each : result_->combinations.settings(number))
        line += " --set " + quoted(text_of(each));
      for (const std::string& each : arguments_.wanted) line += " --collect " + quoted(each);
      fmt::print("{}\n", line);
    }
    return Status::kDone;
  }
  // For a shell.
  static std::string quoted(const std::string& word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,%+@";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }

  void run(const CatchInterrupts& interrupts, const std::filesystem::path& folder) {
    const SweepPlan plan{.file = arguments_.file,
                         .program = std::filesystem::read_symlink(kOurProgram),
                         .folder = folder,
                         .at_once = at_once(),
                         .combinations = &result_->combinations,
                         .wanted = &wanted_,
                         .cache = cache_ ? &*cache_ : nullptr};
    SweepProgress progress;
    began_ = std::chrono::steady_clock::now();
    result_->rows = sweep_runs(
        plan,
        [&](const std::vector<control::Setting>& settings) -> std::expected<control::Testbed, std::string> {
          auto testbed = loaded(arguments_.file, settings);
          if (!testbed) return std::unexpected(to_string(testbed.error().front()));
          return std::move(*testbed);
        },
        progress,
        [&] {
          if (!arguments_.quiet) show(progress);
          return interrupts.has_come();
        });
    if (!arguments_.quiet) screen_.redraw("");
  }

  uint32_t at_once() const {
    if (arguments_.jobs > 0) return arguments_.jobs;
    if (!is_virtual_) return 1;
    return std::max(1U, std::thread::hardware_concurrency() / std::max(1U, workers_));
  }

  // A terminal has one line in its place, a file a line for each tenth.
  void show(const SweepProgress& progress) {
    const uint64_t all = result_->combinations.count();
    const uint64_t done = progress.done;
    const uint64_t fresh = done - progress.cached;
    std::string line = fmt::format("sweep: {} of {} runs, {} from the cache", done, all, progress.cached.load());
    if (progress.failed > 0) line += fmt::format(", {} not as expected", progress.failed.load());
    if (fresh > 0 && done < all) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
      line += fmt::format(", about {:.0f} s left",
                          took.count() / static_cast<double>(fresh) * static_cast<double>(all - done));
    }
    if (isatty(STDERR_FILENO) != 0) {
      screen_.redraw(line + "\n");
    } else if (done * 10 / all != told_tenths_) {
      screen_.print_line(line);
      told_tenths_ = done * 10 / all;
    }
  }

  Status finish(const std::filesystem::path& folder) {
    if (arguments_.json) {
      fmt::print("{}\n", sweep_json(*result_, over_).dump(2));
    } else if (!arguments_.quiet) {
      fmt::print("{}", sweep_text(*result_, over_));
    }
    const bool table_written = write_table();
    const bool database_written = write_database(folder / "table.sqlite");
    const bool written = write_plot() && table_written && database_written;
    const auto count = [&](RowState state) { return std::ranges::count(result_->rows, state, &SweepRow::state); };
    const auto all = static_cast<std::ptrdiff_t>(result_->rows.size());
    const std::ptrdiff_t done = count(RowState::kDone);
    if (done == all) return written ? Status::kDone : Status::kUnexpected;
    complain("softspine: of {} runs {} went as expected, {} otherwise, {} failed, {} were not made{}\n", all, done,
             count(RowState::kUnexpected), count(RowState::kFailed), count(RowState::kNotRun),
             count(RowState::kNotRun) > 0 && cache_ ? "; the same command goes on from there" : "");
    return Status::kUnexpected;
  }

  bool write_table() const {
    if (arguments_.csv.empty()) return true;
    const auto written = write_whole(arguments_.csv, sweep_csv(*result_, over_));
    if (!written) complain("softspine: cannot write {}: {}\n", arguments_.csv, written.error());
    return written.has_value();
  }

  // SQLite makes the file, at a place of ours; where it is asked for it comes whole.
  bool write_database(const std::filesystem::path& made) const {
    if (arguments_.sqlite.empty()) return true;
    auto written = make_sweep_database(made, *result_, over_);
    if (written) written = write_whole(arguments_.sqlite, bytes_of_file(made));
    if (!written) complain("softspine: cannot write {}: {}\n", arguments_.sqlite, written.error());
    return written.has_value();
  }

  bool write_plot() const {
    if (arguments_.plot.empty()) return true;
    SweepPictureWish wish{.kind = {}, .column = arguments_.plot_column, .over = over_};
    if (arguments_.plot_kind == "lines") wish.kind = SweepPictureKind::kLines;
    if (arguments_.plot_kind == "heat") wish.kind = SweepPictureKind::kHeat;
    if (arguments_.plot_kind == "boxes") wish.kind = SweepPictureKind::kBoxes;
    const auto drawn = sweep_picture(*result_, wish);
    if (!drawn) {
      complain("softspine: no picture: {}\n", drawn.error());
      return false;
    }
    const auto written = write_picture(arguments_.plot, *drawn);
    if (!written) complain("softspine: {}\n", written.error());
    return written.has_value();
  }

  const SweepArguments& arguments_;
  std::optional<SweepResult> result_;
  std::vector<WantedValue> wanted_;
  std::optional<size_t> over_;
  std::optional<RunCache> cache_;
  uint32_t workers_ = 1;
  bool is_virtual_ = true;
  Screen screen_;
  std::chrono::steady_clock::time_point began_;
  uint64_t told_tenths_ = 0;
};

void add_picture_options(CLI::App& command, SweepArguments& out) {
  CLI::Option* plot =
      command.add_option("--plot", out.plot, ".svg or .png: a column as a picture")->check([](const std::string& path) {
        return wrong_picture_name(path);
      });
  command
      .add_option("--plot-kind", out.plot_kind,
                  "lines over the first path's numbers, a heat map of two paths, or boxes; by itself as they suggest")
      ->check(CLI::IsMember({"lines", "heat", "boxes"}))
      ->needs(plot);
  command.add_option("--plot-column", out.plot_column, "which column; the first if not given")->needs(plot);
}

}  // namespace

void add_sweep_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<SweepArguments>();
  CLI::App* command = app.add_subcommand("sweep", "run a testbed with each combination of settings");
  command->footer(
      "Each combination is a run of its own process, as many at a time as there are cores. A run on the virtual clock\n"
      "depends on the testbed, its settings, the files that it names and this program alone: what was run before\n"
      "comes from the cache, and an interrupted sweep goes on where it was. A combination that fails is a row with\n"
      "its error.\n"
      "Exit status: 0 all runs went as expected; 1 one did not, or a file could not be written; 2 the input was "
      "wrong.\n"
      "Examples:\n"
      "  softspine sweep two-tier.yaml --set run.seed=0..99 --collect flows.*.fct_p99\n"
      "  softspine sweep two-tier.yaml --set workload.0.qps=1,2,4,8 --set run.seed=1..20 --over run.seed \\\n"
      "    --collect 'worst=max(flows.*.fct_p99)' --csv qps.csv --plot qps.svg\n"
      "  softspine sweep incast.yaml --set 'workload.*.message=1MiB,2MiB' --collect switches.*.pfc_tx_packets --json | "
      "jq .rows\n"
      "  softspine sweep two-tier.yaml --set run.seed=0..999 --collect totals.dropped_packets --list | parallel\n"
      "  sed -n ${SLURM_ARRAY_TASK_ID}p jobs | sh     # in a Slurm array, with a --cache that all machines see");
  command->add_option("FILE", arguments->file, "a testbed file")->required();
  command->add_option("--set", arguments->axes, "PATH=VALUES: 1,2,4 or 0..99 or 0..1000/100; all combinations are run")
      ->expected(1)
      ->take_all()
      ->required();
  command
      ->add_option("--collect", arguments->wanted,
                   "[NAME=]PATH in the report, as in `expect`; sum, mean, min, max, p50, p99 or count (PATH)")
      ->expected(1)
      ->take_all()
      ->required();
  command->add_option("--over", arguments->over, "a path of --set, e.g. run.seed: mean and 95 % confidence over it");
  command->add_option("--jobs", arguments->jobs, "runs at a time; cores over the testbed's workers if not given")
      ->check(CLI::Range(1U, kMostAtOnce));
  CLI::Option* cache =
      command->add_option("--cache", arguments->cache, "a folder for results; ~/.cache/softspine/sweep if not given");
  CLI::Option* no_cache =
      command->add_flag("--no-cache", arguments->no_cache, "run all, keep nothing")->excludes(cache);
  command->add_option("--csv", arguments->csv, "write the table to this file");
  command->add_option("--sqlite", arguments->sqlite, "the table as a database, with each column's unit");
  add_picture_options(*command, *arguments);
  command
      ->add_flag("--list", arguments->list, "run nothing: print a command for each combination, which fills the cache")
      ->excludes(no_cache);
  command->add_flag("--json", arguments->json, "for programs");
  command->add_flag("--quiet", arguments->quiet, "neither progress nor the table");
  command->callback([arguments, &status] { status = Sweep{*arguments}(); });
}

}  // namespace softspine::tools
