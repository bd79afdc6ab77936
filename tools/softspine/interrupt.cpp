// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/interrupt.hpp"

#include <atomic>
#include <csignal>

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
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

StopOnInterrupt::~StopOnInterrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  running.store(nullptr, std::memory_order_relaxed);
}

}  // namespace softspine::tools
