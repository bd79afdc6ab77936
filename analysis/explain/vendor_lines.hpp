// SPDX-License-Identifier: Apache-2.0
// A cure as configuration lines of real switches, for what a vendor documents as a knob of ECMP hashing, by the words
// of control/vendors, which reads the same lines:
//
//   SONiC             ecmp_hash_seed and ecmp_hash_offset (0 to 15) of APPL_DB's SWITCH_TABLE, which orchagent's
//                     switchorch reads and swssconfig writes from a file; the algorithm by `config switch-hash global`.
//                     For LAGs likewise: lag_hash_seed, lag_hash_offset, lag-hash-algorithm
//   Enterprise SONiC  seed, algorithm and destination QP by `ip load-share hash`
//   Cumulus           `nv set system forwarding hash-seed`; without NVUE /etc/cumulus/datapath/traffic.conf
//   Junos             enhanced-hash-key hash-seed, of the QFX10000
//   Arista EOS        `ip load-sharing fm6000`, whose seeds go to 39; those of other chips to 5 or 2
//   Linux, OVS        the seed, for switches whose model is LINUX or OVS; no vendor's line applies to them
//
// A vendor is named only if it has every knob that the cure turns. Whether a chip then hashes as the model does, is
// another question.
#pragma once

#include <string>
#include <vector>

#include "analysis/explain/cures.hpp"

namespace softspine::analysis {

struct VendorLines {
  std::string vendor;
  std::vector<std::string> lines;  // by role
  std::vector<std::string> notes;  // what must be known before
};
std::vector<VendorLines> vendor_lines_of(const RoleChanges& changes);
// In a fabric with LAGs only SONiC's lines: SONiC sets the hashes of ECMP and LAGs apart; others cannot, or set both.
std::vector<VendorLines> vendor_lines_of(const control::Testbed& testbed, const RoleChanges& changes);

}  // namespace softspine::analysis
