// SPDX-License-Identifier: Apache-2.0
#include "tools/command/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace softspine::tools {

void occupy_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened the wrong way round, so that using it fails as it would have. The smallest free number is this one.
    const int flags = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::fcntl(number, F_GETFD) < 0 && ::open("/dev/null", flags) != number) return;
  }
}

std::string close_standard_output() {
  std::cout.flush();
  const bool was_broken = std::ferror(stdout) != 0 || !std::cout;
  if (std::fflush(stdout) != 0) return std::strerror(errno);
  return was_broken ? "what was printed is not whole" : "";
}

}  // namespace softspine::tools
