// SPDX-License-Identifier: Apache-2.0
// A connection matrix of any bytes gives work, every operation of which can be read again, or a list of mistakes, each
// with words and a line of the file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/traces/htsim.hpp"
#include "tests/fuzz/work_read_again.hpp"

namespace {

using namespace softspine;
using namespace softspine::control;

void require(bool claim) {
  if (!claim) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto work = read_htsim(text, "fuzz.cm", StartUnit::kPicoseconds);
  if (work) {
    tests::check_work(**work);
    return 0;
  }
  int lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  require(!work.error().empty());
  for (const Error& error : work.error()) require(!error.message.empty() && error.line > 0 && error.line <= lines);
  return 0;
}
