// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/stall_look.hpp"

#include <algorithm>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kDenseVirtual = Duration::us(10);
constexpr Duration kDenseWall = Duration::ms(1);
constexpr int64_t kSparser = 64;
constexpr int64_t kLooks = 4;
constexpr int64_t kSpacings = 8;

}  // namespace

void StallLook::restart(Instant now, bool first) {
  since_ = now;
  seen_.resize(assembly_.flows.size());
  if (first) look(now);
}

Duration StallLook::interval(Instant now) const {
  return std::max(assembly_.engine->is_wall() ? kDenseWall : kDenseVirtual, (now - since_) / kSparser);
}

std::vector<Stall> StallLook::look(Instant now) {
  std::vector<Stall> out;
  for (uint32_t i = 0; i < seen_.size(); ++i) look_at(i, now, out);
  return out;
}

bool StallLook::is_stall(uint32_t flow, Instant from, Instant to, Instant now) const {
  const PlannedFlow& plan = assembly_.flows[flow];
  const FlowReceived& received = assembly_.hosts[plan.destination]->received(assembly_.sink_at_destination[flow]);
  const auto before = static_cast<int64_t>(seen_[flow].packets);
  const Duration spacing = before < 2 ? Duration{} : (from - received.first_born) / before;
  return to - from >= interval(now) * kLooks && to - from >= spacing * kSpacings;
}

void StallLook::look_at(uint32_t flow, Instant now, std::vector<Stall>& out) {
  const PlannedFlow& plan = assembly_.flows[flow];
  const FlowSent& sent = assembly_.hosts[plan.source]->sent(assembly_.flow_at_source[flow]);
  const FlowReceived& received = assembly_.hosts[plan.destination]->received(assembly_.sink_at_destination[flow]);
  if (sent.first_sent.is_never() || sent.first_sent >= now) return;
  Seen& seen = seen_[flow];
  const Instant from = seen.packets == 0 ? sent.first_sent : seen.last;
  const bool is_open_loop = assembly_.hosts[plan.source]->sender(assembly_.flow_at_source[flow]) == nullptr;
  const uint64_t done = is_open_loop ? std::max(sent.messages, received.messages) : received.messages;
  const bool is_complete = plan.flow.messages != 0 && done == plan.flow.messages;
  if (received.packets != seen.packets) {
    if (is_stall(flow, from, received.last_arrived, now)) out.push_back({flow, from, received.last_arrived, false});
    seen = {received.packets, received.last_arrived};
  } else if (!is_complete && is_stall(flow, from, now, now)) {
    out.push_back({flow, from, now, true});
  }
}

}  // namespace softspine::testbeds
