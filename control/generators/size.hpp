// SPDX-License-Identifier: Apache-2.0
// How large a fabric would be, to be judged before anything is made of it.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::control {

// A fabric larger than this is taken for a typing error. A fuzzer learns nothing of more of the same.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr uint64_t kMaxNodes = 1'000;
inline constexpr uint64_t kMaxLinks = 4'000;
#else
inline constexpr uint64_t kMaxNodes = 500'000;
inline constexpr uint64_t kMaxLinks = 2'000'000;
#endif

struct Size {
  double nodes = 0;  // not integers, since products of what people write can exceed any of them
  double links = 0;
  double ports = 0;  // of the largest switch
};

// A key whose value cannot be followed, and why; an empty key: all of the fabric's parameters.
struct WrongKey {
  const char* key;
  std::string message;
};

}  // namespace softspine::control
