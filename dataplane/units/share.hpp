// SPDX-License-Identifier: Apache-2.0
// A share of something: what files write as 25%. It may be more than the whole.
#pragma once

#include <compare>
#include <cstdint>

namespace softspine::dataplane {

struct Share {
  uint64_t millionths = 0;
  friend auto operator<=>(const Share&, const Share&) = default;
};

}  // namespace softspine::dataplane
