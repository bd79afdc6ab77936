// SPDX-License-Identifier: Apache-2.0
#include "control/server/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace softspine::control {

void raise_open_files_limit(uint32_t connections) {
  static constexpr rlim_t kOtherOpenFiles = 512;  // what the rest of the process may need
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, rlim_t{connections} + kOtherOpenFiles);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // refused: accept() will fail at the limit, and wait
}

}  // namespace softspine::control
