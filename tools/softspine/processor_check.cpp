// SPDX-License-Identifier: Apache-2.0
// A processor that the program is not built for would end it by a signal, before it could print the reason. This file
// is compiled for any x86-64 (meson.build), and runs before all else that is ours.
#include <unistd.h>

namespace {

constexpr char kRefusal[] =
    "softspine: this processor lacks AVX2, or what else of x86-64-v3 (with pclmulqdq) the program is built for\n";
constexpr int kWrongInput = 2;

[[gnu::constructor(101)]] void refuse_processor() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v3") && __builtin_cpu_supports("pclmul")) return;
  static_cast<void>(!write(STDERR_FILENO, kRefusal, sizeof kRefusal - 1));
  _exit(kWrongInput);
}

}  // namespace
