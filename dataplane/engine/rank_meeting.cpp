// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/rank_meeting.hpp"

#include <algorithm>

#include "dataplane/ranks/packet_bytes.hpp"

namespace softspine::dataplane {

RankMeeting::RankMeeting(RankTalk& talk, uint32_t workers, const std::vector<std::unique_ptr<Node>>& nodes,
                         const std::vector<uint32_t>& owner, PacketPool& pool)
    : talk_(talk),
      workers_(workers),
      nodes_(nodes),
      owner_(owner),
      pool_(pool),
      here_(workers, nodes),
      leaving_(size_t{workers} * talk.ranks()),
      came_(workers) {}

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

// The closed sides are worker 0's while the others wait.
WindowReport RankMeeting::exchange(const WindowReport& here) noexcept {
  ++closings_;
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankBytes& out = talk_.to(r);
    put(out, here);
    for (uint32_t w = 0; w < workers_; ++w) {
      leaving(w, r).empty_closed(closings_, [&](Message& message) { put_message(out, std::move(message)); });
    }
  }
  talk_.exchange(RankTalk::Purpose::kWindow);
  WindowReport all = here;
  for (uint32_t r = 0; r < talk_.ranks(); ++r) {
    if (r == talk_.rank()) continue;
    RankReader in{talk_.from(r)};
    all.combine(in.take<WindowReport>());
    take_messages(in, r);
  }
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
