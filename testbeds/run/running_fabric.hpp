// SPDX-License-Identifier: Apache-2.0
// A testbed that runs: its nodes, and the parts that a run is made of (run_part.hpp).
//
//   auto fabric = RunningFabric::make(testbed, options);     everything is built, nothing runs
//   fabric->part<Captures>().open_for_run(request);          what a part offers stands in its header
//   fabric->run();                                           until its end, stop(), or its duration, if it has one
//   fabric->snapshot() …                                     what came of it; over ranks, rank 0 has it, and all ask
//
// When it ends. On the virtual clock: when no event is left, or at `duration`. On the wall clock: when every command of
// an outside host has ended; without commands, at `duration`, or never.
// Threads. run() works on the caller's (worker 0) and on one for each further worker; parts may have their own.
#pragma once

#include <atomic>

#include "testbeds/run/assembly.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

struct FabricOptions {
  std::filesystem::path run_folder;  // of outside hosts' files; empty if there are none
  std::optional<CaptureRequest> capture;
  bool flat = false;                    // one window for all nodes, to compare with
  bool stays = false;                   // hosts outside, when their commands have ended: until it is stopped
  bool steps = false;                   // what ranks did and waited for is recorded (step_log.hpp)
  bool traced_steps = false;            // likewise, for a trace or a recording
  dataplane::RankTalk* talk = nullptr;  // to the other ranks of the run, if it has any (ranks.hpp)
  std::optional<control::RankMeetingTime> meeting;  // of these, on the wall clock (rank_network.hpp)
};

class RunningFabric {
 public:
  // The testbed must outlive the RunningFabric. The error is a sentence for a person.
  static std::expected<std::unique_ptr<RunningFabric>, std::string> make(const control::Testbed& testbed,
                                                                         const FabricOptions& options);
  ~RunningFabric() { drain(); }

  template <typename Part>
  Part& part() const {
    return parts_.get<Part>();
  }

  // Once. The errors: outside hosts that could not be started; too little memory for packets. In the latter case
  // ran_out_of_memory() is true, and the counters are not those of the testbed's fabric.
  std::expected<void, std::string> run();
  bool ran_out_of_memory() const { return is_spent_; }
  // May be called from any thread, and from a signal handler.
  void stop() noexcept;
  const std::atomic<bool>& stop_requested() const { return stop_requested_; }
  // The run was stopped, and would have come to an end by itself.
  bool was_interrupted() const;
  // From any thread, also before and after the run: errors, and one after which the run cannot go on.
  control::ErrorChannel& errors() { return errors_; }
  void fail(const std::string& who, const std::string& what) {
    errors_.report(who, what);
    stop();
  }
  dataplane::Instant progress() const { return assembly_->engine->progress(); }
  // Differences from the testbed that do not stop the run.
  std::vector<std::string> notes() const { return parts_.notes(); }

  // While it does not run. drain() frees all packets, and returns how many are missing then: anything but 0 is a leak.
  control::FabricSnapshot snapshot() const { return snapshot_at(assembly_->engine->now()); }
  uint64_t drain();

  const Assembly& assembly() const { return *assembly_; }
  const control::Testbed& testbed() const { return testbed_; }

 private:
  explicit RunningFabric(const control::Testbed& testbed) : testbed_(testbed), compiler_(testbed) {}
  control::FabricSnapshot snapshot_at(dataplane::Instant now) const;
  void share_zero();

  const control::Testbed& testbed_;
  control::Compiler compiler_;
  control::ErrorChannel errors_{[this] { return assembly_ ? progress() : dataplane::Instant{}; }};
  std::unique_ptr<OutsideHosts> outside_;
  std::unique_ptr<Assembly> assembly_;
  Incidents incidents_;
  RunParts parts_;
  std::atomic<bool> stop_requested_{false};
  std::optional<control::RankMeetingTime> meeting_;
  double wall_seconds_ = 0;
  bool is_spent_ = false;     // after the run: the budget for packets, on any rank
  bool was_stopped_ = false;  // likewise: stop() was called on any rank
};

}  // namespace softspine::testbeds
