// SPDX-License-Identifier: Apache-2.0
// 128-bit products, which ISO C++ has no name for.
#pragma once

namespace softspine::dataplane {

__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

}  // namespace softspine::dataplane
