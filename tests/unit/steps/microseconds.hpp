// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::tests {

inline dataplane::Instant us(int64_t count) {
  return dataplane::Instant::at(dataplane::Duration::us(count));
}

}  // namespace softspine::tests
