// SPDX-License-Identifier: Apache-2.0
// The flow control of one port, in both directions: which priorities its neighbour forbids it to send, and which frames
// it owes its neighbour. Each port of a switch, of a NIC and of a built-in host has one.
//
//   received     PFC and PAUSE frames are obeyed for the priorities in `pfc_enabled` (pause_state.hpp), and only
//                counted for the others; on a link in mode kPause PFC frames are only counted. Credit frames carry how
//                much may be sent (credit_link.hpp)
//   blocked      priorities of which no frame may begin: they are paused and not ignored, or have no credit
//   ignored      priorities whose pauses a PFC watchdog has overruled: these pauses run on, and block nothing
//   stopped      priorities that are paused and not ignored, and of which no frame is leaving any more; on a link in
//                mode kPause no frame at all
//   deaf         priorities to whose pauses a faulty port does not react: their frames are counted, but no paused time.
//                The pause timers run on: once the fault is over, what is left of a pause is obeyed
//   sent         XOFF and XON (pfc_sender.hpp), and credit frames. In mode kPause XOFF of any priority stops the whole
//                link by a PAUSE frame, and it goes on when the last XOFF has been cleared. At most one frame of each
//                kind is owed at any time; it carries the state at the begin of its departure. A PFC frame goes before
//                a credit frame
//   link down    pauses in effect end, and no frame is owed. When the link is up again, each XOFF that is still
//                raised is announced again
// How the owner of the port drives it: call advance() at next_change(), and make_frame() at next_frame(), or as soon
// after it as the wire is free. Both instants may have moved after any call that takes `now`.
// Source: 802.1Qbb (802.1Q clause 36), 802.3 annex 31B and 31D. Invariant: `now` never goes back between calls.
// Counters: PAUSE frames received and sent; per priority: PFC frames received and sent that name it, pauses that ended,
// time paused and stopped, time for which each end has asked the other to pause (pause_requests.hpp), time without
// credit. Cost: two comparisons for a packet that nothing blocks, in one cache line. No memory, no timers of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/flow_control/credit_link.hpp"
#include "dataplane/flow_control/link_parameters.hpp"
#include "dataplane/flow_control/pause_requests.hpp"
#include "dataplane/flow_control/pause_state.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/flow_control/pfc_sender.hpp"
#include "dataplane/units/prefetch.hpp"

namespace softspine::dataplane {

struct FlowControlPlan {
  LinkParameters link;
  uint8_t pfc_enabled = 0;  // bit n: pauses of priority n are obeyed
  CreditPlan credit;        // of a link that goes by credit
};

// A frame that make_frame() has written.
struct FlowControlFrame {
  enum class Kind : uint8_t { kPfc, kCredit };
  Kind kind = Kind::kPfc;
  Remark remark = Remark::kNone;
};

class alignas(kCacheLine) PortFlowControl {
 public:
  // Pauses in effect stay; frames that come from `now` on are judged by the new plan.
  void plan(const FlowControlPlan& plan, Instant now) noexcept;

  // A frame whose last bit came in at `now`, on a link of `line` rate.
  void receive(const PfcFrame& frame, Rate line, Instant now) noexcept;
  void receive(const CreditFrame& frame, Instant now) noexcept {
    credits_.receive(frame, now);
    note_changes();
  }

  // Asks the neighbour to stop these priorities; to resume them.
  void raise_xoff(uint8_t priorities, Instant now) noexcept {
    const bool is_first = raised_ == 0;
    raised_ |= priorities;
    if (is_pause()) priorities = is_first && priorities != 0 ? kWholeLink : uint8_t{0};
    pfc_.raise_xoff(priorities, now);
    note_changes();
  }
  void clear_xoff(uint8_t priorities, Instant now) noexcept {
    raised_ &= static_cast<uint8_t>(~priorities);
    if (is_pause()) priorities = raised_ == 0 ? kWholeLink : uint8_t{0};
    pfc_.clear_xoff(priorities, now);
    note_changes();
  }
  // Raises and clears, so that XOFF is raised for exactly these priorities.
  void set_xoff(uint8_t priorities, Instant now) noexcept {
    raise_xoff(static_cast<uint8_t>(priorities & ~raised_), now);
    clear_xoff(static_cast<uint8_t>(raised_ & ~priorities), now);
  }
  // Owes no frame any more, not even an XON: the neighbour's pauses end when their time runs out.
  void forget_xoff() noexcept {
    raised_ = 0;
    pfc_.forget();
    note_changes();
  }
  // The priorities whose XOFF is raised, whether PFC or PAUSE frames announce it.
  uint8_t raised_xoff() const { return raised_; }

  // From now on exactly these priorities are ignored, or the port is deaf to exactly these.
  void ignore(uint8_t priorities, Instant now) noexcept {
    ignored_ = priorities;
    pause_.overrule(priorities, now);
  }
  uint8_t ignored() const { return ignored_; }
  void make_deaf(uint8_t priorities, Instant now) noexcept;
  void link_changed(bool up, Instant now) noexcept;

  // A frame of these priorities, none of our own, has begun to leave, and is gone at `left`. A port that reports each
  // frame calls advance() before; a port may as well report the last one before each call that takes `now`.
  void leaves(uint8_t priorities, Instant left) noexcept { pause_.leaves(priorities | whole_link_, left); }

  // Applies what is due at `now` and before; returns blocked().
  uint8_t advance(Instant now) noexcept {
    if (ask_at_ <= now) [[unlikely]]
      ask(now);
    (void)pause_.advance(now);
    return blocked();
  }
  // The blocked priorities, as of the last call that took `now`.
  uint8_t blocked() const { return static_cast<uint8_t>((pause_.mask() & ~ignored_) | starved_); }
  // When the blocked priorities change by themselves; never() if they do not.
  Instant next_change() const { return pause_.next_change(); }

  // From when on make_frame() has a frame to write; never() if none is owed.
  Instant next_frame() const { return next_frame_; }
  // There was no memory for the frame: next_frame() is not before `then`.
  void defer_frames(Instant then) noexcept {
    not_before_ = then;
    note_changes();
  }
  // Writes the frame that is due into mac_control::kFrameBytes at `out`; it begins to leave at `now`, on a link of
  // `line` rate that takes `propagation`.
  FlowControlFrame make_frame(uint8_t* out, const MacAddress& own, Rate line, Duration propagation,
                              Instant now) noexcept;

  // Credit, per packet. A frame has begun to leave; one has come in; so many cells of a priority are held here now.
  bool goes_by_credit() const { return credit_priorities_ != 0; }
  uint8_t credit_priorities() const { return credit_priorities_; }
  void sent(uint8_t priority, uint32_t frame_bytes, Instant now) noexcept {
    credits_.sent(priority, frame_bytes, now);
    note_changes();
  }
  void received(uint8_t priority, uint32_t frame_bytes) noexcept { credits_.received(priority, frame_bytes); }
  void holds(uint8_t priority, uint32_t cells, Instant now) noexcept {
    credits_.holds(priority, cells, now);
    note_changes();
  }

  bool is_pause() const { return plan_.link.flow_control == LinkMode::kPause; }

  // The counters, for observers.
  const PauseState& pauses() const { return pause_; }
  const CreditLink& credits() const { return credits_; }
  uint64_t pfc_rx_frames(Priority priority) const { return pause_.rx_frames(priority); }
  uint64_t pfc_tx_frames(Priority priority) const { return is_pause() ? 0 : pfc_.frames(priority); }
  uint64_t pause_rx_frames() const { return pause_rx_frames_; }
  uint64_t pause_tx_frames() const { return is_pause() ? pfc_.frames(Priority{0}) : 0; }
  // The request to the neighbour that runs (pause_requests.hpp).
  PauseSpan tx_request(Priority priority) const noexcept { return tx_requests_.request(priority); }
  // Of pauses that this port obeys, and of those that it asks for (pause_observer.hpp).
  void observe(PauseObserver* observer) const noexcept {
    pause_.observe(observer);
    tx_requests_.observe(observer);
  }
  // For how long the neighbour has asked this port to pause, and this port the neighbour.
  Duration rx_requested(Priority priority, Instant now) const noexcept { return rx_requests_.time(priority, now); }
  Duration tx_requested(Priority priority, Instant now) const noexcept { return tx_requests_.time(priority, now); }
  // Whether all times that are counted here stand still after `now`, until a frame or a call starts one.
  bool is_at_rest(Instant now) const noexcept {
    return rx_requests_.is_over(now) && tx_requests_.is_over(now) && credits_.starved() == 0;
  }
  // Changes with every PFC frame and with the link. While it is unchanged and is_at_rest(), no pause counter changes.
  uint64_t pause_changes() const { return rx_requests_.changes() + tx_requests_.changes(); }

 private:
  static constexpr uint8_t kWholeLink = 0xff;
  uint8_t obeyed(const PfcFrame& frame) const noexcept;
  void ask(Instant now) noexcept;
  // After each call of credits_ or pfc_ that may change what is copied from them.
  void note_changes() noexcept {
    ask_at_ = credits_.ask_at();
    starved_ = credits_.starved();
    next_frame_ = std::max(std::min({pfc_.due(), credits_.frame_at(), ask_at_}), not_before_);
  }

  // One cache line, to what pause_ has first, is what a packet asks for.
  Instant ask_at_ = Instant::never();      // as credits_ has it
  Instant next_frame_ = Instant::never();  // by pfc_ and credits_
  uint8_t starved_ = 0;                    // as credits_ has it
  uint8_t credit_priorities_ = 0;          // likewise
  uint8_t ignored_ = 0;
  uint8_t whole_link_ = 0;  // in mode kPause all priorities, else none
  uint8_t deaf_ = 0;
  uint8_t raised_ = 0;
  PauseState pause_;
  CreditLink credits_;
  PfcSender pfc_;
  Instant not_before_;
  FlowControlPlan plan_;
  PauseRequests rx_requests_;
  PauseRequests tx_requests_;
  uint64_t pause_rx_frames_ = 0;
};

}  // namespace softspine::dataplane
