// SPDX-License-Identifier: Apache-2.0
// The base of hosts that run a command in a folder of the run folder: its time, its end, its outcome.
// Each kind starts it in its own way.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "testbeds/guests/hosted_command.hpp"
#include "testbeds/outside/outside_host.hpp"

namespace softspine::testbeds {

class CommandHost : public OutsideHost {
 public:
  // `timeout`: of the command, from its begin.
  CommandHost(const OutsideSpec& spec, dataplane::Duration timeout);

  std::expected<void, std::vector<Error>> start(const OutsideGround& ground) override;
  void poll(Clock::time_point now) override;
  bool is_up() const override { return is_up_ || over_; }
  bool is_awaited() const override { return has_command(spec()) && !over_; }
  std::optional<UnaskedEnd> take_unasked_end() override;
  void ask_to_stop() override;
  void end_by(Clock::time_point deadline) override;
  std::optional<OutsideOutcome> outcome() const override;

 protected:
  // As the fabric has planned it. A host without a command of its own stays until it is stopped.
  static HostSetup setup_of(const OutsideSpec& spec);

 private:
  virtual std::expected<HostedCommand, std::vector<Error>> launch(const OutsideGround& ground) = 0;
  // The machine that the command runs on.
  virtual std::string machine() const = 0;

  bool is_out_of_time(Clock::time_point now) const;
  bool left_a_result() const;
  void ask();
  void end();

  std::chrono::milliseconds timeout_;
  std::optional<HostedCommand> running_;    // from start() on
  Clock::time_point began_;                 // to boot
  std::optional<Clock::time_point> is_up_;  // since then its command runs
  Clock::time_point ended_;
  Clock::time_point kill_at_ = Clock::time_point::max();
  bool over_ = false;
  bool timed_out_ = false;
  bool stopped_ = false;
  bool asked_ = false;          // to end, by whomever
  bool ended_unasked_ = false;  // and it has not been reported
};

}  // namespace softspine::testbeds
