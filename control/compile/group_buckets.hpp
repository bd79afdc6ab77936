// SPDX-License-Identifier: Apache-2.0
// Which port each bucket of a group belongs to (dataplane/hashing/ecmp_group.hpp defines the kinds).
//
//   ports   those of the group now, ascending
//   whole   those that it would have if every link were up: a resilient group gives the dead ones' buckets to the
//   others
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "control/model/profile.hpp"

namespace softspine::control {

class GroupBuckets {
 public:
  using Ports = std::vector<uint16_t>;
  using Weight = std::function<uint32_t(uint16_t port)>;

  // `groups` outlives this.
  GroupBuckets(const EcmpGroupConfig& groups, HashModel model, Weight weight)
      : groups_(groups), model_(model), weight_(std::move(weight)) {}

  // `hashed`: its buckets are chosen by the hash alone.
  Ports of(const Ports& ports, const Ports& whole, bool hashed) const;

 private:
  Ports by_weight(const Ports& ports) const;
  Ports resilient(const Ports& ports, const Ports& whole) const;
  Ports of_ovs(const Ports& ports, const Ports& members) const;

  const EcmpGroupConfig& groups_;
  HashModel model_;
  Weight weight_;
};

}  // namespace softspine::control
