// SPDX-License-Identifier: Apache-2.0
#include "dataplane/lacp/lacp_port.hpp"

#include <algorithm>

namespace softspine::dataplane {

namespace {

constexpr int64_t kFastSeconds = 1;
constexpr int64_t kSlowSeconds = 30;
constexpr int64_t kExpiredPeriods = 3;
constexpr int64_t kWaitSeconds = 2;
// The bits that a LACPDU has of our state, and that are sent again when they are wrong.
constexpr uint8_t kAnnounced = lacp::kActive | lacp::kShortTimeout | lacp::kSynchronization | lacp::kAggregation;

}  // namespace

void LacpPort::set_link(bool up, Instant now) noexcept {
  if (up == (receive_ != Receive::kPortDisabled)) return;
  if (up) {
    expire(now);
    needs_to_transmit_ = true;
  } else {
    receive_ = Receive::kPortDisabled;
    current_until_ = Instant::never();
    partner_.state &= static_cast<uint8_t>(~lacp::kSynchronization);
  }
  run_mux(now);
  follow_period(now);
}

void LacpPort::begin_agreed(LacpEnd partner, Instant now) noexcept {
  constexpr uint8_t kInUse = lacp::kSynchronization | lacp::kCollecting | lacp::kDistributing;
  set_link(true, now);
  partner.state |= kInUse;
  Lacpdu implied{.actor = partner, .partner = actor_};
  implied.partner.state |= kInUse;
  record(implied, now);
  selected_ = true;
  mux_ = Mux::kCollectingDistributing;
  actor_.state |= kInUse;
  needs_to_transmit_ = false;
  follow_period(now);
}

void LacpPort::receive(const Lacpdu& pdu, Instant now) noexcept {
  if (receive_ == Receive::kPortDisabled) return;
  ++counters_.received;
  if (pdu.version != 1) ++counters_.other_versions;
  if (pdu.actor.system == actor_.system) {
    ++counters_.loops;
    is_looped_ = true;
    return;
  }
  is_looped_ = false;
  const bool is_other =
      !pdu.actor.is_same_port(partner_) || ((pdu.actor.state ^ partner_.state) & lacp::kAggregation) != 0;
  if (is_other && selected_) {
    ++counters_.partner_changes;
    select(false, now);
  }
  record(pdu, now);
  select(true, now);
  follow_period(now);
}

void LacpPort::record(const Lacpdu& pdu, Instant now) noexcept {
  const bool knows_us = pdu.partner.is_same_port(actor_);
  if (!knows_us || ((pdu.partner.state ^ actor_.state) & kAnnounced) != 0) needs_to_transmit_ = true;
  const bool agrees = knows_us && ((pdu.partner.state ^ actor_.state) & lacp::kAggregation) == 0;
  const bool is_alone = !pdu.actor.has(lacp::kAggregation);
  const bool goes_on = pdu.actor.has(lacp::kActive) || (actor_.has(lacp::kActive) && pdu.partner.has(lacp::kActive));
  partner_ = pdu.actor;
  if ((!agrees && !is_alone) || !goes_on) partner_.state &= static_cast<uint8_t>(~lacp::kSynchronization);
  actor_.state &= static_cast<uint8_t>(~(lacp::kDefaulted | lacp::kExpired));
  receive_ = Receive::kCurrent;
  const int64_t period = actor_.has(lacp::kShortTimeout) ? kFastSeconds : kSlowSeconds;
  current_until_ = now + config_.second * (period * config_.retry_count);
}

void LacpPort::expire(Instant now) noexcept {
  receive_ = Receive::kExpired;
  partner_.state &= static_cast<uint8_t>(~lacp::kSynchronization);
  partner_.state |= lacp::kShortTimeout;
  actor_.state |= lacp::kExpired;
  current_until_ = now + config_.second * (kFastSeconds * kExpiredPeriods);
}

void LacpPort::default_partner() noexcept {
  receive_ = Receive::kDefaulted;
  partner_ = {};
  actor_.state |= lacp::kDefaulted;
  actor_.state &= static_cast<uint8_t>(~lacp::kExpired);
  current_until_ = Instant::never();
}

void LacpPort::advance(Instant now) noexcept {
  if (current_until_ <= now) {
    if (receive_ == Receive::kCurrent) {
      ++counters_.expiries;
      expire(now);
    } else {
      default_partner();
      selected_ = false;
    }
  }
  run_mux(now);
  follow_period(now);  // a partner just given up asks for nothing: the fast period that ends with it is void
  if (periodic_at_ <= now) {
    needs_to_transmit_ = true;
    periodic_at_ = now + period_;
  }
}

void LacpPort::select(bool selected, Instant now) noexcept {
  selected_ = selected;
  run_mux(now);
}

void LacpPort::run_mux(Instant now) noexcept {
  while (step_mux(now)) {
  }
}

// One step of the machine; false when it stays where it is.
bool LacpPort::step_mux(Instant now) noexcept {
  const auto become = [this](Mux next, uint8_t state) {
    constexpr uint8_t kOfMux = lacp::kSynchronization | lacp::kCollecting | lacp::kDistributing;
    mux_ = next;
    if ((actor_.state & kOfMux) != state) needs_to_transmit_ = true;
    actor_.state = static_cast<uint8_t>((actor_.state & ~kOfMux) | state);
    return true;
  };
  const bool both_in_sync = partner_.has(lacp::kSynchronization);
  switch (mux_) {
    case Mux::kDetached:
      if (!selected_) return false;
      wait_until_ = now + config_.second * kWaitSeconds;
      return become(Mux::kWaiting, 0);
    case Mux::kWaiting:
      if (selected_ && now < wait_until_) return false;
      wait_until_ = Instant::never();
      return selected_ ? become(Mux::kAttached, lacp::kSynchronization) : become(Mux::kDetached, 0);
    case Mux::kAttached:
      if (!selected_) return become(Mux::kDetached, 0);
      return both_in_sync &&
             become(Mux::kCollectingDistributing, lacp::kSynchronization | lacp::kCollecting | lacp::kDistributing);
    case Mux::kCollectingDistributing:
      return (!selected_ || !both_in_sync) && become(Mux::kAttached, lacp::kSynchronization);
  }
  return false;
}

Duration LacpPort::wanted_period() const noexcept {
  const bool is_silent = !actor_.has(lacp::kActive) && !partner_.has(lacp::kActive);
  if (receive_ == Receive::kPortDisabled || is_silent) return Duration{};
  return config_.second * (partner_.has(lacp::kShortTimeout) ? kFastSeconds : kSlowSeconds);
}

// A partner that begins to ask for the fast rate is answered at once.
void LacpPort::follow_period(Instant now) noexcept {
  const Duration wanted = wanted_period();
  if (wanted == period_) return;
  if (wanted != Duration{} && wanted < period_) needs_to_transmit_ = true;
  period_ = wanted;
  periodic_at_ = wanted == Duration{} ? Instant::never() : now + wanted;
}

// Never while the port is silent; else a second after the third last LACPDU.
Instant LacpPort::may_send_at() const noexcept {
  if (period_ == Duration{}) return Instant::never();
  return sent_at_[oldest_sent_] + config_.second;
}

Instant LacpPort::next_due() const noexcept {
  const Instant timers = std::min(std::min(current_until_, periodic_at_), wait_until_);
  return needs_to_transmit_ ? std::min(timers, may_send_at()) : timers;
}

Lacpdu LacpPort::take_pdu(Instant now) noexcept {
  sent_at_[oldest_sent_] = now;
  oldest_sent_ = oldest_sent_ + 1 < sent_at_.size() ? oldest_sent_ + 1 : 0;
  ++counters_.sent;
  needs_to_transmit_ = false;
  return {.actor = actor_, .partner = partner_};
}

}  // namespace softspine::dataplane
