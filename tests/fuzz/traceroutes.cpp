// SPDX-License-Identifier: Apache-2.0
// Outputs of traceroutes: whatever the bytes, they are read, or refused with a sentence. Flows are whole, each with a
// link; no more traces are without a flow than there are.
#include <cstdint>
#include <string_view>

#include "analysis/identify/observations.hpp"
#include "analysis/identify/traceroute_text.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine::analysis;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  ObservationCollector out;
  const auto read = read_traceroutes(text, "f", 2, out);
  if (!read) {
    SOFTSPINE_CHECK(read.error().size() == 1 && !read.error()[0].message.empty(), read.error().size(), 0);
  } else {
    SOFTSPINE_CHECK(read->without_flow <= read->traces, read->without_flow, read->traces);
  }
  const Observations seen = std::move(out).take();
  for (const Observation& it : seen.flows) {
    SOFTSPINE_CHECK(it.link < seen.links.size(), it.link, seen.links.size());
    SOFTSPINE_CHECK(!to_string(it.flow).empty(), it.link, 0);
  }
  return 0;
}
