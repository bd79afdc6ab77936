// SPDX-License-Identifier: Apache-2.0
// Lines of a vendor's configuration that turn the knobs of its hash, from the words by which they are read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

// What is to be turned.
struct HashSetting {
  std::optional<HashAlgorithm> algorithm;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  bool add_qp = false;
};

// No value: the vendor has no such knob, or not that value.
std::optional<std::vector<std::string>> hash_lines(Vendor vendor, const HashSetting& setting);

// Of the hash that the configuration of a SONiC switch has in APPL_DB, for swssconfig; empty: neither is set.
std::string sonic_switch_table(const HashSetting& setting);

}  // namespace softspine::control
