// SPDX-License-Identifier: Apache-2.0
// Lines of a vendor's configuration that turn the knobs of its hash, from the words by which they are read.
#pragma once

#include <optional>
#include <span>
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
  bool of_lags = false;  // the hash of LAGs, else that of ECMP groups
};

// No value: the vendor has no such knob, or not that value.
std::optional<std::vector<std::string>> hash_lines(Vendor vendor, const HashSetting& setting);

// Of the hashes that the configuration of a SONiC switch has in APPL_DB, for swssconfig; empty: none is set.
std::string sonic_switch_table(std::span<const HashSetting> settings);

}  // namespace softspine::control
