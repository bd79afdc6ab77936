// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/connections_inbound.hpp"

#include <algorithm>
#include <cerrno>

namespace softspine::testbeds {

using namespace dataplane;
using Attribute = ConnectionAttribute;
using Kind = ConnectionEventKind;
using State = Connection::State;

namespace {

// The private data behind `from`, at most `bytes` of them.
ConnectionParameters with_data(const ConnectionMessage& message, uint32_t from) {
  ConnectionParameters out;
  const uint32_t bytes = private_bytes(message.attribute) - from;
  std::copy_n(message.data.begin() + from, bytes, out.data.begin());
  out.data_bytes = static_cast<uint8_t>(bytes);
  return out;
}

// What the peer starts is what we answer, and the reverse.
void take_numbers(const ConnectionMessage& message, ConnectionParameters& out) {
  out.qp = message.qp;
  out.qkey = message.qkey;
  out.has_srq = message.has_srq;
  out.responder_resources = message.initiator_depth;
  out.initiator_depth = message.responder_resources;
  out.retries = message.retries;
  out.rnr_retries = message.rnr_retries;
}

bool carries_addresses(const ConnectionMessage& message, const IpAddress& from) {
  const uint8_t version = std::holds_alternative<Ipv4Address>(from) ? 4 : 6;
  return message.data[0] == 0 && message.data[1] >> 4 == version;
}

}  // namespace

void ConnectionsInbound::receive(const RdmaFrame& frame, Instant now) {
  const bool is_datagram = frame.opcode == (rdma::kUd | bth::kSendOnly) && frame.qkey == management::kQkey &&
                           frame.payload_bytes == management::kBytes;
  const auto message =
      is_datagram
          ? ConnectionMessage::read(std::span<const uint8_t, management::kBytes>(frame.payload, management::kBytes))
          : std::nullopt;
  if (!message) {
    ++ground_.counters.unknown_qp;
    return;
  }
  const bool is_v4 = frame.version == IpVersion::k4;
  const IpAddress from = is_v4 ? IpAddress{load32(frame.l3 + ipv4::kSource)} : load_ipv6(frame.l3 + ipv6::kSource);
  const IpAddress to = is_v4 ? IpAddress{ground_.host.ipv4} : IpAddress{ground_.host.ipv6};
  if (message->attribute == Attribute::kRequest || message->attribute == Attribute::kDatagramRequest)
    return take_request(*message, from, to);
  if (message->attribute == Attribute::kDisconnectRequest) return take_disconnect_request(*message, from, now);
  Connection* const one = addressed(*message, from);
  if (one == nullptr) return;
  switch (message->attribute) {
    case Attribute::kMessageReceived: return take_more_time(*one, *message, now);
    case Attribute::kReject: return take_reject(*one, *message);
    case Attribute::kReply: return take_reply(*one, *message);
    case Attribute::kReadyToUse:
      if (one->state != State::kReplySent) return;
      book_.stop_waiting(*one);
      one->state = State::kEstablished;
      return book_.tell(*one, Kind::kEstablished, 0, with_data(*message, 0));
    case Attribute::kDisconnectReply:
      if (one->state != State::kDisconnectSent) return;
      book_.begin_timewait(*one, now);
      return book_.tell(*one, Kind::kDisconnected);
    case Attribute::kDatagramReply: return take_datagram_reply(*one, *message);
    default: return;
  }
}

Connection* ConnectionsInbound::listener_of(uint64_t service, const IpAddress& address) const {
  Connection* found = nullptr;
  book_.all().for_each([&](Connection& each) {
    if (each.state != State::kListening || each.service(each.source_port) != service) return;
    const bool is_any = each.source == IpAddress{Ipv4Address{0}} || each.source == IpAddress{Ipv6Address{}};
    if (each.source == address || (is_any && found == nullptr)) found = &each;
  });
  return found;
}

Connection* ConnectionsInbound::same_request(const ConnectionMessage& message, const IpAddress& from) const {
  Connection* found = nullptr;
  book_.all().for_each([&](Connection& each) {
    const bool is_it = each.remote_id == message.local_id && each.destination == from &&
                       each.transaction == message.transaction && each.state != State::kIdle;
    if (is_it && !each.is_active) found = &each;
  });
  return found;
}

// The connection that a message is for: by its number here, and by its peer's if that is known.
Connection* ConnectionsInbound::addressed(const ConnectionMessage& message, const IpAddress& from) const {
  const bool is_datagram = message.attribute == Attribute::kDatagramReply;
  Connection* const one = book_.all().find(is_datagram ? message.local_id : message.remote_id);
  if (one == nullptr || one->destination != from || one->is_datagram() != is_datagram) return nullptr;
  const bool knows_peer = !is_datagram && one->remote_id != 0 && message.local_id != 0;
  return knows_peer && one->remote_id != message.local_id ? nullptr : one;
}

void ConnectionsInbound::refuse(const ConnectionMessage& message, const IpAddress& to, uint16_t reason) {
  ConnectionMessage answer;
  answer.transaction = message.transaction;
  answer.reason = reason;
  if (message.attribute == Attribute::kDatagramRequest) {
    answer.attribute = Attribute::kDatagramReply;
    answer.local_id = message.local_id;
    answer.service = message.service;
    answer.reason = reason == reject::kInvalidServiceId ? kDatagramUnsupported : kDatagramRejected;
  } else {
    answer.attribute = Attribute::kReject;
    answer.remote_id = message.local_id;
  }
  book_.post_to(to, answer);
}

void ConnectionsInbound::take_request(const ConnectionMessage& message, const IpAddress& from, const IpAddress& to) {
  const bool is_datagram = message.attribute == Attribute::kDatagramRequest;
  if (Connection* const before = same_request(message, from)) {
    if (is_datagram || before->state != State::kRequestArrived) return;
    ConnectionMessage asks = book_.message_of(*before, Attribute::kMessageReceived);
    asks.service_timeout = kAskedTime;
    return book_.post(*before, asks);
  }
  Connection* const listener = listener_of(message.service, to);
  if (listener == nullptr || !carries_addresses(message, from)) return refuse(message, from, reject::kInvalidServiceId);
  if (listener->waiting >= listener->backlog) return refuse(message, from, reject::kConsumerDefined);
  Connection made;
  made.client = listener->client;
  made.channel = listener->channel;
  made.space = listener->space;
  made.type = listener->type;
  made.state = State::kRequestArrived;
  made.has_route = true;  // its port is the listener's, and free when that has gone
  made.source = to;
  made.source_port = static_cast<uint16_t>(message.service);
  made.destination = from;
  made.destination_port = load16(message.data.data() + 2);
  made.listener = listener->number;
  made.remote_id = message.local_id;
  made.transaction = message.transaction;
  made.remote_psn = message.psn;
  made.own_psn = book_.next_psn();  // a program may make its queue pair ready before it accepts
  made.flow_label = message.flow_label;
  made.traffic_class = message.traffic_class;
  made.ack_timeout = message.ack_timeout;
  made.mtu = message.mtu;
  made.remote = with_data(message, management::kAddressBytes);
  take_numbers(message, made.remote);
  uint32_t number = 0;
  if (book_.create(made, number) != 0) return refuse(message, from, reject::kConsumerDefined);
  ++listener->waiting;
  book_.push(listener->channel, {.kind = Kind::kRequest,
                                 .uid = listener->uid,
                                 .connection = listener->number,
                                 .named = number,
                                 .status = 0,
                                 .parameters = made.remote});
}

void ConnectionsInbound::take_more_time(Connection& one, const ConnectionMessage& message, Instant now) {
  const bool is_about_request = message.about == 0 && one.state == State::kRequestSent;
  if (!is_about_request && !(message.about == 1 && one.state == State::kReplySent)) return;
  if (is_about_request) one.state = State::kRequestAnswered;
  constexpr uint32_t kMsShift = 8;  // 4.096 µs · 2^8 are about a millisecond
  const uint32_t shift = std::max<uint32_t>(message.service_timeout, kMsShift) - kMsShift;
  book_.set_timer(one, now + ConnectionBook::kAnswerTime + Duration::ms(int64_t{1} << shift));
}

void ConnectionsInbound::take_reject(Connection& one, const ConnectionMessage& message) {
  switch (one.state) {
    case State::kRequestSent:
    case State::kRequestAnswered:
    case State::kReplySent:
    case State::kReplyArrived:
    case State::kRequestArrived: break;
    default: return;
  }
  book_.stop_waiting(one);
  one.state = State::kIdle;
  book_.tell(one, Kind::kRejected, message.reason, with_data(message, 0));
}

void ConnectionsInbound::take_reply(Connection& one, const ConnectionMessage& message) {
  if (one.state == State::kEstablished) return book_.post(one, book_.message_of(one, Attribute::kReadyToUse));
  if (one.state == State::kReplyArrived) {
    ConnectionMessage asks = book_.message_of(one, Attribute::kMessageReceived);
    asks.about = 1;
    asks.service_timeout = kAskedTime;
    return book_.post(one, asks);
  }
  if (one.state != State::kRequestSent && one.state != State::kRequestAnswered) return;
  book_.stop_waiting(one);
  one.state = State::kReplyArrived;
  one.remote_id = message.local_id;
  one.remote_psn = message.psn;
  one.remote = with_data(message, 0);
  take_numbers(message, one.remote);
  book_.tell(one, Kind::kResponse, 0, one.remote);
}

// One that we do not know is answered, too: its peer is to come to an end.
void ConnectionsInbound::take_disconnect_request(const ConnectionMessage& message, const IpAddress& from, Instant now) {
  Connection* const one = addressed(message, from);
  const bool is_over = one == nullptr || one->state == State::kTimewait || one->state == State::kIdle;
  if (is_over || one->state == State::kDisconnectSent) {
    ConnectionMessage answer;
    answer.attribute = Attribute::kDisconnectReply;
    answer.transaction = message.transaction;
    answer.local_id = message.remote_id;
    answer.remote_id = message.local_id;
    book_.post_to(from, answer);
    if (is_over) return;
    book_.begin_timewait(*one, now);
    return book_.tell(*one, Kind::kDisconnected);
  }
  if (one->state != State::kEstablished && one->state != State::kReplySent) return;
  book_.stop_waiting(*one);
  one->transaction = message.transaction;
  one->state = State::kDisconnectArrived;
  book_.tell(*one, Kind::kDisconnected, 0, with_data(message, 0));
}

void ConnectionsInbound::take_datagram_reply(Connection& one, const ConnectionMessage& message) {
  if (one.state != State::kRequestSent) return;
  book_.stop_waiting(one);
  one.state = message.reason == 0 ? State::kEstablished : State::kIdle;
  if (message.reason != 0) return book_.tell(one, Kind::kUnreachable, message.reason);
  one.remote = with_data(message, 0);
  take_numbers(message, one.remote);
  book_.tell(one, Kind::kEstablished, 0, one.remote);
}

}  // namespace softspine::testbeds
