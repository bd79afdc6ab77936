// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as something to poll() for, in a program whose threads all block them. Its first reader restores
// the signals, so that the second one ends the process at once.
#pragma once

#include <sys/signalfd.h>

#include <csignal>

#include "dataplane/edge/owned_fd.hpp"
#include "tools/verbs/handles.hpp"

namespace softspine::tools {

class InterruptSignal {
 public:
  InterruptSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    descriptor_ = dataplane::OwnedFd{signalfd(-1, &signals_, SFD_CLOEXEC)};
  }
  // Unblocks both for the thread that calls.
  void take() {
    signalfd_siginfo ignored;
    if (read(descriptor_.get(), &ignored, sizeof ignored) > 0) pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }
  int descriptor() const { return descriptor_.get(); }

 private:
  sigset_t signals_{};
  dataplane::OwnedFd descriptor_;
};

}  // namespace softspine::tools
