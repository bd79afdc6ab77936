// SPDX-License-Identifier: Apache-2.0
// The outside hosts of a run: they are started when it begins, watched by a thread of its own, since stopping them
// takes time in which the fabric has to go on, and end with it. That thread also ends the run: when their commands have
// ended, the duration is over, packet memory is spent, or somebody asks for the end. Without such hosts the engine ends
// it.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// Those of the testbed, in the fabric's order; null if it has none. Nothing of them runs yet. `stays`: OutsideSpec's.
// The error is sentences for a person.
std::expected<std::unique_ptr<OutsideHosts>, std::string> make_outside(const control::Testbed& testbed,
                                                                       const std::filesystem::path& run_folder,
                                                                       bool stays = false);

class OutsideWatch : public RunPart {
 public:
  // All must outlive it. `hosts`: null if there are none. `stays`: the ends of commands do not end the run.
  OutsideWatch(const control::Testbed& testbed, OutsideHosts* hosts, const Assembly& assembly,
               control::ErrorChannel& errors, bool stays);

  // True if the run ends with outside hosts' commands, false if with its duration.
  bool waits_for_commands() const { return waits_for_commands_; }
  // Whether the run comes to an end by itself, and where the engine is to end it; never() if this part does.
  bool has_end() const { return waits_for_commands_ || !assembly_.engine->is_wall() || testbed_.run.is_limited(); }
  dataplane::Instant engine_end() const {
    return is_watched_ ? dataplane::Instant::never() : dataplane::Instant::at(testbed_.run.duration);
  }
  // Called once, from a thread of the run, when each host is set up or has failed. Before the run.
  void when_up(std::function<void()> call) { when_up_ = std::move(call); }
  // The way onto that host for a program of this machine, or why there is none. Any thread.
  std::expected<Entrance, std::string> entrance_of(const std::string& host) const;
  // Of all hosts outside. Any thread.
  std::vector<std::string> names() const { return hosts_ != nullptr ? hosts_->names() : std::vector<std::string>{}; }
  // Called after the run.
  std::vector<OutsideOutcome> outcomes() const;

  std::expected<void, std::string> begin() override;
  void end_soon() noexcept override;
  void finish(dataplane::Instant now) override;
  std::vector<std::string> notes() const override;

 private:
  void watch();
  void report_unasked_ends();
  void say_up();

  const control::Testbed& testbed_;
  OutsideHosts* hosts_;
  const Assembly& assembly_;
  control::ErrorChannel& errors_;
  bool waits_for_commands_ = false;
  bool is_watched_ = false;
  std::atomic<bool> is_to_end_{false};
  std::function<void()> when_up_;
  std::jthread watcher_;
};

}  // namespace softspine::testbeds
