// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/message_taps.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "testbeds/hosts/roce_reader.hpp"

namespace softspine::testbeds {

using dataplane::Direction;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::Packet;
using dataplane::PortNo;
using dataplane::Priority;

namespace {

constexpr uint64_t kPsnMask = (1U << 24) - 1;

}  // namespace

void MessageTap::PauseMarks::add(Instant at, Duration stopped) noexcept {
  if (count > 0 && ring[(count - 1) % kMarks].stopped == stopped) return;
  ring[count++ % kMarks] = {at, stopped};
}

// As of the last mark by then; of the first that is kept if that is later.
Duration MessageTap::PauseMarks::at(Instant when) const noexcept {
  Duration out;
  for (uint64_t i = count - std::min<uint64_t>(count, kMarks); i < count; ++i) {
    const Mark& mark = ring[i % kMarks];
    if (mark.at > when && i + kMarks != count) break;
    out = mark.stopped;
  }
  return out;
}

uint8_t MessageTap::priorities_of(uint8_t queue, uint32_t flow) const noexcept {
  if (at_.host != nullptr)
    return static_cast<uint8_t>(1U << at_.host->config().priority_of_dscp[at_.flows.plan(flow).flow.dscp]);
  uint8_t out = 0;
  const auto& masks = at_.node->egress().plan().ports[at_.port.port].queues_of_priority;
  for (size_t p = 0; p < masks.size(); ++p) out |= static_cast<uint8_t>((masks[p] >> queue & 1U) << p);
  return out;
}

Duration MessageTap::stopped(uint8_t priority, Instant now) const noexcept {
  const PortNo port{at_.port.port};
  const dataplane::PortFlowControl& flow =
      at_.node != nullptr ? at_.node->egress().flow_control(port) : at_.host->flow_control(port);
  return flow.pauses().stopped_time(Priority{priority}, now);
}

// The longest of these priorities.
Duration MessageTap::stopped_since(uint8_t priorities, Instant from, Instant now) noexcept {
  Duration out;
  for (uint8_t p = 0; p < dataplane::kPriorities; ++p) {
    if ((priorities >> p & 1) == 0) continue;
    const Duration all = stopped(p, now);
    if (all == Duration{}) continue;
    if (!marks_[p]) marks_[p] = std::make_unique<PauseMarks>();
    marks_[p]->add(now, all);
    out = std::max(out, all - marks_[p]->at(from));
  }
  return out;
}

void MessageTap::frame(Direction, const Packet& packet, Instant at, const char*) noexcept {
  if (!packet.is_of_flow() || packet.is_copy()) return;
  const dataplane::PacketMeta& meta = packet.meta();
  const Instant began = at - at_.wire.rate().time_of_frame(meta.frame_bytes);
  const bool passes = at_.node != nullptr;
  const Duration stay = passes ? std::max(began - meta.at, Duration{}) : Duration{};
  longest_stay_ = std::max(longest_stay_, stay);
  const uint32_t flow = packet.flow();
  if (flow >= at_.watched.size() || !at_.watched[flow]) return;
  FlowHere& here = flows_[flow];
  const uint8_t queue = passes ? meta.queue : uint8_t{0};
  const uint8_t priorities = priorities_of(queue, flow);
  here.first_came = std::min(here.first_came, meta.at);
  // Each pause is marked as soon as a packet leaves behind it. A host sends each flow with one priority.
  const Duration paused = passes ? stopped_since(priorities, here.first_came, began)
                                 : stopped(static_cast<uint8_t>(std::countr_zero(priorities)), began);
  ++here.packets;
  here.stay = std::max(here.stay, stay);
  const auto psn = psn_of_message_end({packet.data(), packet.stored_bytes(), meta.frame_bytes});
  if (!psn) return;
  end_part({.at = at,
            .flow = flow,
            .psn = *psn,
            .port = at_.port,
            .queue = passes ? queue : static_cast<uint8_t>(std::countr_zero(priorities)),
            .priorities = priorities,
            .packets = here.packets,
            .stay = here.stay,
            .paused = passes ? paused : paused - std::exchange(here.stopped, paused)},
           here);
}

void MessageTap::begin(uint32_t flow, Instant now) noexcept {
  flows_[flow].stopped = stopped(static_cast<uint8_t>(std::countr_zero(priorities_of(0, flow))), now);
}

void MessageTap::end_part(const control::HopRecord& record, FlowHere& here) noexcept {
  control::HopRecord& out = at_.buffer.hops.emplace_back(record);
  here.packets = 0;
  here.stay = {};
  here.first_came = Instant::never();
  const auto& source = at_.flows.source(record.flow);
  if (at_.host == nullptr || !source) return;
  PostedParts& posted = at_.buffer.posted[record.flow];
  const uint64_t behind = at_.flows.plan(record.flow).flow.first_psn + posted.packets;
  if (((behind - record.psn - 1) & kPsnMask) == 0) posted.have_left = true;
  const control::RequesterCounts& now = source->sent().reliable;
  out.retransmitted_packets = now.retransmitted_packets - here.sent.retransmitted_packets;
  out.naks = now.packet_seq_err - here.sent.packet_seq_err;
  out.timeouts = now.local_ack_timeout_err - here.sent.local_ack_timeout_err;
  out.cnps = now.rp_cnp_handled + now.ce_echoes - here.sent.rp_cnp_handled - here.sent.ce_echoes;
  here.sent = now;
}

control::PortLook MessageTap::take_look(Instant now) noexcept {
  control::PortLook out{.longest_stay = std::exchange(longest_stay_, Duration{})};
  for (uint8_t p = 0; p < dataplane::kPriorities; ++p) out.stopped[p] = stopped(p, now);
  return out;
}

}  // namespace softspine::testbeds
