// SPDX-License-Identifier: Apache-2.0
// The outside hosts of a run: they are started when it begins, watched by a thread of its own, since stopping them
// takes time in which the fabric has to go on, and end with it. That thread also ends the run: when their commands have
// ended, the duration is over, packet memory is spent, or somebody asks for the end. Without such hosts the engine ends
// it.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// Those of the testbed, in the fabric's order; null if it has none. Nothing of them runs yet. The error is sentences
// for a person.
std::expected<std::unique_ptr<OutsideHosts>, std::string> make_outside(const control::Testbed& testbed,
                                                                       const std::filesystem::path& run_folder);

class OutsideWatch : public RunPart {
 public:
  // All must outlive it. `hosts`: null if there are none.
  OutsideWatch(const control::Testbed& testbed, OutsideHosts* hosts, const Assembly& assembly,
               control::ErrorChannel& errors);

  // True if the run ends with outside hosts' commands, false if with its duration.
  bool waits_for_commands() const { return waits_for_commands_; }
  // Whether the run comes to an end by itself, and where the engine is to end it; never() if this part does.
  bool has_end() const { return waits_for_commands_ || !assembly_.engine->is_wall() || testbed_.run.is_limited(); }
  dataplane::Instant engine_end() const {
    return is_watched_ ? dataplane::Instant::never() : dataplane::Instant::at(testbed_.run.duration);
  }
  // What a program's environment needs to run on that host; empty: programs of this machine do not. Any thread.
  std::map<std::string, std::string> environment_of(const std::string& host) const {
    return hosts_ != nullptr ? hosts_->environment_of(host) : std::map<std::string, std::string>{};
  }
  // Called after the run.
  std::vector<OutsideOutcome> outcomes() const;

  std::expected<void, std::string> begin() override;
  void end_soon() noexcept override;
  void finish(dataplane::Instant now) override;
  std::vector<std::string> notes() const override;

 private:
  void watch();
  void report_unasked_ends();

  const control::Testbed& testbed_;
  OutsideHosts* hosts_;
  const Assembly& assembly_;
  control::ErrorChannel& errors_;
  bool waits_for_commands_ = false;
  bool is_watched_ = false;
  std::atomic<bool> is_to_end_{false};
  std::jthread watcher_;
};

}  // namespace softspine::testbeds
