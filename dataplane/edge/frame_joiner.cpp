// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/frame_joiner.hpp"

#include <algorithm>
#include <cstring>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

namespace {

bool are_equal(const uint8_t* a, const uint8_t* b, uint32_t from, uint32_t to) {
  return std::memcmp(a + from, b + from, to - from) == 0;
}

// All that the headers of a flow's next segment have in common with those before, but for IPv4's ID.
bool is_like(const uint8_t* a, const uint8_t* b, const TcpSegment& at) {
  const uint8_t* const ip_a = a + at.l3;
  const uint8_t* const ip_b = b + at.l3;
  const bool is_ip_alike = at.is_ipv4 ? are_equal(ip_a, ip_b, ipv4::kVersionIhl, ipv4::kTotalLength) &&
                                            are_equal(ip_a, ip_b, ipv4::kFragment, ipv4::kChecksum)
                                      : are_equal(ip_a, ip_b, ipv6::kVersionClassFlow, ipv6::kPayloadLength) &&
                                            are_equal(ip_a, ip_b, ipv6::kNextHeader, ipv6::kSource);
  const uint8_t* const tcp_a = a + at.l4;
  const uint8_t* const tcp_b = b + at.l4;
  return is_ip_alike && are_equal(tcp_a, tcp_b, tcp::kAcknowledgement, tcp::kFlags) &&
         ((tcp_a[tcp::kFlags] ^ tcp_b[tcp::kFlags]) & ~tcp::kPush) == 0 &&
         are_equal(tcp_a, tcp_b, tcp::kWindow, tcp::kChecksum) &&
         are_equal(tcp_a, tcp_b, tcp::kUrgent, uint32_t{at.payload} - at.l4);
}

bool has_push(const uint8_t* frame, const TcpSegment& segment) {
  return (frame[segment.l4 + tcp::kFlags] & tcp::kPush) != 0;
}

// But for its checksum. Padding would come between the payloads, and what is too short is padded elsewhere.
bool may_be_joined(const Packet& packet, const TcpSegment& segment) {
  const uint8_t flags = packet.data()[segment.l4 + tcp::kFlags];
  return segment.payload_bytes != 0 && (flags | tcp::kPush) == (tcp::kAck | tcp::kPush) &&
         segment.frame_bytes() == packet.stored_bytes() && packet.stored_bytes() >= kMinFrameBytes;
}

}  // namespace

void FrameRun::begin(Packet packet, const TcpSegment& segment, Instant now) noexcept {
  state_ = State::kOpen;
  segment_ = segment;
  since_ = now;
  count_ = 0;
  bytes_ = 0;
  payload_bytes_ = 0;
  next_sequence_ = load32(packet.data() + segment.l4 + tcp::kSequence);
  add(std::move(packet), segment, now);
}

void FrameRun::add(Packet packet, const TcpSegment& segment, Instant now) noexcept {
  last_ = now;
  bytes_ += packet.frame_bytes();
  payload_bytes_ += segment.payload_bytes;
  next_sequence_ += segment.payload_bytes;
  frames_[count_++] = packet.take();
}

bool FrameRun::is_flow_of(const uint8_t* frame, const TcpSegment& segment) const noexcept {
  if (segment.l3 != segment_.l3 || segment.is_ipv4 != segment_.is_ipv4) return false;
  const uint32_t addresses = segment.l3 + (segment.is_ipv4 ? ipv4::kSource : ipv6::kSource);
  return are_equal(first(), frame, addresses, segment.l4 + tcp::kSequence) && are_equal(first(), frame, 0, segment.l3);
}

bool FrameRun::is_followed_by(const uint8_t* frame, const TcpSegment& segment) const noexcept {
  if (load32(frame + segment.l4 + tcp::kSequence) != next_sequence_ || segment.payload != segment_.payload ||
      segment.payload_bytes > segment_.payload_bytes || count_ == kMostFrames ||
      segment_.frame_bytes() - segment_.payload_bytes + payload_bytes_ + segment.payload_bytes > kMostBytes)
    return false;
  if (segment.is_ipv4) {
    const uint32_t id = segment.l3 + ipv4::kId;
    if (load16(frame + id) != static_cast<uint16_t>(load16(first() + id) + count_)) return false;
  }
  return is_like(first(), frame, segment);
}

void FrameRun::write(ForKernel& out) noexcept {
  const TcpSegment& at = segment_;
  uint8_t* const head = rte_pktmbuf_mtod(frames_[0], uint8_t*);
  out.header = {};
  out.parts[0] = {&out.header, sizeof out.header};
  out.parts[1] = {head, at.frame_bytes()};
  out.count = 2;
  if (count_ == 1) return;
  const rte_mbuf* const last = frames_[count_ - 1];
  for (uint32_t i = 1; i < count_; ++i) {
    uint8_t* const frame = rte_pktmbuf_mtod(frames_[i], uint8_t*);
    out.parts[i + 1] = {frame + at.payload, uint32_t{frames_[i]->data_len} - at.payload};
  }
  out.count = static_cast<int>(count_) + 1;
  const uint32_t tcp_bytes = uint32_t{at.payload} - at.l4 + payload_bytes_;
  uint8_t* const l3 = head + at.l3;
  if (at.is_ipv4) {
    store16(l3 + ipv4::kTotalLength, static_cast<uint16_t>(ipv4::kMinBytes + tcp_bytes));
    store16(l3 + ipv4::kChecksum, 0);
    store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
  } else {
    store16(l3 + ipv6::kPayloadLength, static_cast<uint16_t>(tcp_bytes));
  }
  head[at.l4 + tcp::kFlags] |= rte_pktmbuf_mtod(last, const uint8_t*)[at.l4 + tcp::kFlags];
  store16(head + at.l4 + tcp::kChecksum, pseudo_sum(head, at, tcp_bytes));
  out.header.flags = VirtioHeader::kNeedsChecksum;
  out.header.segments = at.is_ipv4 ? VirtioHeader::kTcp4 : VirtioHeader::kTcp6;
  out.header.header_bytes = at.payload;
  out.header.segment_bytes = at.payload_bytes;
  out.header.checksum_start = at.l4;
  out.header.checksum_offset = tcp::kChecksum;
}

bool FrameJoiner::take(Packet& packet, Instant now) noexcept {
  if (packet.elided_bytes() != 0) return false;
  const auto segment = tcp_segment_in(packet.data(), packet.stored_bytes());
  if (!segment) return false;
  const bool is_held = hold(packet, *segment, now);
  find_due();
  return is_held;
}

bool FrameJoiner::hold(Packet& packet, const TcpSegment& segment, Instant now) noexcept {
  FrameRun* const run = open_ == 0 ? nullptr : find(packet.data(), segment);
  if (run == nullptr && !may_be_joined(packet, segment)) return false;
  const bool ends_run = has_push(packet.data(), segment);
  const bool is_good =
      may_be_joined(packet, segment) && (run != nullptr || !ends_run) && has_good_checksums(packet.data(), segment);
  if (run != nullptr && is_good && run->is_followed_by(packet.data(), segment)) {
    run->add(std::move(packet), segment, now);
    ++frames_;
    if (ends_run || segment.payload_bytes < run->segment_.payload_bytes) close(*run);
    return true;
  }
  if (run != nullptr) close(*run);
  if (!is_good || ends_run) return false;
  const auto free = std::ranges::find(runs_, FrameRun::State::kFree, &FrameRun::state_);
  if (free == runs_.end()) {
    close_all();
    return false;
  }
  free->begin(std::move(packet), segment, now);
  ++frames_;
  ++open_;
  return true;
}

FrameRun* FrameJoiner::find(const uint8_t* frame, const TcpSegment& segment) noexcept {
  for (FrameRun& run : runs_) {
    if (run.state_ == FrameRun::State::kOpen && run.is_flow_of(frame, segment)) return &run;
  }
  return nullptr;
}

void FrameJoiner::close(FrameRun& run) noexcept {
  run.state_ = FrameRun::State::kClosed;
  --open_;
  ++closed_;
}

void FrameJoiner::close_due(Instant now) noexcept {
  for (FrameRun& run : runs_) {
    if (run.state_ == FrameRun::State::kOpen && due_of(run) <= now) close(run);
  }
  find_due();
}

void FrameJoiner::find_due() noexcept {
  due_ = Instant::never();
  if (open_ == 0) return;
  for (const FrameRun& run : runs_) {
    if (run.state_ == FrameRun::State::kOpen) due_ = std::min(due_, due_of(run));
  }
}

FrameRun* FrameJoiner::next_closed() noexcept {
  if (closed_ == 0) return nullptr;
  return &*std::ranges::find(runs_, FrameRun::State::kClosed, &FrameRun::state_);
}

void FrameJoiner::reuse(FrameRun& run) noexcept {
  frames_ -= run.count_;
  run.state_ = FrameRun::State::kFree;
  --closed_;
}

}  // namespace softspine::dataplane
