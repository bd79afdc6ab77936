// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

inline constexpr Rate kTopRate = Rate::gbps(1'600);  // of a link: a byte still lasts 5 ps

}  // namespace softspine::dataplane
