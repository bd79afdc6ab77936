// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_recorder.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "analysis/storm/cooked.hpp"

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;

namespace {

constexpr size_t kMacHeaderBytes = 12;
constexpr size_t kEthernetHeaderBytes = 14;
constexpr uint32_t kNoPort = UINT32_MAX;

// True for a filter that surely takes every pause frame: "ether proto 0x8808", or that or something else. ("and" binds
// no stronger than "or" in libpcap's syntax.)
bool keeps_pause_frames(std::string_view filter) {
  constexpr std::string_view kPauseFrames = "ether proto 0x8808";
  if (!filter.starts_with(kPauseFrames)) return false;
  const std::string_view rest = filter.substr(kPauseFrames.size());
  const bool narrows = rest.find("and") != rest.npos || rest.find("&&") != rest.npos;
  return rest.empty() || (rest.starts_with(" or ") && !narrows);
}

bool is_cut(const CapturedFrame& frame) {
  return frame.bytes.size() < frame.original_bytes;
}

}  // namespace

uint32_t PauseRecorder::port_of(uint32_t interface, const std::vector<CapturedInterface>& interfaces) {
  while (port_of_interface_.size() <= interface) {
    const CapturedInterface& it = interfaces[port_of_interface_.size()];
    port_of_interface_.push_back(
        is_cooked(it.link_type) ? kNoPort : add(port_of_interface(port_of_interface_.size(), it, speed_)));
  }
  return port_of_interface_[interface];
}

uint32_t PauseRecorder::add(RecordedPort port) {
  const auto [known, is_new] = port_by_name_.try_emplace(port.name, static_cast<uint32_t>(ports_.size()));
  if (is_new) {
    ports_.push_back(std::move(port));
    previous_.push_back(Instant::at_ps(std::numeric_limits<int64_t>::min()));
    orders_.emplace_back();
  }
  return known->second;
}

uint32_t PauseRecorder::add_if_room(RecordedPort port) {
  const bool has_room = ports_.size() < kMaxPorts || port_by_name_.contains(port.name);
  return has_room ? add(std::move(port)) : kNoPort;
}

void PauseRecorder::take(const CapturedFrame& frame, const std::vector<CapturedInterface>& interfaces) {
  clock_.take(frame, [&](const CapturedFrame& it) { place(it, interfaces); });
}

void PauseRecorder::place(const CapturedFrame& frame, const std::vector<CapturedInterface>& interfaces) {
  first_ = tally_.frames == 0 ? frame.at : std::min(first_, frame.at);
  last_ = tally_.frames == 0 ? frame.at : std::max(last_, frame.at);
  ++tally_.frames;
  if (missed_.size() <= frame.interface) missed_.resize(frame.interface + 1);
  if (frames_.size() <= frame.interface) frames_.resize(frame.interface + 1);
  ++frames_[frame.interface];
  missed_[frame.interface] += frame.missed_before;
  const CapturedInterface& it = interfaces[frame.interface];
  if (it.is_ethernet()) return take(port_of(frame.interface, interfaces), frame);
  const auto cooked = is_cooked(it.link_type) ? read_cooked(it.link_type, frame.bytes) : std::nullopt;
  if (!cooked) {
    ++(is_cooked(it.link_type) && is_cut(frame) ? tally_.cut_frames : tally_.other_links);
    return;
  }
  CapturedFrame bare = frame;
  bare.way = cooked->way;
  bare.bytes = std::span{cooked->ethernet}.first(cooked->bytes);
  take(add_if_room(port_of_machine(cooked->interface, it, speed_)), bare);
}

void PauseRecorder::take(uint32_t port, const CapturedFrame& frame) {
  if (port == kNoPort) {
    ++tally_.omitted;
    return;
  }
  ++ports_[port].frames;
  ports_[port].seen.include(frame.at, frame.at);
  if (frame.at < previous_[port]) ++tally_.disordered;
  previous_[port] = frame.at;
  if (frame.bytes.size() < kEthernetHeaderBytes && is_cut(frame)) ++tally_.cut_frames;
  PauseFrame control;
  switch (read_pause_frame(frame.bytes, control)) {
    case MacControl::kNone: return take_other(port, frame);
    case MacControl::kPause: return hold(port, frame.way, frame.at, control);
    case MacControl::kCut: ++tally_.cut_pause_frames; return;
    case MacControl::kOther: ++tally_.other_mac_control; return;
  }
}

void PauseRecorder::take_other(uint32_t port, const CapturedFrame& frame) {
  const auto mirrored = read_mirrored(frame.bytes);
  PauseFrame ignored;
  if (mirrored && read_pause_frame(mirrored->bytes, ignored) != MacControl::kNone) {
    CapturedFrame bare = frame;
    bare.way = Way::kUnknown;  // the outer frame's way is not the mirrored one's
    bare.bytes = mirrored->bytes;
    return take(port_of_mirror(*mirrored, ports_[port]), bare);
  }
  if (mirrored && mirrored->bytes.size() < kEthernetHeaderBytes && is_cut(frame)) ++tally_.cut_frames;
  if (frame.bytes.size() >= kEthernetHeaderBytes && mac_at(frame.bytes, 0) == kPauseAddress) ++tally_.strange;
  learn(port, frame);
}

// Only the user knows how fast the mirrored link is, and nobody knows whether incoming frames of its port are mirrored.
uint32_t PauseRecorder::port_of_mirror(const MirroredFrame& frame, const RecordedPort& collector) {
  return add_if_room(
      {.name = frame.place(), .is_shared = true, .speed = speed_, .time = collector.time, .hears = false});
}

void PauseRecorder::learn(uint32_t port, const CapturedFrame& frame) {
  if (frame.way != Way::kOut || frame.bytes.size() < kMacHeaderBytes) return;
  macs_.transmitted(port, mac_at(frame.bytes, 6), mac_at(frame.bytes, 0));
}

void PauseRecorder::hold(uint32_t port, Way way, Instant at, const PauseFrame& frame) {
  ++tally_.pause_frames;
  const auto sender = sender_of({.port = port, .way = way, .mac = frame.source});
  PauseOrder& order = orders_[port];
  if (!sender || !order.put({.at = at, .sender = *sender, .frame = frame})) {
    ++tally_.omitted;
    return;
  }
  copies_.seen(*sender, at, frame);
  if (order.is_full()) pause(order.take());
}

std::optional<uint32_t> PauseRecorder::sender_of(const Sender& sender) {
  if (last_sender_ < senders_.size() && senders_[last_sender_] == sender) return last_sender_;
  if (const auto known = sender_ids_.find(sender); known != sender_ids_.end()) return last_sender_ = known->second;
  if (senders_.size() >= kMaxSenders) return std::nullopt;
  senders_.push_back(sender);
  timers_.emplace_back();
  return sender_ids_.emplace(sender, static_cast<uint32_t>(senders_.size() - 1)).first->second;
}

void PauseRecorder::pause(const PauseOrder::Held& held) {
  const Rate speed = ports_[senders_[held.sender].port].speed;
  for (uint8_t priority = 0; priority < kPauseClasses; ++priority) {
    if ((held.frame.enabled >> priority & 1) == 0) continue;
    auto& timer = timers_[held.sender][priority];
    if (!timer) timer.emplace(speed);
    add(held.sender, priority, timer->take(held.at, held.frame.quanta[priority]));
  }
}

void PauseRecorder::add(uint32_t sender, uint8_t priority, const std::optional<PauseSpan>& span) {
  if (!span) return;
  if (span->how == PauseEnd::kLapsed) ports_[senders_[sender].port].lapses.include(span->begin, span->end);
  const Duration short_below = std::min(storm_after_, least_storm(ports_[senders_[sender].port].speed));
  if (!pauses_.add({.sender = sender, .priority = priority, .span = *span}, short_below))
    tally_.omitted += span->frames;
}

void PauseRecorder::take_statistics(const std::vector<CapturedInterface>& interfaces) {
  missed_.resize(interfaces.size());
  frames_.resize(interfaces.size());
  tally_.missed = 0;
  for (size_t i = 0; i < interfaces.size(); ++i) {
    const CapturedInterface& it = interfaces[i];
    tally_.missed += std::max(missed_[i], it.dropped);  // two counts of the same frames
    tally_.is_filtered = tally_.is_filtered || !(it.filter.empty() || keeps_pause_frames(it.filter));
    if (port_of_interface_[i] == kNoPort) continue;
    ports_[port_of_interface_[i]].is_silence_known = !it.filter.empty() || it.received == frames_[i];
  }
}

void PauseRecorder::finish(const std::vector<CapturedInterface>& interfaces, uint64_t timeless) {
  clock_.finish([&](const CapturedFrame& it) { place(it, interfaces); });
  steps_ = clock_.steps();
  if (!interfaces.empty()) port_of(static_cast<uint32_t>(interfaces.size() - 1), interfaces);
  take_statistics(interfaces);
  tally_.timeless = timeless + clock_.strays().size();
  for (PauseOrder& order : orders_) {
    while (!order.empty()) pause(order.take());
  }
  for (uint32_t sender = 0; sender < senders_.size(); ++sender) {
    const Instant end = std::min(last_, ports_[senders_[sender].port].time.until);
    for (uint8_t priority = 0; priority < kPauseClasses; ++priority) {
      auto& timer = timers_[sender][priority];
      if (timer) add(sender, priority, timer->finish(end));
    }
  }
  pauses_.sort();
}

}  // namespace softspine::analysis::storm
