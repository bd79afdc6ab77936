// SPDX-License-Identifier: Apache-2.0
// Two ranks' execution traces of any bytes give work, every operation of which can be read again, or a list of
// mistakes, each with words. The first byte says how long the first rank's is, in 255ths.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/traces/chakra.hpp"
#include "tests/fuzz/work_read_again.hpp"

namespace {

using namespace softspine;
using namespace softspine::control;

void require(bool claim) {
  if (!claim) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t first = text.size() * data[0] / 255;
  const auto work = read_chakra({text.substr(0, first), text.substr(first)});
  if (work) {
    tests::check_work(**work);
    return 0;
  }
  require(!work.error().empty());
  for (const Error& error : work.error()) require(!error.message.empty() && !error.file.empty());
  return 0;
}
