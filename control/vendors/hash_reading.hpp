// SPDX-License-Identifier: Apache-2.0
// Reads the hashes of ECMP groups and of LAGs from a switch's configuration, by its vendor's words (vendor_words.hpp).
// The vendor is recognised by the lines. Lines that concern no hash are ignored and counted.
//
// Nothing is guessed. A line with a setting that no model here has, or with an unknown one, is not taken; a setting
// without a line is a remark; a known setting with an invalid value is an error. Unless the file names the hash
// function by SAI's word, the profile keeps its own function, and a remark names it.
#pragma once

#include <array>
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

// The fields for packets that have a hash object of their own, by HashObjectOf.
using HashObjectFields = std::array<std::optional<std::vector<HashField>>, dataplane::kHashObjects>;

struct HashReading {
  std::optional<Vendor> vendor;  // none: there is an error
  std::optional<HashAlgorithm> algorithm;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  std::optional<std::vector<HashField>> fields;  // all of them; none: not said
  bool adds_qp = false;                          // the destination QP, to fields that are not said
  std::optional<bool> symmetric;
  HashObjectFields objects;
  std::vector<dataplane::Udf> udfs;
  // Given by lines for LAGs alone; without such lines LAGs hash as ECMP groups do.
  std::optional<HashAlgorithm> lag_algorithm;
  std::optional<uint32_t> lag_seed;
  std::optional<std::vector<HashField>> lag_fields;
  HashObjectFields lag_objects;
  std::vector<dataplane::Udf> lag_udfs;
  // Each line on hashing is in one of the next four.
  std::vector<LineNote> taken;
  std::vector<LineNote> partly;     // taken, and what of it was not
  std::vector<LineNote> not_taken;  // and why
  std::vector<LineNote> remarks;    // what is left open, of the file as a whole
  std::vector<LineNote> errors;
  std::vector<LineNote> ignored;  // the first kIgnoredListed of them
  uint64_t ignored_count = 0;

  static constexpr size_t kIgnoredListed = 1'000;
};

HashReading read_hash(std::string_view text);

// Puts what was read of ECMP groups into `hash`. The reading must have no errors.
void apply_reading(const HashReading& reading, HashConfig& hash);

}  // namespace softspine::control
