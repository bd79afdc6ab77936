// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/connection_book.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace softspine::testbeds {

using namespace dataplane;
using Attribute = ConnectionAttribute;
using Kind = ConnectionEventKind;
using State = Connection::State;

int ConnectionBook::create(const Connection& draft, uint32_t& number) {
  Connection* const made = all_.add(number);
  if (made == nullptr) return ENOMEM;
  *made = draft;
  made->number = number;
  return 0;
}

Connection* ConnectionBook::find(uint32_t number, uint32_t client) const {
  Connection* const found = all_.find(number);
  return found != nullptr && found->client == client ? found : nullptr;
}

// Far from those before: by PSNs a NIC learns which queue pairs belong together.
uint32_t ConnectionBook::next_psn() {
  last_psn_ += 0x9e3779b1;
  return last_psn_ >> 8;
}

ConnectionMessage ConnectionBook::message_of(const Connection& one, Attribute attribute) {
  ConnectionMessage message;
  message.attribute = attribute;
  message.transaction = one.transaction;
  message.local_id = one.number;
  message.remote_id = one.remote_id;
  if (attribute == Attribute::kDisconnectRequest) message.qp = one.remote.qp;
  return message;
}

void ConnectionBook::answered_by_program(Connection& one) {
  if (Connection* const listener = all_.find(std::exchange(one.listener, 0))) --listener->waiting;
}

void ConnectionBook::tell(Connection& one, Kind kind, int32_t status, const ConnectionParameters& what) {
  if (one.uid == 0) return;
  push(one.channel, {.kind = kind,
                     .uid = one.uid,
                     .connection = one.number,
                     .named = one.number,
                     .status = status,
                     .parameters = what});
}

// A channel's descriptor holds one word for each event, so a program can wait for it.
void ConnectionBook::push(uint32_t channel, const ConnectionEvent& event) {
  const CompletionChannel* const to = ground_.objects.channels.find(channel);
  if (to == nullptr) return;
  std::deque<ConnectionEvent>& events = events_[channel];
  if (events.size() >= kEventLimit) return;
  events.push_back(event);
  static_cast<void>(::send(to->fd.get(), &event.kind, sizeof event.kind, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void ConnectionBook::drop_events(const Connection& one) {
  const auto found = events_.find(one.channel);
  if (found == events_.end()) return;
  std::erase_if(found->second, [&](const ConnectionEvent& event) { return event.connection == one.number; });
  if (found->second.empty()) events_.erase(found);
}

std::optional<ConnectionEvent> ConnectionBook::take_event(uint32_t channel, uint32_t client) {
  const auto found = events_.find(channel);
  if (found == events_.end() || found->second.empty()) return std::nullopt;
  const ConnectionEvent event = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) events_.erase(found);
  Connection* const whose = find(event.connection, client);
  if (whose == nullptr) return std::nullopt;
  ++whose->events_reported;
  return event;
}

void ConnectionBook::post(const Connection& one, const ConnectionMessage& message) {
  if (queued_.size() < kQueueLimit) queued_.push_back({one.number, one.destination, message});
}

void ConnectionBook::post_to(const IpAddress& to, const ConnectionMessage& message) {
  if (queued_.size() < kQueueLimit) queued_.push_back({0, to, message});
}

void ConnectionBook::post_until_answered(Connection& one, const ConnectionMessage& message) {
  one.pending = message;
  one.sends_left = kSends;
  post(one, message);
}

void ConnectionBook::stop_waiting(Connection& one) {
  one.pending.reset();
  set_timer(one, Instant::never());
}

void ConnectionBook::set_timer(Connection& one, Instant at) {
  if (!one.timer_at.is_never()) timers_.remove(one.number % kLimit);
  if (!at.is_never()) timers_.push(at, one.number % kLimit);
  one.timer_at = at;
}

void ConnectionBook::send(Instant now) {
  for (; !queued_.empty(); queued_.pop_front()) send_one(queued_.front(), now);
}

// The timer begins when the message leaves.
void ConnectionBook::send_one(const Queued& one, Instant now) {
  Connection* const whose = all_.find(one.connection);
  const bool waits = whose != nullptr && whose->pending && whose->pending->attribute == one.message.attribute;
  if (waits && whose->state == State::kTimewait) {
    whose->pending.reset();
    begin_timewait(*whose, now);
  } else if (waits) {
    set_timer(*whose, now + kAnswerTime);
  }
  const RdmaFields fields{.opcode = rdma::kUd | bth::kSendOnly,
                          .psn = datagram_psn_ = (datagram_psn_ + 1) & bth::kMask24,
                          .qkey = management::kQkey,
                          .source_qp = management::kQp};
  const RoceAddress to{.destination = one.to,
                       .destination_qp = management::kQp,
                       .source_port = source_port_of(0, management::kQp, management::kQp),
                       .dscp = static_cast<uint8_t>(whose == nullptr ? 0 : whose->traffic_class >> 2)};
  const IpVersion version = version_of(one.to);
  const FrameLayout layout = layout_of(version, fields.opcode, management::kBytes);
  Packet packet = ground_.pool.make(layout.bytes);
  if (!packet) {
    ++ground_.counters.send_err;
    return;
  }
  write_headers(packet.data(), ground_.host, to, fields, management::kBytes);
  one.message.write(std::span<uint8_t, management::kBytes>(packet.data() + layout.payload, management::kBytes));
  seal(packet.data(), version, layout, management::kBytes);
  ++ground_.counters.sent_pkts;
  ground_.port.send(std::move(packet), 0, now);
}

void ConnectionBook::begin_timewait(Connection& one, Instant now) {
  one.state = State::kTimewait;
  one.pending.reset();
  set_timer(one, now + kTimewait);
}

void ConnectionBook::expire(Instant now) {
  while (timers_.next() <= now) {
    Connection* const one = all_.at(timers_.top_id());
    timers_.pop();
    if (one == nullptr) continue;
    one->timer_at = Instant::never();
    expire_one(*one, now);
  }
}

void ConnectionBook::expire_one(Connection& one, Instant now) {
  if (one.state == State::kTimewait) {
    one.state = State::kIdle;
    return tell(one, Kind::kTimewaitExit);
  }
  if (!one.pending) return;
  if (--one.sends_left != 0) return post(one, *one.pending);
  one.pending.reset();
  if (one.state == State::kDisconnectSent) {
    begin_timewait(one, now);
    return tell(one, Kind::kDisconnected, -ETIMEDOUT);
  }
  one.state = State::kIdle;
  tell(one, Kind::kUnreachable, -ETIMEDOUT);
}

void ConnectionBook::move_events(Connection& one, uint32_t channel) {
  std::vector<ConnectionEvent> moved;
  if (const auto found = events_.find(one.channel); found != events_.end()) {
    for (const ConnectionEvent& event : found->second) {
      if (event.connection == one.number) moved.push_back(event);
    }
  }
  drop_events(one);
  one.channel = channel;
  for (const ConnectionEvent& event : moved) push(channel, event);
}

}  // namespace softspine::testbeds
