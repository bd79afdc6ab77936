// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/credit_link.hpp"

#include <algorithm>

namespace softspine::dataplane {

void CreditLink::plan(const CreditPlan& plan, Instant now) noexcept {
  if (!in_use() && plan.priorities == 0) return;
  plan_ = plan;
  if (largest_cells_ != 0) largest_cells_ = static_cast<int32_t>(their_cell_.cells_of(plan.largest_frame));
  for (uint8_t p = 0; p < kPriorities; ++p) update(p, now);
  if (in_use()) return owe_frame(now);
  frame_at_ = Instant::never();
}

void CreditLink::restart(bool up, Instant now) noexcept {
  if (!in_use()) return;
  for (Account& account : accounts_) account.limit = account.sent = account.received = account.announced = 0;
  largest_cells_ = 0;
  theirs_ = 0xff;
  asks_ = false;
  up_ = up;
  for (uint8_t p = 0; p < kPriorities; ++p) update(p, now);
  frame_at_ = up ? now : Instant::never();
  ask_at_ = up && starved_ != 0 ? now + kAskAfter : Instant::never();
}

// Whether the priority has credit.
void CreditLink::update(uint8_t priority, Instant now) noexcept {
  Account& account = accounts_[priority];
  const auto bit = static_cast<uint8_t>(1U << priority);
  const auto left = static_cast<int16_t>(static_cast<uint16_t>(account.limit - account.sent));
  const bool counts = goes_by_credit(priority) && (theirs_ & bit) != 0;
  const bool starves = counts && (largest_cells_ == 0 || left < largest_cells_);
  if (starves == ((starved_ & bit) != 0)) return;
  starved_ ^= bit;
  if (starves) {
    account.starved_since = now;
    ask_at_ = std::min(ask_at_, now + kAskAfter);
  } else {
    account.starved += now - account.starved_since;
    if (starved_ == 0) ask_at_ = Instant::never();
  }
}

void CreditLink::sent(uint8_t priority, uint32_t frame_bytes, Instant now) noexcept {
  if (!goes_by_credit(priority)) return;
  accounts_[priority].sent += static_cast<uint16_t>(their_cell_.cells_of(frame_bytes));
  update(priority, now);
}

void CreditLink::received(uint8_t priority, uint32_t frame_bytes) noexcept {
  if (!goes_by_credit(priority)) return;
  accounts_[priority].received += static_cast<uint16_t>(plan_.cell.cells_of(frame_bytes));
}

// Bytes held beyond the room (copies, a room that has shrunk) are nobody's credit.
uint16_t CreditLink::limit_of(uint8_t priority) const {
  const Account& account = accounts_[priority];
  const uint32_t room = plan_.room[priority];
  return static_cast<uint16_t>(account.received + (room - std::min(room, account.held)));
}

void CreditLink::holds(uint8_t priority, uint32_t cells, Instant now) noexcept {
  if (!goes_by_credit(priority)) return;
  accounts_[priority].held = cells;
  if (is_worth_a_frame(priority)) owe_frame(now);
}

// The largest frame of either end is the link's.
bool CreditLink::is_worth_a_frame(uint8_t priority) const {
  const Account& account = accounts_[priority];
  const auto grown = static_cast<int16_t>(static_cast<uint16_t>(limit_of(priority) - account.announced));
  const auto unused = static_cast<int16_t>(static_cast<uint16_t>(account.announced - account.received));
  const auto largest = static_cast<int32_t>(plan_.cell.cells_of(plan_.largest_frame));
  const int32_t least = unused < largest ? std::min(largest, plan_.room[priority] / 4) : plan_.room[priority] / 4;
  return grown > 0 && grown >= least;
}

CreditFrame CreditLink::make_frame() noexcept {
  CreditFrame frame{
      .priorities = plan_.priorities, .asks = asks_, .cell_bytes = static_cast<uint16_t>(plan_.cell.bytes())};
  for (uint8_t p = 0; p < kPriorities; ++p) {
    accounts_[p].announced = limit_of(p);
    frame.limit[p] = accounts_[p].announced;
    frame.sent[p] = accounts_[p].sent;
  }
  asks_ = false;
  frame_at_ = Instant::never();
  ++tx_frames_;
  return frame;
}

void CreditLink::receive(const CreditFrame& frame, Instant now) noexcept {
  ++rx_frames_;
  theirs_ = frame.priorities;
  their_cell_ = CellSize(frame.cell_bytes);
  largest_cells_ = static_cast<int32_t>(their_cell_.cells_of(plan_.largest_frame));
  for (uint8_t p = 0; p < kPriorities; ++p) {
    if (!goes_by_credit(p)) continue;
    accounts_[p].limit = frame.limit[p];
    if ((frame.priorities >> p & 1) != 0) accounts_[p].received = frame.sent[p];
    update(p, now);
    holds(p, accounts_[p].held, now);
  }
  if (frame.asks) owe_frame(now);
}

void CreditLink::ask(Instant now) noexcept {
  asks_ = true;
  owe_frame(now);
  ask_at_ = now + kAskAfter;
}

Duration CreditLink::starved_time(Priority priority, Instant now) const noexcept {
  const Account& account = accounts_[priority.value()];
  const bool starves = (starved_ >> priority.value() & 1) != 0;
  return starves ? account.starved + (now - account.starved_since) : account.starved;
}

}  // namespace softspine::dataplane
