// SPDX-License-Identifier: Apache-2.0
// An always-on check for bugs: prints the claim and its values, then aborts. Never for outside data: a peer's bytes
// are not a bug of ours.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

[[noreturn]] void check_failed(const char* claim, const char* file, int line, int64_t a, int64_t b);

// In builds with a sanitizer, what hot paths believe without a look is computed all the same, and checked.
#ifdef SOFTSPINE_DOUBTS
inline constexpr bool kDoubts = true;
#else
inline constexpr bool kDoubts = false;
#endif

}  // namespace softspine::dataplane

// The one macro of the room: a function could not print the claim's text.
#define SOFTSPINE_CHECK(claim, a, b)                                                            \
  do {                                                                                          \
    if (!(claim)) [[unlikely]]                                                                  \
      ::softspine::dataplane::check_failed(#claim, __FILE__, __LINE__, static_cast<int64_t>(a), \
                                           static_cast<int64_t>(b));                            \
  } while (false)
