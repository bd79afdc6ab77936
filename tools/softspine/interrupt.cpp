// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/interrupt.hpp"

#include <atomic>

namespace softspine::tools {

namespace {

// Each is written before the other is read, in the handler and in StopOnInterrupt: one of them sees both.
std::atomic<testbeds::RunningFabric*> running{nullptr};
std::atomic<bool> signal_has_come{false};

void on_signal(int number) {
  std::signal(number, SIG_DFL);
  signal_has_come = true;
  if (auto* fabric = running.load()) fabric->stop();
}

}  // namespace

CatchInterrupts::CatchInterrupts() {
  signal_has_come = false;
  struct sigaction stop{};
  stop.sa_handler = on_signal;
  stop.sa_flags = SA_RESTART;
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  for (size_t i = 0; i < kStopping.size(); ++i) {
    sigaction(kStopping[i], nullptr, &stopping_before_[i]);
    const bool stays = kStopping[i] == SIGHUP && stopping_before_[i].sa_handler == SIG_IGN;
    if (!stays) sigaction(kStopping[i], &stop, nullptr);
  }
  for (size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &ignore, &ignored_before_[i]);
}

CatchInterrupts::~CatchInterrupts() {
  for (size_t i = 0; i < kStopping.size(); ++i) sigaction(kStopping[i], &stopping_before_[i], nullptr);
  for (size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &ignored_before_[i], nullptr);
}

bool CatchInterrupts::has_come() const {
  return signal_has_come;
}

StopOnInterrupt::StopOnInterrupt(testbeds::RunningFabric& fabric) {
  running = &fabric;
  if (signal_has_come) fabric.stop();
}

StopOnInterrupt::~StopOnInterrupt() {
  running = nullptr;
}

}  // namespace softspine::tools
