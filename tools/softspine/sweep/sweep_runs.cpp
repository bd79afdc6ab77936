// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "testbeds/process/keeper_program.hpp"
#include "testbeds/process/kept_process.hpp"
#include "tools/command/whole_file.hpp"

namespace softspine::tools {

using control::Json;
using Settings = std::vector<control::Setting>;

namespace {

constexpr std::chrono::milliseconds kLookEvery{100};
constexpr size_t kMaxComplaint = 400;  // bytes

// The first line that a command of ours complains by.
std::string complaint_in(const std::string& output) {
  constexpr std::string_view kOurs = "softspine: ";
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    const std::string_view line = std::string_view(output).substr(at, end - at);
    if (line.starts_with(kOurs)) return std::string(line.substr(kOurs.size(), kMaxComplaint));
    at = end + 1;
  }
  return {};
}

// Of a report whose run did not go as expected.
std::string reason_in(const Json& report) {
  const auto verdicts = report.find("expectations");
  if (verdicts == report.end() || !verdicts->is_array()) return {};
  for (const Json& verdict : *verdicts) {
    if (!verdict.value("held", true)) return verdict.value("text", "");
  }
  return {};
}

class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, const LoadCombination& load, SweepProgress& progress)
      : plan_(plan), load_(load), progress_(progress), rows_(plan.combinations->count()) {}

  std::vector<SweepRow> operator()(const std::function<bool()>& look) {
    const auto threads = static_cast<uint32_t>(std::min<uint64_t>(plan_.at_once, rows_.size()));
    std::vector<std::jthread> all;
    running_ = threads;
    for (uint32_t i = 0; i < threads; ++i) all.emplace_back([this, i] { run_one_by_one(i); });
    std::unique_lock guard{lock_};
    while (!ended_.wait_for(guard, kLookEvery, [this] { return running_ == 0; })) {
      if (look()) stops_ = true;
    }
    guard.unlock();
    look();
    all.clear();
    return std::move(rows_);
  }

 private:
  void run_one_by_one(uint32_t slot) {
    for (uint64_t number = next_++; number < rows_.size() && !stops_; number = next_++) {
      rows_[number] = run(number, slot);
      if (rows_[number].state == RowState::kNotRun) break;
      if (rows_[number].state != RowState::kDone) ++progress_.failed;
      ++progress_.done;
    }
    const std::lock_guard guard{lock_};
    --running_;
    ended_.notify_one();
  }

  SweepRow run(uint64_t number, uint32_t slot) {
    const Settings settings = plan_.combinations->settings(number);
    if (plan_.cache != nullptr) {
      if (const auto found = plan_.cache->find(settings)) {
        ++progress_.cached;
        SweepRow row = row_of(*found);
        row.was_cached = true;
        return row;
      }
    }
    const auto testbed = load_(settings);
    if (!testbed) return {.state = RowState::kFailed, .why = testbed.error()};
    const auto finished = run_process(settings, slot);
    if (!finished) return {};
    // What a signal ended, it may end otherwise another time.
    const bool is_kept = plan_.cache != nullptr && testbed->run.clock == control::ClockKind::kVirtual &&
                         finished->exit_status <= 1 && !finished->report.is_null();
    SweepRow row = row_of(*finished);
    if (!is_kept) return row;
    const auto kept = plan_.cache->put(settings, testbed->inputs, *finished);
    if (!kept && row.why.empty()) row.why = fmt::format("not kept in the cache: {}", kept.error());
    return row;
  }

  // Nothing if the sweep was stopped meanwhile.
  std::optional<FinishedRun> run_process(const Settings& settings, uint32_t slot) const {
    const std::filesystem::path report = plan_.folder / fmt::format("{}.json", slot);
    const std::filesystem::path output = plan_.folder / fmt::format("{}.txt", slot);
    std::error_code ignored;
    std::filesystem::remove(report, ignored);
    std::filesystem::remove(output, ignored);
    std::vector<std::string> command{plan_.program.string(), "run",      plan_.file,     "--quiet",
                                     "--no-server",          "--report", report.string()};
    for (const control::Setting& each : settings) command.insert(command.end(), {"--set", text_of(each)});
    auto process = testbeds::KeptProcess::start(testbeds::keeper_program(), command, environment(), output);
    if (!process) return FinishedRun{.exit_status = 2, .report = {}, .complaint = process.error().message};
    while (!process->await_end(kLookEvery)) {
      if (stops_) return std::nullopt;
    }
    const int status = process->exit_status().value_or(2);
    std::string complaint = complaint_in(bytes_of_file(output));
    if (status > 128) complaint = fmt::format("ended by signal {}", status - 128);
    const std::string text = bytes_of_file(report);
    Json parsed = text.empty() ? Json() : Json::parse(text, nullptr, false);
    if (parsed.is_discarded()) parsed = Json();
    return FinishedRun{.exit_status = status, .report = std::move(parsed), .complaint = std::move(complaint)};
  }

  static std::vector<std::string> environment() {
    std::vector<std::string> out;
    for (char** each = environ; *each != nullptr; ++each) out.emplace_back(*each);
    return out;
  }

  SweepRow row_of(const FinishedRun& run) const {
    SweepRow out;
    const bool has_report = run.report.is_object();
    out.state = !has_report ? RowState::kFailed : run.exit_status == 0 ? RowState::kDone : RowState::kUnexpected;
    if (has_report) {
      for (const WantedValue& wanted : *plan_.wanted) {
        std::ranges::move(collected(run.report, wanted), std::back_inserter(out.values));
      }
    }
    if (out.state == RowState::kDone) return out;
    out.why = run.complaint;
    if (out.why.empty() && has_report) out.why = reason_in(run.report);
    if (out.why.empty()) out.why = fmt::format("exit status {}", run.exit_status);
    return out;
  }

  const SweepPlan& plan_;
  const LoadCombination& load_;
  SweepProgress& progress_;
  std::vector<SweepRow> rows_;  // each written by one thread
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> stops_{false};
  std::mutex lock_;
  std::condition_variable ended_;
  uint32_t running_ = 0;
};

}  // namespace

std::vector<SweepRow> sweep_runs(const SweepPlan& plan, const LoadCombination& load, SweepProgress& progress,
                                 const std::function<bool()>& look) {
  return SweepRunner{plan, load, progress}(look);
}

}  // namespace softspine::tools
