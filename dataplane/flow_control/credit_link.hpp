// SPDX-License-Identifier: Apache-2.0
// One end of a link with credit-based flow control (CBFC) instead of PFC, as InfiniBand's links have it: a sender knows
// beforehand that the receiver has room for a frame, so no end ever asks the other to stop.
//
//   receiving   credit limit = received + room − held, in cells of this end, counted since the link came up. A
//               credit frame announces it when it has grown by a quarter of the room; or, once the sender has
//               used up what was announced, when it has grown by the largest frame; and whenever the sender asks
//   sending     a priority may send while limit − sent ≥ the cells that the link's largest frame takes at the
//               other end. After 50 µs without credit this end asks for it, and again each 50 µs: so a credit
//               frame that is lost costs time, but does not stop the link for ever
//
// A credit frame also carries how much its sender has sent so far, and the receiver takes that as received. So credit
// for frames that a bad cable has lost comes back. (A link is a FIFO: what was sent before the credit frame has arrived
// before it, or never will.) The size of the next frame is not looked at: a priority waits until the largest would fit.
// Priorities for which the other end grants no credit at all are not held back.
//
// Room is a promise: the switch or host that plans it keeps so much memory for the priority alone.
// Source: InfiniBand architecture, volume 1, 7.9 (link-level flow control). Cost: eight priorities per frame sent or
// received; a few operations per packet. No memory, no timers of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/packet/credit.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct CreditPlan {
  uint8_t priorities = 0;      // that need credit; 0: the link grants none
  uint32_t largest_frame = 0;  // that this end sends
  CellSize cell{};
  std::array<uint16_t, kPriorities> room{};  // cells; at most kRoomLimit
};

class CreditLink {
 public:
  static constexpr uint32_t kRoomLimit = 0x7fff;  // so that differences modulo 2^16 have a sign
  static constexpr Duration kAskAfter = Duration::us(50);

  // The counts of sent and received stay; the room is announced anew.
  void plan(const CreditPlan& plan, Instant now) noexcept;
  // The link has come up, or gone down: both ends count from 0, and no credit frame is owed while it is down. Cells
  // that are held stay held.
  void restart(bool up, Instant now) noexcept;
  bool in_use() const { return plan_.priorities != 0; }
  uint8_t priorities() const { return plan_.priorities; }

  // Priorities without credit for the largest frame.
  uint8_t starved() const { return starved_; }
  // A frame has begun to leave at `now`.
  void sent(uint8_t priority, uint32_t frame_bytes, Instant now) noexcept;
  // A frame's last bit has come in.
  void received(uint8_t priority, uint32_t frame_bytes) noexcept;
  // So many cells of a priority are held here at `now`. To be called after received(), once the frame has been stored
  // or dropped, and whenever cells are released.
  void holds(uint8_t priority, uint32_t cells, Instant now) noexcept;

  // From when on a frame is to be sent; never() if none is.
  Instant frame_at() const { return frame_at_; }
  bool owes_frame() const { return !frame_at_.is_never(); }
  CreditFrame make_frame() noexcept;
  // A credit frame whose last bit came in at `now`.
  void receive(const CreditFrame& frame, Instant now) noexcept;
  // When to ask; never() if there is credit.
  Instant ask_at() const { return ask_at_; }
  void ask(Instant now) noexcept;

  uint64_t tx_frames() const { return tx_frames_; }
  uint64_t rx_frames() const { return rx_frames_; }
  // How long the priority has been without credit by `now`, whether or not a frame waited for it. (InfiniBand counts it
  // as PortXmitWait.)
  Duration starved_time(Priority priority, Instant now) const noexcept;

 private:
  struct Account {
    uint16_t limit = 0;  // cells that this end may have sent
    uint16_t sent = 0;
    uint16_t received = 0;
    uint16_t announced = 0;  // cells that the other end may have sent
    uint32_t held = 0;
    Duration starved;
    Instant starved_since;
  };
  bool goes_by_credit(uint8_t priority) const { return (plan_.priorities >> priority & 1) != 0; }
  uint16_t limit_of(uint8_t priority) const;
  bool is_worth_a_frame(uint8_t priority) const;
  void owe_frame(Instant now) {
    if (up_) frame_at_ = std::min(frame_at_, now);
  }
  void update(uint8_t priority, Instant now) noexcept;

  CreditPlan plan_;
  CellSize their_cell_;
  int32_t largest_cells_ = 0;  // at the other end; 0: no frame received yet
  uint8_t theirs_ = 0xff;      // priorities that the other end grants credit for; all, until its first frame
  uint8_t starved_ = 0;
  bool asks_ = false;
  bool up_ = true;
  Instant frame_at_ = Instant::never();
  Instant ask_at_ = Instant::never();
  uint64_t tx_frames_ = 0;
  uint64_t rx_frames_ = 0;
  std::array<Account, kPriorities> accounts_{};
};

}  // namespace softspine::dataplane
