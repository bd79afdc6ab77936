// SPDX-License-Identifier: Apache-2.0
// The hash of ECMP groups, and that of LAGs, that a switch's configuration has, by its vendor's words
// (vendor_words.hpp). Whose configuration it is follows from its lines. What concerns no hash is ignored, and counted.
//
// Nothing is guessed. A knob that no model here has, a knob that is not known here, and what a line leaves open are
// remarks; a known knob with a value that it cannot have is an error. Which function a chip computes is not in these
// files, unless it is named by SAI's word: then the profile's own stays, and a remark says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

struct LineNote {
  int line = 0;  // 0: of the file as a whole
  std::string text;
};

struct HashReading {
  std::optional<Vendor> vendor;  // none: an error says why
  std::optional<HashAlgorithm> algorithm;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  std::optional<std::vector<HashField>> fields;  // all of them; none: not said
  bool adds_qp = false;                          // the destination QP, to fields that are not said
  std::optional<bool> symmetric;
  // Of LAGs, where lines are of their hash alone; else it is as that of ECMP groups.
  std::optional<HashAlgorithm> lag_algorithm;
  std::optional<std::vector<HashField>> lag_fields;
  std::vector<LineNote> taken;  // lines that were understood
  std::vector<LineNote> remarks;
  std::vector<LineNote> errors;
  std::vector<LineNote> ignored;  // the first kIgnoredListed of them
  uint64_t ignored_count = 0;

  static constexpr size_t kIgnoredListed = 1'000;
};

HashReading read_hash(std::string_view text);

// Of a reading without errors: the hash of ECMP groups.
void apply_reading(const HashReading& reading, HashConfig& hash);

}  // namespace softspine::control
