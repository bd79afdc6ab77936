// SPDX-License-Identifier: Apache-2.0
// What every source of the mutated copy includes first: which mutant is chosen, and which have been reached.
//   SOFTSPINE_MUTANT=N   mutant N is on; without it, or 0, the program is what it was
//   SOFTSPINE_REACH=FILE a line for each test: its name, seconds, the numbers of the mutants that it has reached
#pragma once

#include <cstdio>
#include <cstdlib>

namespace softspine::mutants {

inline constexpr int kMost = 1 << 18;
inline unsigned char reached[kMost];
inline const bool learns = std::getenv("SOFTSPINE_REACH") != nullptr;
inline const int chosen = std::getenv("SOFTSPINE_MUTANT") != nullptr ? std::atoi(std::getenv("SOFTSPINE_MUTANT")) : 0;

// A constant expression is never mutated.
constexpr bool on(int number) noexcept {
  if consteval {
    return false;
  } else {
    if (learns) reached[number] = 1;  // threads would fight for its cache line
    return chosen == number;
  }
}

inline void write_reached(const char* test, double seconds) {
  const char* path = std::getenv("SOFTSPINE_REACH");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%s %.6f", test, seconds);
  for (int i = 0; i < kMost; ++i) {
    if (reached[i] != 0) std::fprintf(file, " %d", i);
    reached[i] = 0;
  }
  std::fprintf(file, "\n");
  std::fclose(file);
}

// Of a program without GoogleTest, and what happens before and after the tests of one that has it.
struct AtExit {
  ~AtExit() { write_reached("*", 0); }
};
inline const AtExit at_exit;

}  // namespace softspine::mutants
