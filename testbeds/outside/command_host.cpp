// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/command_host.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGraceAfterTimeout{5000};
// Until a command begins: QEMU without KVM takes a minute on a machine that has nothing else to do.
constexpr milliseconds kMaxBoot{300'000};
constexpr size_t kConsoleLines = 6;  // that show how a host ended
constexpr const char* kStay = "exec tail -f /dev/null";

milliseconds wall(dataplane::Duration duration) {
  return milliseconds{duration.count_ps() / 1'000'000'000};
}

}  // namespace

HostSetup CommandHost::setup_of(const OutsideSpec& spec) {
  HostSetup setup{.name = spec.name, .run = has_command(spec) ? *command_in(spec.attachment) : kStay};
  setup.nics.assign(spec.ports, {.mac = spec.mac, .mtu = spec.mtu});
  setup.nics.front().addresses = spec.addresses;
  setup.nics.front().gateways = spec.gateways;
  setup.routes = spec.routes;
  setup.bond_mode = spec.bond_mode;
  setup.vlan = spec.vlan;
  setup.board = spec.board;
  setup.stays = spec.stays;
  return setup;
}

CommandHost::CommandHost(const OutsideSpec& spec, dataplane::Duration timeout)
    : OutsideHost(spec), timeout_(wall(timeout)) {}

std::expected<void, std::vector<Error>> CommandHost::start(const OutsideGround& ground) {
  auto launched = launch(ground);
  began_ = Clock::now();
  if (launched) {
    running_.emplace(std::move(*launched));
    return {};
  }
  for (Error& error : launched.error()) error.path = spec().name + ": " + error.path;
  return std::unexpected(std::move(launched.error()));
}

void CommandHost::poll(Clock::time_point now) {
  if (!running_ || over_) return;
  if (!is_up_ && running_->ready()) is_up_ = now;
  if (!running_->running()) {
    ended_unasked_ = !asked_ && !left_a_result();
    return end();
  }
  if (now >= kill_at_) {
    running_->kill();
    return end();
  }
  if (!timed_out_ && is_out_of_time(now)) {
    timed_out_ = true;
    kill_at_ = now + kGraceAfterTimeout;
    ask();
  }
}

// A command's time begins with the command, however long its host has booted.
bool CommandHost::is_out_of_time(Clock::time_point now) const {
  if (!has_command(spec()) || (spec().stays && is_up_)) return false;
  return is_up_ ? now - *is_up_ > timeout_ : now - began_ > std::max(kMaxBoot, timeout_);
}

// For a host that ends with its command: one that stays until it is stopped should not have ended at all.
bool CommandHost::left_a_result() const {
  return has_command(spec()) && !spec().stays && running_->result().has_value();
}

void CommandHost::ask() {
  asked_ = true;
  if (!testbeds::ask_to_stop(running_->places().folder)) kill_at_ = Clock::now();
}

void CommandHost::end() {
  over_ = true;
  ended_ = Clock::now();
}

void CommandHost::ask_to_stop() {
  poll(Clock::now());
  if (!running_ || over_) return;
  stopped_ = true;
  ask();
}

void CommandHost::end_by(Clock::time_point deadline) {
  if (!running_ || over_) return;
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  if (!running_->await_end(std::max(left, milliseconds{0}))) running_->kill();
  end();
}

std::optional<UnaskedEnd> CommandHost::take_unasked_end() {
  if (!std::exchange(ended_unasked_, false)) return std::nullopt;
  const auto console = running_->places().folder / "console";
  std::string message = "has ended unasked, with status " + std::to_string(running_->exit_status().value_or(-1)) +
                        "; its console " + console.string() + " ends with";
  const auto lines = last_lines_of(console, kConsoleLines);
  for (const std::string& line : lines) message += " | " + line;
  if (lines.empty()) message += " nothing";
  return UnaskedEnd{spec().name, std::move(message)};
}

std::optional<OutsideOutcome> CommandHost::outcome() const {
  if (!has_command(spec())) return std::nullopt;
  OutsideOutcome outcome{.host = spec().name, .timed_out = timed_out_, .stopped = stopped_, .machine = machine()};
  if (running_) {
    const auto& folder = running_->places().folder;
    outcome.stdout_path = folder / "stdout";
    outcome.stderr_path = folder / "stderr";
    outcome.console_path = folder / "console";
  }
  if (!running_ || !over_) {
    outcome.problem = running_ ? "has not ended yet" : "was never started";
  } else if (auto result = running_->result()) {
    outcome.exit_status = result->exit_status;
    outcome.counters = std::move(result->counters);
  } else {
    outcome.problem = result.error().path + ": " + result.error().message;
  }
  outcome.came_up = is_up_.has_value();
  const Clock::time_point since = is_up_.value_or(began_);
  if (over_) outcome.seconds = std::chrono::duration<double>(ended_ - since).count();
  return outcome;
}

}  // namespace softspine::testbeds
