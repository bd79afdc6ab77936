// SPDX-License-Identifier: Apache-2.0
// The service of a switch fabric to packets of a DSCP on one link: the queue that they leave from, the priority group
// that they come into, the priorities that may be paused for them, and whether anything may be dropped for want of
// room.
//
// A link is lossless for a DSCP if all of these hold:
//   - the receiver's priority group has headroom (xoff), and raises XOFF for a priority of the receiver's pfc_enable,
//     or gives credit
//   - the sender stops for that priority: the packets' queue belongs to it, and the sender's pfc_enable (a switch
//     port's, a NIC's or a host's) has it
//   - the sender's queue, if it is a switch's, may grow to all that the ingress pools can hold, so that this queue
//     never drops
//   - WRED drops nothing early, which it only does to packets that are not ECN-capable
// A host accepts all that arrives. Any headroom counts as enough here; headroom_check finds headroom that is too small.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/routing/ways.hpp"

namespace softspine::control {

// Why packets may be dropped on a link: the first of these that applies.
enum class Loss : uint8_t { kNothing, kNoBuffers, kNoHeadroom, kNotPaused, kNotObeyed, kQueue, kEarly };

struct Service {
  std::optional<uint8_t> queue;  // at the sender, if that is a switch
  std::optional<uint8_t> group;  // at the receiver, if that is a switch
  uint8_t priorities = 0;        // bit n: the receiver may pause priority n for these packets
  bool credit = false;           // the link goes by credit instead of pauses
  bool marked = false;           // the sender's queue marks what is ECN-capable
  Loss loss = Loss::kNothing;
  friend auto operator<=>(const Service&, const Service&) = default;
};

inline constexpr uint8_t kDscps = 64;

class ServiceBook {
 public:
  explicit ServiceBook(const Testbed& testbed);

  // The service to the DSCP on the link that `sender` sends into.
  Service at(LinkEnd sender, uint8_t dscp, bool ecn_capable = true) const;
  bool is_lossless(const Ways& ways, uint8_t dscp) const;
  // The DSCPs that are lossless on all of these ways, ascending.
  std::vector<uint8_t> lossless_dscps(const Ways& ways) const;

  // Why a link is not lossless: "priority group 0 of profile x has no headroom".
  std::string why(LinkEnd sender, const Service& service) const;

 private:
  using Queues = std::array<uint8_t, 8>;

  const Profile* profile_of(uint32_t node) const;
  uint8_t queue_of(const Profile& profile, LinkEnd sender, uint8_t dscp) const;
  uint8_t stops_for(LinkEnd sender, uint8_t dscp) const;
  Loss group_loss(LinkEnd receiver, Service& service) const;
  bool queue_may_drop(LinkEnd sender, uint8_t queue) const;
  std::string profile_name(uint32_t node) const;

  const Testbed& testbed_;
  std::vector<uint64_t> ingress_bytes_;            // by switch: what its ingress pools can hold
  std::vector<std::vector<uint64_t>> pool_bytes_;  // by switch, by pool: what can be shared of it
};

// "3, 4 and 26"
std::string listed(const std::vector<uint8_t>& dscps);

}  // namespace softspine::control
