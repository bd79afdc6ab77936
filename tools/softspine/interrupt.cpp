// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/interrupt.hpp"

#include <atomic>

namespace softspine::tools {

namespace {

std::atomic<testbeds::RunningFabric*> running{nullptr};

void on_signal(int number) {
  std::signal(number, SIG_DFL);
  if (auto* fabric = running.load(std::memory_order_relaxed)) fabric->stop();
}

}  // namespace

StopOnInterrupt::StopOnInterrupt(testbeds::RunningFabric& fabric) {
  running.store(&fabric, std::memory_order_relaxed);
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

StopOnInterrupt::~StopOnInterrupt() {
  for (size_t i = 0; i < kStopping.size(); ++i) sigaction(kStopping[i], &stopping_before_[i], nullptr);
  for (size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &ignored_before_[i], nullptr);
  running.store(nullptr, std::memory_order_relaxed);
}

}  // namespace softspine::tools
