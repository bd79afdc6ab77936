// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/pause_state.hpp"

#include <algorithm>

namespace softspine::dataplane {

void PauseState::Account::end(Instant at) {
  if (stop_at < at) {
    paused += at - stop_at;
    ++on_to_off;
  }
  stop_at = Instant::never();
}

void PauseState::receive(const PfcFrame& frame, Instant now, Duration quantum, Duration response) noexcept {
  apply(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if ((frame.enable >> i & 1) == 0) continue;
    Account& account = accounts_[i];
    account.rx_frames += frame.is_pause ? 0 : 1;
    if (frame.quanta[i] == 0) {
      account.end(now);
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
  for (Account& account : accounts_) {
    account.end(now);
    account.until = now;
  }
  update(now);
}

void PauseState::suspend(uint8_t priorities, Instant now) noexcept {
  apply(now);
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if ((priorities >> i & 1) != 0) accounts_[i].end(now);
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

void PauseState::apply(Instant now) noexcept {
  for (Account& account : accounts_) {
    if (!account.idle() && account.until <= now) account.end(account.until);
  }
  update(now);
}

void PauseState::update(Instant now) noexcept {
  mask_ = mask_at(now);
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

}  // namespace softspine::dataplane
