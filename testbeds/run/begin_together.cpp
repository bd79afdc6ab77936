// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/begin_together.hpp"

#include <algorithm>

namespace softspine::testbeds {

std::expected<void, std::string> begin_together(RunParts& parts, const Ranks& ranks, dataplane::Instant now) {
  const auto begun = parts.begin();
  const auto errors = ranks.gather(begun ? std::string{} : begun.error());
  const auto first = std::ranges::find_if(errors, [](const std::string& error) { return !error.empty(); });
  if (first == errors.end()) return {};
  parts.end_soon();
  parts.finish(now);
  return std::unexpected(*first);
}

}  // namespace softspine::testbeds
