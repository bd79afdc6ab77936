// SPDX-License-Identifier: Apache-2.0
// Observations as text: whatever the bytes, they are read, or refused with a line of the text. One flow in eight is
// told in words, which takes longer than reading it.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "analysis/identify/observation_text.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine::analysis;

namespace {

void check(const softspine::control::Errors& errors, int64_t lines) {
  SOFTSPINE_CHECK(!errors.empty() && errors.size() <= 40, errors.size(), lines);
  for (const softspine::control::Error& error : errors) {
    SOFTSPINE_CHECK(!error.message.empty(), 0, 0);
    SOFTSPINE_CHECK(error.line >= 0 && error.line <= lines + 1, error.line, lines);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto lines = static_cast<int64_t>(std::ranges::count(text, '\n'));
  ObservationCollector out;
  if (const auto read = read_observations(text, "f", out); !read) check(read.error(), lines);
  const Observations seen = std::move(out).take();
  size_t number = size;
  for (const Observation& it : seen.flows) {
    SOFTSPINE_CHECK(it.link < seen.links.size(), it.link, seen.links.size());
    const FlowFrame frame{it.flow};
    SOFTSPINE_CHECK(frame.view().l3_offset != 0, frame.view().l3_offset, 0);
    if (number++ % 8 == 0) SOFTSPINE_CHECK(!to_string(it.flow).empty(), it.link, 0);
  }
  const size_t half = size / 2;
  ObservationCollector probes;
  const auto counted = read_counters({text.substr(0, half), "c"}, {text.substr(half), "s"}, probes);
  if (!counted) check(counted.error(), lines);
  return 0;
}
