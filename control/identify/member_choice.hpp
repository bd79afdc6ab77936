// SPDX-License-Identifier: Apache-2.0
// Which of a group's members a hash chooses: by its remainder as switches do, by Linux's ranges, or by Open vSwitch's
// table of values. All members weigh the same.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/hashing/ecmp_group.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/ovs_buckets.hpp"

namespace softspine::control {

class MemberChoice {
 public:
  MemberChoice(const dataplane::HashConfig& config, uint32_t members)
      : members_(members), by_threshold_(dataplane::row_of(config.algorithm).by_threshold) {
    if (config.model == dataplane::HashModel::kOvs) owners_ = dataplane::ovs_owners(std::vector<uint32_t>(members, 1));
  }

  uint32_t of(uint32_t hash) const {
    if (by_threshold_) return dataplane::threshold_bucket(hash, members_);
    return owners_.empty() ? hash % members_ : owners_[hash & (owners_.size() - 1)];
  }

 private:
  uint32_t members_;
  bool by_threshold_;
  std::vector<uint32_t> owners_;  // a power of two of them; empty: not Open vSwitch
};

}  // namespace softspine::control
