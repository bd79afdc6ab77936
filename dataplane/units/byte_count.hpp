// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace softspine::dataplane {

// A number of bytes, where the type has to show it: among an algorithm's parameters.
struct ByteCount {
  uint64_t count = 0;
  friend auto operator<=>(const ByteCount&, const ByteCount&) = default;
};

}  // namespace softspine::dataplane
