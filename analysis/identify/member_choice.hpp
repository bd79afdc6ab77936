// SPDX-License-Identifier: Apache-2.0
// Which of a group's members a hash chooses: by its remainder as switches do, by Linux's ranges, or by Open vSwitch's
// table of values. All members weigh the same.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/hashing/ovs_buckets.hpp"

namespace softspine::analysis {

class MemberChoice {
 public:
  MemberChoice(const dataplane::HashConfig& config, uint32_t members) : hash_(config), members_(members) {
    if (config.model == dataplane::HashModel::kOvs) owners_ = dataplane::ovs_owners(std::vector<uint32_t>(members, 1));
  }

  uint32_t of(uint32_t hash) const {
    return owners_.empty() ? hash_.bucket_of(hash, members_) : owners_[hash & (owners_.size() - 1)];
  }

 private:
  dataplane::EcmpHash hash_;
  uint32_t members_;
  std::vector<uint32_t> owners_;  // a power of two of them; empty: not Open vSwitch
};

}  // namespace softspine::analysis
