// SPDX-License-Identifier: Apache-2.0
#include "control/compile/group_buckets.hpp"

#include <algorithm>

#include "dataplane/hashing/ecmp_group.hpp"
#include "dataplane/hashing/ovs_buckets.hpp"

namespace softspine::control {

namespace dp = dataplane;

GroupBuckets::Ports GroupBuckets::of(const Ports& ports, const Ports& whole, bool hashed) const {
  if (ports.empty()) return {};
  const bool is_part = std::ranges::includes(whole, ports);
  const bool minds_whole = groups_.kind == EcmpGroupKind::kResilient && is_part;
  if (model_ == HashModel::kOvs && hashed) return of_ovs(ports, minds_whole ? whole : ports);
  return minds_whole ? resilient(ports, whole) : by_weight(ports);
}

// Each port as often as its neighbour weighs.
GroupBuckets::Ports GroupBuckets::by_weight(const Ports& ports) const {
  Ports out;
  for (const uint16_t port : ports) out.insert(out.end(), weight_(port), port);
  return out;
}

GroupBuckets::Ports GroupBuckets::resilient(const Ports& ports, const Ports& whole) const {
  const Ports members = by_weight(whole);
  const auto count = static_cast<uint32_t>(members.size());
  const auto alive = [&](uint32_t member) { return std::ranges::binary_search(ports, members[member]); };
  Ports out;
  for (uint32_t b = 0; b < std::max(groups_.buckets, count); ++b)
    out.push_back(members[dp::resilient_owner(b, count, alive)]);
  return out;
}

// A bucket of Open vSwitch's group for each port of `members`; those of ports that are not there are not alive.
GroupBuckets::Ports GroupBuckets::of_ovs(const Ports& ports, const Ports& members) const {
  std::vector<uint32_t> weights;
  for (const uint16_t port : members) weights.push_back(weight_(port));
  const std::vector<uint32_t> owners = dp::ovs_owners(weights);
  const auto mask = static_cast<uint32_t>(owners.size() - 1);
  Ports out;
  for (uint32_t value = 0; value <= mask; ++value) {
    uint32_t at = value;
    while (!std::ranges::binary_search(ports, members[owners[at]])) at = (at + 1) & mask;
    out.push_back(members[owners[at]]);
  }
  return out;
}

}  // namespace softspine::control
