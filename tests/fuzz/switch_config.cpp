// SPDX-License-Identifier: Apache-2.0
// A switch's configuration of any bytes, read for its hash: a hash that a switch can have, or mistakes with words. Each
// line is taken, remarked on, or ignored.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "control/vendors/hash_reading.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const control::HashReading read = control::read_hash(text);
  SOFTSPINE_CHECK(read.vendor || !read.errors.empty(), read.errors.size(), size);
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
  for (const auto* notes : {&read.errors, &read.remarks, &read.taken, &read.ignored}) {
    for (const control::LineNote& note : *notes) {
      SOFTSPINE_CHECK(!note.text.empty() && static_cast<size_t>(note.line) <= lines, note.line, lines);
    }
  }
  SOFTSPINE_CHECK(read.ignored.size() <= read.ignored_count, read.ignored.size(), read.ignored_count);
  if (!read.errors.empty()) return 0;
  control::HashConfig hash;
  apply_reading(read, hash);
  const dataplane::EcmpHash made{hash};
  SOFTSPINE_CHECK(!hash.fields.empty() && made.width_bits() > 0, hash.fields.size(), made.width_bits());
  return 0;
}
