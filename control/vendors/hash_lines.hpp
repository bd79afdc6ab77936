// SPDX-License-Identifier: Apache-2.0
// Configuration lines that set a vendor's hash, made from the same words by which such lines are read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

// The knobs to be turned.
struct HashSetting {
  std::optional<HashAlgorithm> algorithm;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  bool add_qp = false;
  bool of_lags = false;  // the hash of LAGs, else that of ECMP groups
};

// No value: the vendor has no such knob, or not that value.
std::optional<std::vector<std::string>> hash_lines(Vendor vendor, const HashSetting& setting);

// The seeds and offsets of a SONiC switch's hashes as APPL_DB entries for swssconfig; empty: no setting has any.
std::string sonic_switch_table(std::span<const HashSetting> settings);

}  // namespace softspine::control
