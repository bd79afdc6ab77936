// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/rank_meeting.hpp"

#include <algorithm>

#include "dataplane/ranks/packet_bytes.hpp"

namespace softspine::dataplane {

RankMeeting::RankMeeting(RankTalk& talk, uint32_t workers, const std::vector<std::unique_ptr<Node>>& nodes,
                         const std::vector<uint32_t>& owner, PacketPool& pool, FollowingClock* clock)
    : talk_(talk),
      workers_(workers),
      nodes_(nodes),
      owner_(owner),
      pool_(pool),
      here_(workers, nodes),
      leaving_(size_t{workers} * talk.ranks()),
      came_(workers),
      clock_(clock) {}

Outbox& RankMeeting::outbox(uint32_t from, uint32_t to) {
  const uint32_t worker = from % workers_;
  return is_here(to) ? here_.outbox(worker, to % workers_) : leaving(worker, to / workers_);
}

WindowReport RankMeeting::meet(uint32_t worker, const WindowReport& mine) noexcept {
  WindowReport here = mine;
  for (uint32_t r = 0; r < talk_.ranks(); ++r) here.next = std::min(here.next, leaving(worker, r).close_window());
  here = here_.meet(worker, here);
  if (worker == 0) all_ = exchange(here);
  here_.wait(worker);
  deliver(came_[worker]);
  return all_;
}

// All start theirs at once, see how far they are apart, and set them to rank 0's.
void RankMeeting::start_clock(Clock& clock, Instant origin) noexcept {
  if (clock_ == nullptr) return clock.start(origin);
  constexpr uint32_t kLots = 100;  // some of them have waited nowhere
  // All are here before one starts. Nothing may be stamped yet: clocks that have not started show another time.
  talk_.exchange(RankTalk::Purpose::kClock);
  clock_->start(origin);
  for (uint32_t i = 0; i < kLots; ++i) exchange_stamps();
  const Instant zero = clock_->own();
  for (uint32_t r = 0; r < talk_.ranks(); ++r) put(talk_.to(r), zero);
  talk_.exchange(RankTalk::Purpose::kClock);
  clock_->set(talk_.rank() == 0 ? zero : RankReader{talk_.from(0)}.take<Instant>(), origin);
}

void RankMeeting::exchange_stamps() noexcept {
  begin_stamps();
  for (uint32_t r = 0; r < talk_.ranks(); ++r) put(talk_.to(r), stamp_);
  talk_.exchange(RankTalk::Purpose::kClock);
  end_stamps();
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankReader in{talk_.from(r)};
    take_stamp(in, r);
  }
  has_sent_ = true;
}

void RankMeeting::begin_stamps() noexcept {
  sent_before_ = stamp_.sent;
  stamp_.sent = clock_->own();
}

void RankMeeting::end_stamps() noexcept {
  stamp_.last_came = clock_->own();
}

// Of its exchange now, and of the one before, of which it says when our lot was there.
void RankMeeting::take_stamp(RankReader& in, uint32_t rank) noexcept {
  const ClockStamp stamp = in.take<ClockStamp>();
  if (rank != 0) return;
  clock_->see_theirs(stamp.sent, stamp_.last_came);
  if (has_sent_) clock_->see_ours(sent_before_, stamp.last_came);
}

// The closed sides are worker 0's while the others wait.
WindowReport RankMeeting::exchange(const WindowReport& here) noexcept {
  ++closings_;
  if (clock_ != nullptr) begin_stamps();
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankBytes& out = talk_.to(r);
    if (clock_ != nullptr) put(out, stamp_);
    put(out, here);
    for (uint32_t w = 0; w < workers_; ++w) {
      leaving(w, r).empty_closed(closings_, [&](Message& message) { put_message(out, std::move(message)); });
    }
  }
  talk_.exchange(RankTalk::Purpose::kWindow);
  if (clock_ != nullptr) end_stamps();
  WindowReport all = here;
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankReader in{talk_.from(r)};
    if (clock_ != nullptr) take_stamp(in, r);
    all.combine(in.take<WindowReport>());
    take_messages(in, r);
  }
  if (clock_ != nullptr) clock_->follow();
  return all;
}

void RankMeeting::take_messages(RankReader& in, uint32_t rank) noexcept {
  while (!in.empty()) {
    auto message = take_message(in, pool_);
    const bool is_ours = message && message->to.value() < owner_.size() && is_here(owner_[message->to.value()]) &&
                         message->port.value() < nodes_[message->to.value()]->ports();
    if (!is_ours) talk_.lose(rank, LostRank::Why::kOutOfStep);
    if (message->packet) came_[owner_[message->to.value()] % workers_].push_back(std::move(*message));
  }
  if (!in.is_whole()) talk_.lose(rank, LostRank::Why::kOutOfStep);
}

void RankMeeting::deliver(std::vector<Message>& messages) noexcept {
  for (Message& message : messages) {
    nodes_[message.to.value()]->deliver(message.port, std::move(message.packet), message.at);
  }
  messages.clear();
}

Instant RankMeeting::share_action(Instant next) noexcept {
  here_.deliver_all();
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankBytes& out = talk_.to(r);
    put(out, next);
    for (uint32_t w = 0; w < workers_; ++w) {
      leaving(w, r).empty_both([&](Message& message) { put_message(out, std::move(message)); });
    }
  }
  talk_.exchange(RankTalk::Purpose::kAction);
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankReader in{talk_.from(r)};
    next = std::min(next, in.take<Instant>());
    take_messages(in, r);
  }
  for (std::vector<Message>& messages : came_) deliver(messages);
  return next;
}

void RankMeeting::take_back(NodeId to, PortNo port, const std::function<void(Packet)>& end) noexcept {
  const uint32_t owner = owner_[to.value()];
  if (is_here(owner)) return;
  for (uint32_t w = 0; w < workers_; ++w) {
    leaving(w, owner / workers_)
        .take_if([&](const Message& message) { return message.to == to && message.port == port; },
                 [&](Message& message) { end(std::move(message.packet)); });
  }
}

void RankMeeting::drain() noexcept {
  for (Outbox& outbox : leaving_) {
    outbox.empty_both([](Message& message) { PacketPool::release(std::move(message.packet)); });
  }
}

}  // namespace softspine::dataplane
