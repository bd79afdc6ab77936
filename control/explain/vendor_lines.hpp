// SPDX-License-Identifier: Apache-2.0
// A cure as configuration lines of real switches, for what a vendor documents as a knob of ECMP hashing:
//
//   SONiC     ecmp_hash_seed and ecmp_hash_offset (0 to 15) of APPL_DB's SWITCH_TABLE, which orchagent's switchorch
//             reads and swssconfig writes from a file; ecmp-hash-algorithm of `config switch-hash global`
//   Cumulus   `nv set system forwarding hash-seed`; without NVUE ecmp_hash_seed of /etc/cumulus/datapath/traffic.conf
//   Junos     enhanced-hash-key hash-seed, of the QFX10000
//
// A vendor is named only if it has every knob that the cure turns. Others are left out, Arista among them, because no
// public source was found by which their knobs could be verified. Whether a chip then hashes as the model does, is
// another question.
#pragma once

#include <string>
#include <vector>

#include "control/explain/cures.hpp"

namespace softspine::control {

struct VendorLines {
  std::string vendor;
  std::vector<std::string> lines;  // by role
  std::vector<std::string> notes;  // what must be known before
};
std::vector<VendorLines> vendor_lines_of(const RoleChanges& changes);

}  // namespace softspine::control
