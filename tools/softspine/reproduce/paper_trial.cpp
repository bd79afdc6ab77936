// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/paper_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/whole_file.hpp"

namespace softspine::tools {

namespace {

class Runner {
 public:
  Runner(const Experiment& experiment, const TrialOptions& options, const RunTestbed& run, const TellRuns& tell)
      : experiment_(experiment), options_(options), run_(run), tell_(tell) {}

  std::expected<Trial, std::string> operator()() {
    const auto begin = std::chrono::steady_clock::now();
    Samples samples{experiment_.published};
    seeds_ = options_.seeds.value_or(experiment_.seeds);
    for (uint32_t seed = 1; seed <= seeds_ && !out_.was_interrupted; ++seed) {
      Grid found = experiment_.published.emptied();
      if (const auto ran = run_seed(seed, found); !ran) return std::unexpected(ran.error());
      if (out_.was_interrupted) break;
      samples.add(std::move(found));
      ++out_.seeds;
    }
    out_.found = samples.figures();
    judge();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    out_.seconds = took.count();
    return std::move(out_);
  }

 private:
  std::expected<void, std::string> run_seed(uint32_t seed, Grid& found) {
    const std::vector<Plan> plans = experiment_.plans(options_.size, seed);
    for (size_t i = 0; i < plans.size(); ++i) {
      if (const auto kept = keep(plans[i], seed); !kept) return kept;
      tell_(out_.runs, seeds_ * static_cast<uint32_t>(plans.size()));
      auto testbed = control::parse_testbed(plans[i].text, plans[i].name, {.seed = seed, .workers = options_.workers});
      if (!testbed) return std::unexpected(to_string(testbed.error().front()));
      const auto report = run_(*testbed);
      if (!report) return std::unexpected(fmt::format("{}, seed {}: {}", plans[i].name, seed, report.error()));
      if (!*report) {
        out_.was_interrupted = true;
        return {};
      }
      experiment_.read(**report, i, found);
      ++out_.runs;
    }
    return {};
  }

  // The seed stands in the file, too: `softspine run` gives the same run.
  std::expected<void, std::string> keep(const Plan& plan, uint32_t seed) const {
    if (options_.keep.empty() || seed != 1) return {};
    const auto path = std::filesystem::path(options_.keep) / fmt::format("{}-{}.yaml", experiment_.name, plan.name);
    const auto written = write_whole(path, plan.text);
    if (!written) return std::unexpected(fmt::format("cannot write {}: {}", path.string(), written.error()));
    return {};
  }

  void judge() {
    out_.experiment = &experiment_;
    out_.size = options_.size;
    const double best = out_.found.mean.largest();
    if (experiment_.is_of_best && best > 0) {
      for (Grid* each : {&out_.found.mean, &out_.found.deviation, &out_.found.least, &out_.found.most})
        each->scale(100 / best);
    }
    for (const Claim& claim : experiment_.claims) {
      out_.claims.push_back({&claim, claim.holds(out_.found, experiment_.published)});
    }
  }

  const Experiment& experiment_;
  const TrialOptions& options_;
  const RunTestbed& run_;
  const TellRuns& tell_;
  Trial out_;
  uint32_t seeds_ = 0;
};

}  // namespace

bool Trial::holds() const {
  return !was_interrupted && std::ranges::all_of(claims, &Judged::held);
}

std::expected<Trial, std::string> try_out(const Experiment& experiment, const TrialOptions& options,
                                          const RunTestbed& run, const TellRuns& tell) {
  return Runner{experiment, options, run, tell}();
}

}  // namespace softspine::tools
