// SPDX-License-Identifier: Apache-2.0
// A cure as text: keys for the testbed's file, and configuration lines for real switches.
//
// Lines are given only for what a vendor documents as a knob of ECMP hashing:
//   SONiC     ecmp_hash_seed and ecmp_hash_offset of APPL_DB's SWITCH_TABLE (orchagent's switchorch, by swssconfig);
//             ecmp-hash-algorithm of `config switch-hash global` (Generic Hash)
//   Cumulus   ecmp_hash_seed of /etc/cumulus/datapath/traffic.conf
//   Junos     enhanced-hash-key hash-seed, of the QFX10000
// A vendor is named only if it has every knob that the cure turns. Whether a chip then hashes as the model does, is
// another question.
#pragma once

#include <string>
#include <vector>

#include "control/explain/cures.hpp"

namespace softspine::control {

// In words: "core: offset 10".
std::string words_of(const RoleChanges& changes);

// YAML that turns the testbed into the cured one when it is merged into the testbed's file.
std::string yaml_of(const Testbed& testbed, const RoleChanges& changes);

struct VendorLines {
  std::string vendor;
  std::vector<std::string> lines;  // by role
};
std::vector<VendorLines> vendor_lines_of(const RoleChanges& changes);

}  // namespace softspine::control
