// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/stall_look.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kDenseVirtual = Duration::us(10);
constexpr Duration kDenseWall = Duration::ms(1);
constexpr int64_t kSparser = 64;
constexpr int64_t kLooks = 4;
constexpr int64_t kSpacings = 8;
constexpr int64_t kPauses = 2;
constexpr int64_t kLatencies = 3;
constexpr int64_t kLinksOfAWay = 8;

// The time between two packets at the flow's own rate.
Duration pace(const FlowConfig& flow) {
  return flow.rate.is_zero() ? Duration{} : flow.rate.time_of_frame(flow.mtu + kTemplateBytes);
}

}  // namespace

struct StallLook::Flow {
  uint32_t number;
  const FlowConfig& config;
  const FlowSent& sent;
  FlowSink sink;
  const FlowReceived& received;
  bool is_open_loop;
  Seen& seen;

  bool is_complete() const {
    const uint64_t done = is_open_loop ? std::max(sent.messages, received.messages) : received.messages;
    return config.messages != 0 && done == config.messages;
  }
  Instant last() const { return received.packets == 0 ? sent.first_sent : received.last_arrived; }
};

StallLook::StallLook(const control::Fabric& fabric, const dataplane::Engine& engine, const RunFlows& flows)
    : engine_(engine), flows_(flows), seen_(flows.size()) {
  for (const control::FabricLink& link : fabric.links) longest_link_ = std::max(longest_link_, link.propagation);
}

Duration StallLook::interval(Instant now) const {
  return std::max(engine_.is_wall() ? kDenseWall : kDenseVirtual, (now - since_) / kSparser);
}

std::vector<Stall> StallLook::look(Instant now) {
  std::vector<Stall> out;
  flows_.share(true);
  for (uint32_t i = 0; i < seen_.size(); ++i) look_at(i, now, out);
  return out;
}

void StallLook::begin() {
  flows_.share(true);
  for (uint32_t i = 0; i < seen_.size(); ++i) {
    const auto flow = at(i);
    if (!flow) continue;
    flow->seen.packets = flow->received.packets;
    flow->seen.pause = std::max(flow->seen.pause, flow->sink.take_gap().length);
    flow->seen.stands = false;
  }
}

std::optional<StallLook::Flow> StallLook::at(uint32_t flow) {
  const auto& source = flows_.source(flow);
  const auto& sink = flows_.sink(flow);
  if (!source || !sink) return std::nullopt;
  // What is posted comes when others have sent: silence says nothing.
  if (flows_.plan(flow).flow.queue_depth != 0) return std::nullopt;
  return Flow{.number = flow,
              .config = flows_.plan(flow).flow,
              .sent = source->sent(),
              .sink = *sink,
              .received = sink->received(),
              .is_open_loop = source->is_open_loop(),
              .seen = seen_[flow]};
}

// `judged`: a time between two packets, which is no part of the average that it is compared with.
Duration StallLook::least(const Flow& flow, Duration judged, Instant now) const {
  const FlowReceived& received = flow.received;
  const Duration looks = std::max(interval(now) * kLooks, pace(flow.config) * kSpacings);
  if (received.packets == 0) return std::max(looks, longest_link_ * kLinksOfAWay);
  const Duration moved = received.last_arrived - received.first_arrived - flow.seen.stood - judged;
  const uint64_t left_out = 1 + flow.seen.stalls + (judged > Duration{} ? 1 : 0);
  const Duration spacing = moved / static_cast<int64_t>(std::max(received.packets, left_out + 1) - left_out);
  const Duration quickest = Duration::ps(received.latency_min_ps);
  return std::max(
      {looks, spacing * kSpacings, std::max(flow.seen.pause, flow.config.gap) * kPauses, quickest * kLatencies});
}

void StallLook::look_at(uint32_t number, Instant now, std::vector<Stall>& out) {
  const auto there = at(number);
  if (!there) return;
  const Flow& flow = *there;
  const ArrivalGap gap = flow.sink.take_gap();
  if (flow.sent.first_sent.is_never() || flow.sent.first_sent >= now) return;
  if (flow.seen.packets == 0 && flow.received.packets > 0) see_first(flow, now, out);
  if (gap.length > Duration{}) see_gap(flow, gap, now, out);
  flow.seen.packets = flow.received.packets;
  see_silence(flow, now, out);
}

void StallLook::see_first(const Flow& flow, Instant now, std::vector<Stall>& out) const {
  const Duration least_of_it = least(flow, {}, now);
  const Duration waited = flow.received.first_arrived - flow.sent.first_sent;
  if (!std::exchange(flow.seen.stands, false) && waited < least_of_it) return;
  out.push_back({flow.number, flow.sent.first_sent, flow.received.first_arrived, least_of_it});
}

void StallLook::see_gap(const Flow& flow, const ArrivalGap& gap, Instant now, std::vector<Stall>& out) const {
  const Duration least_of_it = least(flow, gap.length, now);
  if (!std::exchange(flow.seen.stands, false) && gap.length < least_of_it) {
    flow.seen.pause = std::max(flow.seen.pause, gap.length);
    return;
  }
  flow.seen.stood += gap.length;
  ++flow.seen.stalls;
  out.push_back({flow.number, gap.to - gap.length, gap.to, least_of_it});
}

// Nothing has come since the last packet.
void StallLook::see_silence(const Flow& flow, Instant now, std::vector<Stall>& out) const {
  const Instant from = flow.last();
  const Duration least_of_it = least(flow, {}, now);
  if (flow.is_complete()) {
    if (!std::exchange(flow.seen.stands, false)) return;
    out.push_back({flow.number, from, std::max(from, flow.sent.last_left), least_of_it});
  } else if (flow.seen.stands || now - from >= least_of_it) {
    flow.seen.stands = true;
    out.push_back({flow.number, from, now, least_of_it, true});
  }
}

}  // namespace softspine::testbeds
