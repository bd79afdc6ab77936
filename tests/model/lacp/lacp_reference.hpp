// SPDX-License-Identifier: Apache-2.0
// LACP of one port as the tables of 802.1AX-2014 have it (6.4.12 to 6.4.16), evaluated anew at every tick of a tenth of
// a second, with timers that count down. Slow, and of one mind with nobody: it shares with the code only the LACPDU.
#pragma once

#include <deque>
#include <optional>

#include "dataplane/lacp/lacp_port.hpp"

namespace softspine::dataplane {

class LacpReference {
 public:
  static constexpr int kSecond = 10;  // ticks

  explicit LacpReference(const LacpEnd& us) : actor(us) { set(lacp::kDefaulted, true); }

  // What happens at one tick, in this order: timers, the link, a LACPDU, what is sent.
  std::optional<Lacpdu> tick(bool link_is_up, const std::optional<Lacpdu>& pdu) {
    for (int* timer : {&current_while, &periodic_timer, &wait_while}) *timer -= *timer > 0 ? 1 : 0;
    for (int& age : sent_ages) ++age;
    settle();
    port_enabled = link_is_up;
    settle();
    if (pdu && port_enabled && pdu->actor.system != actor.system) {
      arrived = pdu;
      settle();
    }
    return transmit();
  }

  LacpEnd actor;
  LacpEnd partner;
  bool distributing() const { return mux == Mux::kCollectingDistributing; }

 private:
  enum class Receive { kPortDisabled, kExpired, kDefaulted, kCurrent };
  enum class Periodic { kNone, kFast, kSlow, kTx };
  enum class Mux { kDetached, kWaiting, kAttached, kCollectingDistributing };

  void set(uint8_t bit, bool value) {
    actor.state = static_cast<uint8_t>(value ? actor.state | bit : actor.state & ~bit);
  }
  bool partner_is(uint8_t bit) const { return (partner.state & bit) != 0; }
  bool actor_is(uint8_t bit) const { return (actor.state & bit) != 0; }

  void settle() {
    for (bool moved = true; moved;) {
      moved = step_receive();
      moved = step_mux() || moved;
      moved = step_periodic() || moved;
    }
  }

  // Figure 6-18.
  bool step_receive() {
    if (!port_enabled) {
      if (receive == Receive::kPortDisabled) return false;
      receive = Receive::kPortDisabled;
      partner.state &= static_cast<uint8_t>(~lacp::kSynchronization);
      return true;
    }
    if (receive == Receive::kPortDisabled) {
      ntt = true;
      enter_expired();
      return true;
    }
    if (arrived) {
      // update_Selected detaches the port before the partner is recorded.
      const bool same = arrived->actor.is_same_port(partner) &&
                        ((arrived->actor.state & lacp::kAggregation) != 0) == partner_is(lacp::kAggregation);
      if (!same && selected) {
        selected = false;
        return true;
      }
      if (!same && mux != Mux::kDetached) return false;  // the mux machine detaches first
      enter_current(*arrived);
      arrived.reset();
      return true;
    }
    if (receive == Receive::kExpired && current_while == 0) {
      receive = Receive::kDefaulted;
      partner = {};
      set(lacp::kDefaulted, true);
      set(lacp::kExpired, false);
      selected = false;
      return true;
    }
    if (receive == Receive::kCurrent && current_while == 0) {
      enter_expired();
      return true;
    }
    return false;
  }

  void enter_expired() {
    receive = Receive::kExpired;
    partner.state = static_cast<uint8_t>((partner.state & ~lacp::kSynchronization) | lacp::kShortTimeout);
    current_while = 3 * kSecond;
    set(lacp::kExpired, true);
  }

  void enter_current(const Lacpdu& pdu) {
    receive = Receive::kCurrent;
    const LacpEnd& of_us = pdu.partner;
    const bool port_matches = of_us.port == actor.port && of_us.port_priority == actor.port_priority &&
                              of_us.system == actor.system && of_us.system_priority == actor.system_priority &&
                              of_us.key == actor.key;
    for (const uint8_t bit : {lacp::kActive, lacp::kShortTimeout, lacp::kSynchronization, lacp::kAggregation}) {
      if (!port_matches || (of_us.state & bit) != (actor.state & bit)) ntt = true;
    }
    const bool aggregation_matches = (of_us.state & lacp::kAggregation) == (actor.state & lacp::kAggregation);
    const bool individual = (pdu.actor.state & lacp::kAggregation) == 0;
    const bool active =
        (pdu.actor.state & lacp::kActive) != 0 || (actor_is(lacp::kActive) && (of_us.state & lacp::kActive) != 0);
    const bool in_sync = (pdu.actor.state & lacp::kSynchronization) != 0;
    partner = pdu.actor;
    if (!(((port_matches && aggregation_matches) || individual) && in_sync && active)) {
      partner.state &= static_cast<uint8_t>(~lacp::kSynchronization);
    }
    set(lacp::kDefaulted, false);
    set(lacp::kExpired, false);
    current_while = 3 * (actor_is(lacp::kShortTimeout) ? 1 : 30) * kSecond;
    selected = true;
  }

  // Figure 6-22: coupled control.
  bool step_mux() {
    switch (mux) {
      case Mux::kDetached:
        if (!selected) return false;
        mux = Mux::kWaiting;
        wait_while = 2 * kSecond;
        return true;
      case Mux::kWaiting:
        if (!selected) {
          mux = Mux::kDetached;
          return true;
        }
        if (wait_while > 0) return false;
        mux = Mux::kAttached;
        set(lacp::kSynchronization, true);
        ntt = true;
        return true;
      case Mux::kAttached:
        if (!selected) {
          mux = Mux::kDetached;
          set(lacp::kSynchronization, false);
          ntt = true;
          return true;
        }
        if (!partner_is(lacp::kSynchronization)) return false;
        mux = Mux::kCollectingDistributing;
        set(lacp::kCollecting, true);
        set(lacp::kDistributing, true);
        ntt = true;
        return true;
      case Mux::kCollectingDistributing:
        if (selected && partner_is(lacp::kSynchronization)) return false;
        mux = Mux::kAttached;
        set(lacp::kCollecting, false);
        set(lacp::kDistributing, false);
        ntt = true;
        return true;
    }
    return false;
  }

  // Figure 6-19. When the partner is given up as the fast period ends, both of FAST's exits are open and the standard
  // leaves the choice: SLOW, for the partner asks for nothing any more.
  bool step_periodic() {
    const bool none = !port_enabled || (!actor_is(lacp::kActive) && !partner_is(lacp::kActive));
    const Periodic before = periodic;
    if (none) {
      periodic = Periodic::kNone;
      return before != periodic;
    }
    const bool fast = partner_is(lacp::kShortTimeout);
    switch (periodic) {
      case Periodic::kNone: enter_period(true); break;
      case Periodic::kFast:
        if (!fast) {
          enter_period(false);
        } else if (periodic_timer == 0) {
          periodic = Periodic::kTx;
        }
        break;
      case Periodic::kSlow:
        if (fast || periodic_timer == 0) periodic = Periodic::kTx;
        break;
      case Periodic::kTx:
        ntt = true;
        enter_period(fast);
        break;
    }
    return before != periodic;
  }
  void enter_period(bool fast) {
    periodic = fast ? Periodic::kFast : Periodic::kSlow;
    periodic_timer = (fast ? 1 : 30) * kSecond;
  }

  // 6.4.16: at most three in any Fast_Periodic_Time, wherever it begins.
  std::optional<Lacpdu> transmit() {
    if (!ntt || periodic == Periodic::kNone) return std::nullopt;
    while (!sent_ages.empty() && sent_ages.front() >= kSecond) sent_ages.pop_front();
    if (sent_ages.size() == 3) return std::nullopt;
    sent_ages.push_back(0);
    ntt = false;
    return Lacpdu{.actor = actor, .partner = partner};
  }

  bool port_enabled = false;
  bool selected = false;
  bool ntt = false;
  std::optional<Lacpdu> arrived;
  Receive receive = Receive::kPortDisabled;
  Periodic periodic = Periodic::kNone;
  Mux mux = Mux::kDetached;
  int current_while = 0;
  int periodic_timer = 0;
  int wait_while = 0;
  std::deque<int> sent_ages;  // ticks since each LACPDU of the last second
};

}  // namespace softspine::dataplane
