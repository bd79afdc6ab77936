// SPDX-License-Identifier: Apache-2.0
// The outside hosts of a run: they are started when it begins, watched by a thread of its own, since stopping them
// takes time in which the fabric has to go on, and end with it. That thread also ends the run: when their commands have
// ended, the duration is over, packet memory is spent, or somebody asks for the end. Without such hosts the engine ends
// it.
//
// Over ranks each starts and watches the hosts of its own nodes. Their threads tell each other by requests
// (rank_requests.hpp): the run ends when the commands of all have ended, or one of them wants an end, and the engine
// when each has stopped its hosts. Signals that hosts put onto their board reach the boards of all ranks.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "control/telemetry/error_channel.hpp"
#include "testbeds/outside/board_signals.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/rank_requests.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// Those of the testbed that are here, in the fabric's order; null if there are none. Nothing of them runs yet.
// `stays`: OutsideSpec's. The error is sentences for a person.
std::expected<std::unique_ptr<OutsideHosts>, std::string> make_outside(const control::Testbed& testbed,
                                                                       const Ranks& ranks,
                                                                       const std::filesystem::path& run_folder,
                                                                       bool stays = false);

class OutsideWatch : public RunPart {
 public:
  // All must outlive it. `hosts`: null if none is here. `stays`: the ends of commands do not end the run.
  OutsideWatch(const control::Testbed& testbed, OutsideHosts* hosts, const Assembly& assembly, RankRequests& requests,
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
  // The way onto that host for a program, or why there is none. Any thread; over ranks by all, from an
  // action, and rank 0's answer counts.
  std::expected<Entrance, std::string> entrance_of(const std::string& host) const;
  // Of all hosts outside. Any thread.
  const std::vector<std::string>& names() const { return names_; }
  // Called after the run, by all ranks: rank 0 has those of all hosts, in the fabric's order. Each with the last lines
  // of its command's stderr.
  std::vector<OutsideOutcome> outcomes(size_t last_words) const;
  // Called by all ranks, before the run: notes() are those of all ranks' hosts then.
  void share_notes();

  void start() override;
  std::expected<void, std::string> begin() override;
  void end_soon() noexcept override;
  void finish(dataplane::Instant now) override;
  std::vector<std::string> notes() const override;

 private:
  struct CarriedSignal {
    bool is_ours = false;
    BoardSignal signal;
  };
  void watch();
  bool is_over(bool commands_have_ended) noexcept;
  void tell(const char* kind, std::string text = {});
  void carry_signals();
  void report_unasked_ends();
  void say_up();
  const Ranks& ranks() const { return assembly_.nodes->ranks(); }

  const control::Testbed& testbed_;
  OutsideHosts* hosts_;
  const Assembly& assembly_;
  RankRequests& requests_;
  control::ErrorChannel& errors_;
  std::vector<std::string> names_;
  bool waits_for_commands_ = false;
  bool is_watched_ = false;
  std::atomic<bool> is_to_end_{false};  // somebody here wants it
  std::atomic<bool> all_end_{false};    // over ranks: all have agreed on it
  std::atomic<bool> has_ended_{false};  // the engine
  bool has_told_end_ = false;           // the watcher's
  bool has_told_commands_ = false;
  uint32_t ranks_over_ = 0;  // whose commands have ended, and that have stopped their hosts: of actions
  uint32_t ranks_stopped_ = 0;
  std::unique_ptr<BoardSignals> board_;
  std::mutex signals_lock_;
  std::vector<CarriedSignal> signals_;  // of all ranks, on their way to the board
  std::vector<std::string> shared_notes_;
  bool shares_notes_ = false;
  std::function<void()> when_up_;
  std::jthread watcher_;
};

}  // namespace softspine::testbeds
