// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/failures/lacp_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace softspine::tests {

using dataplane::Duration;
using dataplane::Instant;
namespace lacp = dataplane::lacp;

namespace {

constexpr Duration kFast = Duration::s(1);
constexpr Duration kSlow = Duration::s(30);
constexpr Duration kLate = Duration::ms(50);      // of a LACPDU
constexpr Duration kLimit = Duration::ms(1'100);  // until a LACPDU may be sent that waits for its turn
constexpr Duration kHostSlack = Duration::ms(1);  // a frame that has begun
constexpr Duration kLook = Duration::ms(25);      // every 20 ms
constexpr int64_t kHops = 8;                      // of a change through the largest fabric
constexpr uint8_t kUses = lacp::kSynchronization | lacp::kCollecting | lacp::kDistributing;

double seconds(Instant t) {
  return static_cast<double>(t.count_ps()) * 1e-12;
}

auto pdu_after(const std::vector<SentPdu>& pdus, Instant t) {
  return std::ranges::upper_bound(pdus, t, {}, &SentPdu::at);
}

}  // namespace

LacpEndView::LacpEndView(const control::Testbed& testbed, const WireLink& link, bool second)
    : link_(link), own_(&link.at(second)), partner_(&link.at(!second)) {
  const control::Fabric& fabric = testbed.fabric;
  const control::FabricNode& node = fabric.nodes[own_->end().node];
  const bool is_host = node.kind == control::NodeKind::kHost;
  slack_ = is_host ? kHostSlack : kLook + testbed.convergence_per_hop.value_or(testbed.convergence) * kHops;
  if (is_host) {
    sees_loss_ = node.bond.miimon + node.bond.downdelay;
    sees_return_ = node.bond.miimon + node.bond.updelay;
  }
  if (const control::Lag* lag = fabric.lag_of(own_->end())) {
    period_ = lag->fast_rate[lag->end_at(own_->end().node)] ? kFast : kSlow;
    agreed_ = lag->agreed;
  } else {
    const control::Bond& bond = is_host ? node.bond : fabric.nodes[partner_->end().node].bond;
    const bool asks_fast = is_host ? bond.lacp_rate == control::LacpRate::kFast : bond.fast_rate;
    period_ = asks_fast ? kFast : kSlow;
    agreed_ = true;
  }
  take_what_was_heard();
}

void LacpEndView::take_what_was_heard() {
  if (agreed_) heard_.push_back({.at = {}, .in_sync = true, .wants_fast = false});
  for (const SentPdu& each : partner_->pdus()) {
    if (!each.arrives) continue;
    const bool names_us = !own_->pdus().empty() && each.pdu.partner.is_same_port(own_->pdus().front().pdu.actor);
    heard_.push_back({.at = each.at,
                      .in_sync = names_us && each.pdu.actor.has(lacp::kSynchronization),
                      .wants_fast = each.pdu.actor.has(lacp::kShortTimeout)});
  }
}

const LacpEndView::Heard* LacpEndView::last_heard(Instant t) const {
  const auto after = std::ranges::upper_bound(heard_, t, {}, &Heard::at);
  return after == heard_.begin() ? nullptr : &*(after - 1);
}

bool LacpEndView::was_out(Instant from, Instant until) const {
  return std::ranges::any_of(link_.outages, [&](const WireLink::Outage& each) {
    return each.from <= until && (each.until.is_never() || from <= each.until + sees_return_ + kCarrierLooks);
  });
}

bool LacpEndView::has_carrier(Instant t) const {
  return std::ranges::none_of(link_.outages, [&](const WireLink::Outage& each) {
    return each.from + slack_ + kCarrierLooks < t && t + kCarrierLooks < each.until;
  });
}

std::string LacpEndView::why_not(Instant t) const {
  const Heard* const last = last_heard(t);
  if (last == nullptr) return "has never heard its partner";
  if (last->at + period_ * 3 + slack_ < t)
    return fmt::format("has heard its partner last at {:.6f} s", seconds(last->at));
  const Heard* before = last_heard(t - slack_);
  const Heard* const first = before == nullptr ? heard_.data() : before;
  if (std::none_of(first, last + 1, [](const Heard& each) { return each.in_sync; }))
    return fmt::format("has heard at {:.6f} s that its partner is not in sync", seconds(last->at));
  for (const WireLink::Outage& each : link_.outages) {
    const bool is_seen = each.until - each.from > sees_loss_ + kCarrierLooks * 2 || sees_loss_ == Duration{};
    if (!is_seen || each.until.is_never() || t <= each.until + slack_ + kCarrierLooks) continue;
    if (last->at < each.until - kCarrierLooks)
      return fmt::format("has not heard its partner since its carrier came back at {:.6f} s", seconds(each.until));
  }
  return {};
}

bool LacpEndView::uses(Instant t) const {
  const auto next = pdu_after(own_->pdus(), t);
  return next == own_->pdus().begin() ? agreed_ : (next - 1)->pdu.actor.has(kUses);
}

bool LacpEndView::says(Instant t) const {
  if (uses(t - slack_) || was_out(t - slack_, t + kLimit)) return true;
  const auto first = pdu_after(own_->pdus(), t - slack_);
  const auto beyond = pdu_after(own_->pdus(), t + kLimit);
  return std::any_of(first, beyond, [](const SentPdu& each) { return each.pdu.actor.has(kUses); });
}

bool LacpEndView::is_heard(Instant from, Instant until) const {
  const auto first = pdu_after(own_->pdus(), from);
  const auto beyond = pdu_after(own_->pdus(), until);
  return first != beyond && std::all_of(first, beyond, [](const SentPdu& each) { return each.arrives; });
}

void LacpEndView::judge_gap(Instant from, Instant until, std::vector<std::string>& out) const {
  if (was_out(from, until)) return;
  const Heard* const last = last_heard(from);
  const bool is_asked = last != nullptr && last->wants_fast && until <= last->at + period_ * 3;
  const Duration most = is_asked ? kFast : kSlow;
  if (until - from > most + kLate)
    out.push_back(fmt::format("sends no LACPDU from {:.6f} to {:.6f} s", seconds(from), seconds(until)));
}

// Each return of the carrier begins another 3 s.
void LacpEndView::judge_silence(const Heard& last, Instant until, std::vector<std::string>& out) const {
  Instant missed = last.at + period_ * 3;
  for (const WireLink::Outage& each : link_.outages) {
    if (each.until.is_never() && each.from < until) return;
    if (each.until > last.at && each.until < until)
      missed = std::max(missed, each.until + sees_return_ + kCarrierLooks);
  }
  const Instant given_up = missed + Duration::s(3) + kLate;
  if (given_up + kLimit >= until || was_out(missed, given_up + kLimit)) return;
  const auto in_sync = [](const SentPdu& each) { return each.pdu.actor.has(lacp::kSynchronization); };
  const auto& pdus = own_->pdus();
  if (std::all_of(pdu_after(pdus, missed), pdu_after(pdus, given_up + kLimit), in_sync))
    out.push_back(fmt::format("misses its partner from {:.6f} s on and does not say so", seconds(missed)));
  if (std::any_of(pdu_after(pdus, given_up), pdu_after(pdus, until), in_sync))
    out.push_back(fmt::format("misses its partner from {:.6f} s on and says it is in sync", seconds(missed)));
}

std::vector<std::string> LacpEndView::wrong_pdus(Instant end) const {
  std::vector<std::string> out;
  const auto& pdus = own_->pdus();
  Instant before;
  for (size_t i = 0; i < pdus.size(); ++i) {
    judge_gap(std::exchange(before, pdus[i].at), pdus[i].at, out);
    if (i >= 3 && pdus[i].at - pdus[i - 3].at < kFast - Duration::us(1))
      out.push_back(fmt::format("sends four LACPDUs in a second, from {:.6f} s on", seconds(pdus[i - 3].at)));
  }
  judge_gap(before, end, out);
  for (size_t i = 0; i < heard_.size(); ++i)
    judge_silence(heard_[i], i + 1 < heard_.size() ? heard_[i + 1].at : end, out);
  return out;
}

}  // namespace softspine::tests
