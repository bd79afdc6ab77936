// SPDX-License-Identifier: Apache-2.0
// A file of flows of any bytes gives work, every operation of which can be read again, or a list of mistakes, each
// with words and a line of the file.
#include "control/traces/simai_flows.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

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
  const auto read = read_simai_flows(text, "fuzz.txt");
  if (read) {
    tests::check_work(*read->work);
    return 0;
  }
  int lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  require(!read.error().empty());
  for (const Error& error : read.error()) require(!error.message.empty() && error.line > 0 && error.line <= lines);
  return 0;
}
