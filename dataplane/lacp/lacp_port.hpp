// SPDX-License-Identifier: Apache-2.0
// LACP at one port (802.1AX-2014, 6.4): the machines that decide whether the port is part of an aggregate.
//
//   receive    CURRENT ── no LACPDU for 3 periods ──► EXPIRED ── 3 s ──► DEFAULTED; every LACPDU leads to CURRENT. The
//              periods are those that we ask for: 1 s with kShortTimeout in our state, else 30 s. How many they are is
//              configured (SONiC's retry count)
//   periodic   a LACPDU every second if the partner asks for that, else every 30 s; none when neither end is active
//   selection  a port whose partner is known is selected; one whose partner changes (system, key, port) is detached
//              first. Each port is an aggregate of its own: the host on the other side joins them. A port that gets its
//              own system's LACPDUs is looped back, and is not selected
//   mux        DETACHED ─ selected, 2 s ─► ATTACHED (in sync) ─ partner in sync ─► COLLECTING_DISTRIBUTING
//   transmit   when something has changed that the partner should know; at most 3 LACPDUs in any second
//
// Without a partner the port is not used: there is no fallback to an individual port.
// The length of a second is configured: emulated time may be dilated for a host that lives on the machine's clock.
// Invariants: is_distributing() only in CURRENT with a partner in sync; a LACPDU that may go at once is due at an
// instant that has passed. The caller makes the calls in the order of time, advance() at next_due() at the latest, and
// sends what is due.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/lacp/lacpdu.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct LacpConfig {
  LacpEnd actor;  // of its state: kActive, kShortTimeout, kAggregation
  Duration second = Duration::s(1);
  uint8_t retry_count = 3;  // periods of silence
};

struct LacpCounters {
  uint64_t received = 0;
  uint64_t sent = 0;
  uint64_t faulty = 0;           // not readable as a LACPDU
  uint64_t other_versions = 0;   // of those received: another version than 1; obeyed, as the standard asks
  uint64_t loops = 0;            // received LACPDUs of our own system
  uint64_t partner_changes = 0;  // another system, key or port than before
  uint64_t expiries = 0;         // times that no LACPDU of the partner came for so many periods
};

class LacpPort {
 public:
  enum class Receive : uint8_t { kPortDisabled, kExpired, kDefaulted, kCurrent };
  enum class Mux : uint8_t { kDetached, kWaiting, kAttached, kCollectingDistributing };

  // The port's link is down until set_link().
  explicit LacpPort(const LacpConfig& config) : config_(config), actor_(config.actor) {
    actor_.state |= lacp::kDefaulted;
    sent_at_.fill(Instant{} - config.second);
  }

  void set_link(bool up, Instant now) noexcept;
  // As if both ends had agreed before, and the partner's last LACPDU had come now. The state in `partner` is the one
  // that the partner was configured with.
  void begin_agreed(LacpEnd partner, Instant now) noexcept;
  void receive(const Lacpdu& pdu, Instant now) noexcept;
  void receive_faulty() noexcept { ++counters_.faulty; }
  void advance(Instant now) noexcept;
  Instant next_due() const noexcept;

  // Whether a LACPDU is due now; taking it counts it as sent.
  bool wants_to_send(Instant now) const noexcept { return needs_to_transmit_ && may_send_at() <= now; }
  Lacpdu take_pdu(Instant now) noexcept;

  bool is_distributing() const { return mux_ == Mux::kCollectingDistributing; }
  bool is_looped() const { return is_looped_; }
  Receive receive_state() const { return receive_; }
  Mux mux_state() const { return mux_; }
  const LacpEnd& actor() const { return actor_; }
  const LacpEnd& partner() const { return partner_; }
  const LacpCounters& counters() const { return counters_; }

 private:
  void expire(Instant now) noexcept;
  void default_partner() noexcept;
  void record(const Lacpdu& pdu, Instant now) noexcept;
  void select(bool selected, Instant now) noexcept;
  void run_mux(Instant now) noexcept;
  bool step_mux(Instant now) noexcept;
  void follow_period(Instant now) noexcept;
  Duration wanted_period() const noexcept;
  Instant may_send_at() const noexcept;

  LacpConfig config_;
  LacpEnd actor_;
  LacpEnd partner_;
  LacpCounters counters_;
  Receive receive_ = Receive::kPortDisabled;
  Mux mux_ = Mux::kDetached;
  bool is_looped_ = false;
  bool selected_ = false;
  bool needs_to_transmit_ = false;
  Duration period_;  // zero: none
  Instant periodic_at_ = Instant::never();
  Instant current_until_ = Instant::never();
  Instant wait_until_ = Instant::never();
  std::array<Instant, 3> sent_at_;  // the latest LACPDUs, in a ring; those never sent: a second before the start
  uint32_t oldest_sent_ = 0;
};

}  // namespace softspine::dataplane
