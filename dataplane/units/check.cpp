// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/check.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace softspine::dataplane {

void check_failed(const char* claim, const char* file, int line, int64_t a, int64_t b) {
  std::fprintf(stderr, "softspine: %s:%d: broken: %s (values %" PRId64 ", %" PRId64 ")\n", file, line, claim, a, b);
  std::abort();
}

}  // namespace softspine::dataplane
