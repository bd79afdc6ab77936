// SPDX-License-Identifier: Apache-2.0
// What waitpid() reports, as a shell's $? has it.
#pragma once

#include <sys/wait.h>

namespace softspine::testbeds {

inline constexpr int kSignalStatus = 128;  // and the signal that ended it

inline int exit_status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kSignalStatus + WTERMSIG(wait_status);
}

}  // namespace softspine::testbeds
