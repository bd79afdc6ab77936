// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/pause_state.hpp"

#include <algorithm>

namespace softspine::dataplane {

// When the pause began to stand still, whether that has been applied or not.
Instant PauseState::stands_from(size_t priority) const noexcept {
  const Account& account = accounts_[priority];
  if ((mask_ >> priority & 1) != 0) return account.stands_from;
  if ((overruled_ >> priority & 1) != 0) return Instant::never();
  return std::max(account.stop_at, last_left(priority));
}

void PauseState::stood_still(size_t priority, Instant from, Instant to) noexcept {
  if (to <= from) return;
  accounts_[priority].stopped += to - from;
  if (observer_ != nullptr) [[unlikely]]
    observer_->stood_still(Priority{static_cast<uint8_t>(priority)}, {from, to});
}

void PauseState::end(size_t priority, Instant at) noexcept {
  Account& account = accounts_[priority];
  if (account.stop_at < at) {
    account.paused += at - account.stop_at;
    ++account.on_to_off;
  }
  stood_still(priority, stands_from(priority), at);
  account.stop_at = Instant::never();
  mask_ &= static_cast<uint8_t>(~(1U << priority));
}

void PauseState::receive(const PfcFrame& frame, Instant now, Duration quantum, Duration response) noexcept {
  apply(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if ((frame.enable >> i & 1) == 0) continue;
    Account& account = accounts_[i];
    account.rx_frames += frame.is_pause ? 0 : 1;
    if (frame.quanta[i] == 0) {
      end(i, now);
      account.until = now;
      continue;
    }
    if (account.idle()) account.stop_at = now + response;
    account.until = now + quantum * frame.quanta[i];
  }
  update(now);
}

void PauseState::clear(Instant now) noexcept {
  apply(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    end(i, now);
    accounts_[i].until = now;
  }
  update(now);
}

void PauseState::suspend(uint8_t priorities, Instant now) noexcept {
  apply(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if ((priorities >> i & 1) != 0) end(i, now);
  }
  update(now);
}

void PauseState::resume(uint8_t priorities, Instant now) noexcept {
  for (size_t i = 0; i < accounts_.size(); ++i) {
    Account& account = accounts_[i];
    if ((priorities >> i & 1) != 0 && account.idle() && now < account.until) account.stop_at = now;
  }
  update(now);
}

void PauseState::overrule(uint8_t priorities, Instant now) noexcept {
  apply(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    const bool is = (priorities >> i & 1) != 0;
    if ((mask_ >> i & 1) == 0 || is == ((overruled_ >> i & 1) != 0)) continue;
    Account& account = accounts_[i];
    stood_still(i, account.stands_from, now);
    account.stands_from = is ? Instant::never() : std::max(now, last_left(i));
  }
  overruled_ = priorities;
}

void PauseState::apply(Instant now) noexcept {
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if (!accounts_[i].idle() && accounts_[i].until <= now) end(i, accounts_[i].until);
  }
  update(now);
}

void PauseState::update(Instant now) noexcept {
  const uint8_t mask = mask_at(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if ((mask >> i & 1) != 0) accounts_[i].stands_from = stands_from(i);
  }
  mask_ = mask;
  next_change_ = Instant::never();
  for (const Account& account : accounts_) {
    if (account.idle() || account.stop_at >= account.until) continue;
    next_change_ = std::min(next_change_, account.stop_at > now ? account.stop_at : account.until);
  }
}

uint8_t PauseState::mask_at(Instant now) const noexcept {
  unsigned mask = 0;
  for (size_t i = 0; i < accounts_.size(); ++i) mask |= unsigned{accounts_[i].stops(now)} << i;
  return static_cast<uint8_t>(mask);
}

Duration PauseState::paused_time(Priority priority, Instant now) const noexcept {
  const Account& account = accounts_[priority.value()];
  const Instant end = std::min(now, account.until);
  return account.stop_at < end ? account.paused + (end - account.stop_at) : account.paused;
}

Duration PauseState::stopped_time(Priority priority, Instant now) const noexcept {
  const Account& account = accounts_[priority.value()];
  const Instant from = stands_from(priority.value());
  const Instant end = std::min(now, account.until);
  return from < end ? account.stopped + (end - from) : account.stopped;
}

}  // namespace softspine::dataplane
