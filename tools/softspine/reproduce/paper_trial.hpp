// SPDX-License-Identifier: Apache-2.0
// Runs an experiment: each of its testbeds with each seed, and judges its claims.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "tools/softspine/reproduce/experiment.hpp"

namespace softspine::tools {

struct TrialOptions {
  TrialSize size = TrialSize::kSmall;
  std::optional<uint32_t> seeds;  // instead of the experiment's
  uint32_t workers = 1;
  std::string keep;  // a folder for the testbeds of the first seed; empty: none
};

// The run's report; nothing if it was interrupted. The error is a sentence for a person.
using RunTestbed = std::function<std::expected<std::optional<control::Json>, std::string>(const control::Testbed&)>;
// Before each run: so many are done, of so many.
using TellRuns = std::function<void(uint32_t done, uint32_t all)>;

struct Judged {
  const Claim* claim = nullptr;
  bool held = false;
};

struct Trial {
  const Experiment* experiment = nullptr;
  TrialSize size = TrialSize::kSmall;
  Figures found;
  std::vector<Judged> claims;
  uint32_t seeds = 0;  // whole ones
  uint32_t runs = 0;
  double seconds = 0;
  bool was_interrupted = false;

  bool holds() const;
};

// The experiment outlives the trial.
std::expected<Trial, std::string> try_out(const Experiment& experiment, const TrialOptions& options,
                                          const RunTestbed& run, const TellRuns& tell);

}  // namespace softspine::tools
