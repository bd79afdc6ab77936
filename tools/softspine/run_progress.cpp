// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>

#include "control/telemetry/live_table.hpp"
#include "testbeds/run/live_control.hpp"

namespace softspine::tools {

namespace {

constexpr std::chrono::milliseconds kTerminalInterval{500};
constexpr std::chrono::milliseconds kLineInterval{5'000};

control::TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

}  // namespace

Progress::Progress(testbeds::RunningFabric& fabric, Screen& screen)
    : fabric_(fabric),
      screen_(screen),
      terminal_(isatty(STDERR_FILENO) != 0),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

Progress::~Progress() {
  thread_.request_stop();
  thread_.join();
}

void Progress::watch(const std::stop_token& stop) {
  const auto interval = terminal_ ? kTerminalInterval : kLineInterval;
  for (;;) {
    std::unique_lock lock{answers_->lock};
    answers_->latest.reset();
    fabric_.part<testbeds::LiveControl>().watch([answers = answers_](control::FabricSnapshot snapshot) {
      const std::lock_guard guard{answers->lock};
      answers->latest = std::move(snapshot);
      answers->came.notify_all();
    });
    if (!answers_->came.wait(lock, stop, [this] { return answers_->latest.has_value(); })) return;
    control::FabricSnapshot now = std::move(*answers_->latest);
    lock.unlock();
    if (before_) show(*before_, now);  // rates are of what came between the two
    before_ = std::move(now);
    lock.lock();
    answers_->came.wait_for(lock, stop, interval, [] { return false; });  // the interval, unless it is to end
    if (stop.stop_requested()) return;
  }
}

void Progress::show(const control::FabricSnapshot& before, const control::FabricSnapshot& now) {
  const dataplane::Duration duration = fabric_.testbed().run.duration;
  if (terminal_) {
    screen_.redraw(control::live_table(before, now, duration, terminal_size()));
  } else {
    screen_.print_line(control::progress_line(before, now, duration));
  }
}

}  // namespace softspine::tools
