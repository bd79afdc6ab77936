// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/reliable_sender.hpp"

#include <cstddef>

#include "testbeds/hosts/roce_headers.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

Duration timeout_of(uint8_t exponent) {
  return exponent == 0 ? Duration::max() : Duration::ns(4096) * (int64_t{1} << exponent);
}
// As many messages as a window can touch: the first and the last may be there in part.
uint32_t messages_under_way(const FlowConfig& flow) {
  const uint32_t window = flow.reliable.window;
  if (flow.queue_depth == 0) return (window - 1) / packets_per_message(flow) + 2;
  return std::min(flow.queue_depth, window + 1);
}

}  // namespace

ReliableSender::ReliableSender(uint32_t flow, const FlowConfig& config, Rate line)
    : queue_(queue_of(config)),
      window_(config.reliable.window),
      window_limit_(config.reliable.window),
      ready_(config.start),
      timeout_(timeout_of(config.reliable.ack_timeout)),
      first_timeout_(config.reliable.adaptive_retransmission),
      ack_every_(asks_always(config.reliable.congestion_control) ? 1 : config.reliable.ack_every),
      first_psn_(config.first_psn),
      flow_(flow),
      retries_allowed_(config.reliable.retries),
      gap_(config.gap),
      begins_(messages_under_way(config)),
      mtu_(config.mtu),
      ttl_before_bth_(version_of(config.destination) == IpVersion::k4 ? ipv4::kMinBytes - ipv4::kTtl + udp::kBytes
                                                                      : ipv6::kBytes - ipv6::kHopLimit + udp::kBytes),
      limiter_(config.rate, config.reliable.congestion_control, line, config.mtu),
      asks_(limiter_.control().uses_acks() ? window_ : 0) {
  static_assert(offsetof(ReliableSender, ready_) == kCacheLine && offsetof(ReliableSender, gap_) == 2 * kCacheLine);
  static_assert(offsetof(ReliableSender, limiter_) == 3 * kCacheLine);
  adjust_window();
}

bool ReliableSender::sent(Instant start, Instant left, uint32_t wire_bytes, FlowSent& counters) noexcept {
  limiter_.sent(start, wire_bytes);
  const bool asks = queue_.is_last() || since_asked_ + 1 >= ask_every();
  since_asked_ = asks ? 0 : since_asked_ + 1;
  const bool is_new = queue_.next() == highest_;
  if (asks && is_new) asks_.note(queue_.next(), left);
  if (is_new && queue_.position() == 0) begins_[begun_++ % begins_.size()] = start;
  if (!is_new) ++counters.reliable.retransmitted_packets;
  const bool ended = queue_.advance();
  highest_ = std::max(highest_, queue_.next());
  if (deadline_.is_never()) deadline_ = new_deadline(left);
  // As long as its pace holds it back, the window does not.
  if (queue_.next() - una_ >= window_limit_ && queue_.has_next())
    full_since_ = std::max(left, limiter_.eligible(start));
  if (!ended) return false;
  if (is_new && gap_.count_ps() > 0) ready_ = std::max(ready_, left) + gap_;
  return is_new;
}

void ReliableSender::acknowledge(const RoceFrame& frame, Instant now, FlowSent& counters, Histogram& times) noexcept {
  const uint64_t ahead = (frame.psn - psn_of(una_)) & bth::kMask24;
  if (ahead >= under_way() || has_failed_) return;
  if (limiter_.control().uses_acks()) on_ack(una_ + ahead + 1, &frame, now, counters);
  advance_to(una_ + ahead + 1, now, counters, times);
}

void ReliableSender::go_back(uint32_t psn, Instant now, FlowSent& counters, Histogram& times) noexcept {
  const uint64_t ahead = (psn - psn_of(una_)) & bth::kMask24;
  if (ahead >= under_way() || has_failed_) return;
  ++counters.reliable.packet_seq_err;
  if (ahead > 0 && limiter_.control().uses_acks()) on_ack(una_ + ahead, nullptr, now, counters);
  if (limiter_.control().uses_acks()) {
    limiter_.on_nak(now);
    adjust_window();
  }
  if (ahead > 0) advance_to(una_ + ahead, now, counters, times);
  deadline_ = new_deadline(now);
  restart_at(una_);
}

void ReliableSender::receive_cnp(Instant now, FlowSent& counters) noexcept {
  ++(limiter_.control().uses_cnps() ? counters.reliable.rp_cnp_handled : counters.reliable.rp_cnp_ignored);
  limiter_.on_cnp(now);
  adjust_window();
}

// Everything before `una` is acknowledged, by this positive acknowledgement; null: by a negative one. Acknowledgements
// are stored whole: nobody leaves out zeros of theirs.
void ReliableSender::on_ack(uint64_t una, const RoceFrame* frame, Instant now, FlowSent& counters) noexcept {
  const std::optional<Duration> rtt = asks_.take(una - 1, now);
  Acknowledgement ack{.bytes = queue_.payload_before(una) - queue_.payload_before(una_),
                      .packets = una - una_,
                      .acked = una,
                      .next = std::max(una, queue_.next())};
  telemetry::Record record;
  if (frame != nullptr) {
    ack.rtt = rtt;
    last_rtt_ = rtt.value_or(last_rtt_);
    ack.ecn = frame->is_marked;
    ack.echo = (frame->bth[bth::kCongestion] & bth::kBecn) != 0;
    ack.hops = static_cast<uint8_t>(kResponseTtl - *(frame->bth - ttl_before_bth_));
    if (limiter_.control().uses_telemetry() && frame->payload_bytes >= telemetry::kBytes) {
      record = telemetry::read(frame->bth + bth::kBytes + aeth::kBytes);
      ack.telemetry = &record;
    }
    counters.reliable.ce_echoes += ack.echo ? 1 : 0;
    counters.reliable.telemetry_acks += record.count > 0 ? 1 : 0;
  }
  limiter_.on_ack(now, ack);
  adjust_window();
}

void ReliableSender::adjust_window() noexcept {
  const uint64_t part = limiter_.control().begins_below_window() ? mtu_ - 1 : 0;
  const uint64_t packets = (limiter_.control().window_bytes() + part) / mtu_;
  window_ = static_cast<uint32_t>(std::clamp<uint64_t>(packets, 1, window_limit_));
}

bool ReliableSender::is_the_end() const noexcept {
  if (first_timeout_.count_ps() == 0) return retries_ == retries_allowed_;
  return timeout_ != Duration::max() && waited_ >= timeout_ * int64_t{retries_allowed_};
}

void ReliableSender::time_out(Instant now, FlowSent& counters) noexcept {
  ++counters.reliable.local_ack_timeout_err;
  if (first_timeout_.count_ps() != 0) waited_ = waited_ + timeout_now();
  if (is_the_end()) {
    counters.reliable.retry_exceeded_err = 1;
    has_failed_ = true;
    deadline_ = Instant::never();
    return;
  }
  ++retries_;
  deadline_ = new_deadline(now);
  restart_at(una_);
  limiter_.on_timeout(now);
  adjust_window();
}

void ReliableSender::advance_to(uint64_t una, Instant now, FlowSent& counters, Histogram& times) noexcept {
  una_ = una;
  end_window_wait(now, counters);
  if (queue_.next() < una_) restart_at(una_);
  if (retries_ != 0) {
    retries_ = 0;
    waited_ = {};
  }
  deadline_ = new_deadline(now);
  if (queue_.message_end() > una_) return;
  queue_.complete(una_, [&](uint64_t tag) {
    const Duration time = now - begins_[completed_++ % begins_.size()];
    times.add(time.count_ps());
    ++counters.reliable.completed_messages;
    counters.last_completed = now;
    if (events_ != nullptr) events_->completed(flow_, tag, now);
  });
}

void ReliableSender::end_window_wait(Instant now, FlowSent& counters) noexcept {
  if (full_since_ < now) {
    ++counters.reliable.window_waits;
    counters.reliable.window_wait_ps += static_cast<uint64_t>((now - full_since_).count_ps());
  }
  full_since_ = Instant::never();
}

void ReliableSender::restart_at(uint64_t number) noexcept {
  full_since_ = Instant::never();
  queue_.go_to(number);
  since_asked_ = 0;
  asks_.forget();
}

}  // namespace softspine::testbeds
