// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/connections.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

namespace softspine::testbeds {

using namespace dataplane;
using Attribute = ConnectionAttribute;
using Kind = ConnectionEventKind;
using State = Connection::State;

namespace {

constexpr uint8_t kUserRetries = 7;

bool is_any(const IpAddress& address) {
  if (const auto* v4 = std::get_if<Ipv4Address>(&address)) return *v4 == 0;
  return std::get<Ipv6Address>(address) == Ipv6Address{};
}

// Annex A11: version, IP version, source port, source and destination address.
void put_addresses(const Connection& one, ConnectionMessage& message) {
  const bool is_v4 = std::holds_alternative<Ipv4Address>(one.source);
  message.data[1] = is_v4 ? 0x40 : 0x60;
  store16(message.data.data() + 2, one.source_port);
  const auto put = [&](const IpAddress& address, uint8_t* at) {
    if (is_v4) {
      store32(at + 12, std::get<Ipv4Address>(address));
    } else {
      store_ipv6(at, std::get<Ipv6Address>(address));
    }
  };
  put(one.source, message.data.data() + 4);
  put(one.destination, message.data.data() + 20);
  std::copy_n(one.own.data.begin(), one.own.data_bytes, message.data.begin() + management::kAddressBytes);
}

}  // namespace

std::array<uint8_t, 16> gid_of(const IpAddress& address) {
  std::array<uint8_t, 16> gid{};
  if (const auto* v4 = std::get_if<Ipv4Address>(&address)) {
    gid[10] = gid[11] = 0xff;
    store32(gid.data() + 12, *v4);
  } else {
    store_ipv6(gid.data(), std::get<Ipv6Address>(address));
  }
  return gid;
}

uint64_t guid_of(const MacAddress& mac) {
  const std::array<uint8_t, 8> bytes = {
      static_cast<uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  return load64(bytes.data());
}

void Connections::destroy(Connection& one) {
  say_goodbye(one);
  book_.stop_waiting(one);
  book_.answered_by_program(one);
  book_.drop_events(one);
  if (one.state != State::kListening) return book_.all().remove(one.number);
  const uint32_t listener = one.number;
  book_.all().remove(listener);
  std::vector<Connection*> unseen;
  book_.all().for_each([&](Connection& each) {
    if (each.listener == listener && each.uid == 0) unseen.push_back(&each);
  });
  for (Connection* each : unseen) destroy(*each);
}

void Connections::say_goodbye(Connection& one) {
  switch (one.state) {
    case State::kRequestSent:
    case State::kRequestAnswered:
      if (!one.is_datagram()) say_reject(one, reject::kTimeout);
      return;
    case State::kRequestArrived:
    case State::kReplySent:
    case State::kReplyArrived: static_cast<void>(reject(one, {})); return;
    case State::kEstablished:
      if (one.is_datagram()) return;
      book_.post(one, book_.message_of(one, Attribute::kDisconnectRequest));
      return;
    case State::kDisconnectArrived: book_.post(one, book_.message_of(one, Attribute::kDisconnectReply)); return;
    default: return;
  }
}

bool Connections::is_ours(const IpAddress& address) const {
  if (const auto* v4 = std::get_if<Ipv4Address>(&address)) return *v4 == ground_.host.ipv4;
  return std::get<Ipv6Address>(address) == ground_.host.ipv6;
}

bool Connections::is_taken(const Connection& one, const IpAddress& address, uint16_t port) const {
  bool is_found = false;
  book_.all().for_each([&](const Connection& each) {
    if (&each == &one || !each.is_bound || each.space != one.space || each.source_port != port) return;
    if (each.reuses_address && one.reuses_address) return;
    is_found = is_found || is_any(each.source) || is_any(address) || each.source == address;
  });
  return is_found;
}

int Connections::bind(Connection& one, const IpAddress& address, uint16_t port) {
  if (one.is_bound) return EINVAL;
  if (!is_any(address) && !is_ours(address)) return EADDRNOTAVAIL;
  for (uint32_t tried = 0; port == 0; ++tried) {
    constexpr uint32_t kPorts = 16'384;
    if (tried == kPorts) return EADDRNOTAVAIL;
    const uint16_t free = next_port_;
    next_port_ = next_port_ == UINT16_MAX ? UINT16_MAX - kPorts + 1 : static_cast<uint16_t>(next_port_ + 1);
    if (!is_taken(one, address, free)) port = free;
  }
  if (is_taken(one, address, port)) return EADDRINUSE;
  one.source = address;
  one.source_port = port;
  one.is_bound = true;
  return 0;
}

int Connections::resolve(Connection& one, const IpAddress& destination, uint16_t port) {
  const bool is_v4 = std::holds_alternative<Ipv4Address>(destination);
  if (one.state != State::kIdle || is_any(destination)) return EINVAL;
  const IpAddress own = is_v4 ? IpAddress{ground_.host.ipv4} : IpAddress{ground_.host.ipv6};
  if (is_any(own)) return ENETUNREACH;
  if (!one.is_bound) {
    if (const int wrong = bind(one, own, 0); wrong != 0) return wrong;
  }
  one.source = own;
  one.destination = destination;
  one.destination_port = port;
  book_.tell(one, Kind::kAddressResolved);
  return 0;
}

// The gateway is the only next hop, so every address has a route.
int Connections::find_route(Connection& one) {
  if (one.state != State::kIdle || one.destination_port == 0) return EINVAL;
  one.has_route = true;
  one.flow_label = (uint32_t{one.source_port} * 31 + one.destination_port) & 0xfffff;  // the kernel's rule
  book_.tell(one, Kind::kRouteResolved);
  return 0;
}

int Connections::listen(Connection& one, uint32_t backlog) {
  constexpr uint32_t kMostBacklog = 1024;
  if (one.state != State::kIdle) return EINVAL;
  if (!one.is_bound) {
    if (const int wrong = bind(one, Ipv4Address{0}, 0); wrong != 0) return wrong;
  }
  one.state = State::kListening;
  one.backlog = backlog == 0 || backlog > kMostBacklog ? kMostBacklog : backlog;
  return 0;
}

int Connections::connect(Connection& one, const ConnectionParameters& own, uint8_t mtu) {
  const uint32_t most =
      private_bytes(one.is_datagram() ? Attribute::kDatagramRequest : Attribute::kRequest) - management::kAddressBytes;
  if (one.state != State::kIdle || !one.has_route || own.data_bytes > most) return EINVAL;
  one.is_active = true;
  one.own = own;
  one.mtu = mtu;
  one.transaction = next_transaction_++ << 32 | one.number;
  one.own_psn = book_.next_psn();
  constexpr uint8_t kAckTimeout = 17;
  if (one.ack_timeout == 0) one.ack_timeout = kAckTimeout;
  ConnectionMessage message =
      book_.message_of(one, one.is_datagram() ? Attribute::kDatagramRequest : Attribute::kRequest);
  message.service = one.service(one.destination_port);
  message.guid = guid_of(ground_.host.mac);
  message.qp = own.qp;
  message.psn = one.own_psn;
  message.responder_resources = own.responder_resources;
  message.initiator_depth = own.initiator_depth;
  message.retries = std::min(own.retries, kUserRetries);
  message.rnr_retries = std::min(own.rnr_retries, kUserRetries);
  message.has_srq = own.has_srq;
  message.transport = one.type == IBV_QPT_UC ? 1 : 0;
  message.mtu = mtu;
  message.own_timeout = message.peer_timeout = 20;
  message.message_retries = ConnectionBook::kSends - 1;
  message.ack_timeout = one.ack_timeout;
  message.own_gid = gid_of(one.source);
  message.peer_gid = gid_of(one.destination);
  message.flow_label = one.flow_label;
  message.traffic_class = one.traffic_class;
  message.hop_limit = kResponseTtl;
  put_addresses(one, message);
  one.state = State::kRequestSent;
  book_.post_until_answered(one, message);
  return 0;
}

int Connections::accept(Connection& one, uint64_t uid, const ConnectionParameters* own) {
  if (one.state == State::kReplyArrived) {
    one.state = State::kEstablished;
    book_.post(one, book_.message_of(one, Attribute::kReadyToUse));
    return 0;
  }
  const uint32_t most = private_bytes(one.is_datagram() ? Attribute::kDatagramReply : Attribute::kReply);
  if (one.state != State::kRequestArrived || own == nullptr || own->data_bytes > most) return EINVAL;
  one.uid = uid;
  one.own = *own;
  book_.answered_by_program(one);
  if (one.is_datagram()) {
    say_datagram_reply(one, 0, *own);
    one.state = State::kEstablished;
    return 0;
  }
  ConnectionMessage message = book_.message_of(one, Attribute::kReply);
  message.guid = guid_of(ground_.host.mac);
  message.qp = own->qp;
  message.psn = one.own_psn;
  message.responder_resources = own->responder_resources;
  message.initiator_depth = own->initiator_depth;
  message.rnr_retries = std::min(own->rnr_retries, kUserRetries);
  message.has_srq = own->has_srq;
  std::copy_n(own->data.begin(), own->data_bytes, message.data.begin());
  one.state = State::kReplySent;
  book_.post_until_answered(one, message);
  return 0;
}

int Connections::reject(Connection& one, const ConnectionParameters& why) {
  if (one.state != State::kRequestArrived && one.state != State::kReplySent && one.state != State::kReplyArrived)
    return EINVAL;
  if (why.data_bytes > private_bytes(one.is_datagram() ? Attribute::kDatagramReply : Attribute::kReject)) return EINVAL;
  if (one.is_datagram()) {
    say_datagram_reply(one, kDatagramRejected, why);
  } else {
    say_reject(one, reject::kConsumerDefined, why);
  }
  book_.stop_waiting(one);
  book_.answered_by_program(one);
  one.state = State::kIdle;
  return 0;
}

int Connections::disconnect(Connection& one) {
  if (one.is_datagram()) return EINVAL;
  if (one.state == State::kEstablished) {
    one.state = State::kDisconnectSent;
    book_.post_until_answered(one, book_.message_of(one, Attribute::kDisconnectRequest));
    return 0;
  }
  if (one.state != State::kDisconnectArrived) return EINVAL;
  book_.post_until_answered(one, book_.message_of(one, Attribute::kDisconnectReply));  // its timer is timewait's
  one.state = State::kTimewait;
  return 0;
}

void Connections::say_reject(const Connection& one, uint16_t reason, const ConnectionParameters& why) {
  ConnectionMessage message = book_.message_of(one, Attribute::kReject);
  message.about = one.state == State::kRequestArrived ? 0 : one.state == State::kReplyArrived ? 1 : 2;
  message.reason = reason;
  std::copy_n(why.data.begin(), why.data_bytes, message.data.begin());
  book_.post(one, message);
}

void Connections::say_datagram_reply(const Connection& one, uint8_t status, const ConnectionParameters& own) {
  ConnectionMessage message = book_.message_of(one, Attribute::kDatagramReply);
  message.local_id = one.remote_id;
  message.reason = status;
  message.service = one.service(one.source_port);
  message.qp = own.qp;
  message.qkey = own.qkey;
  std::copy_n(own.data.begin(), own.data_bytes, message.data.begin());
  book_.post(one, message);
}

void Connections::forget_channel(uint32_t channel) {
  std::vector<uint32_t> theirs;
  book_.all().for_each([&](const Connection& each) {
    if (each.channel == channel) theirs.push_back(each.number);
  });
  for (const uint32_t number : theirs) {
    if (Connection* const one = book_.all().find(number)) destroy(*one);
  }
  book_.forget_events(channel);
}

void Connections::forget_client(uint32_t client) {
  std::vector<uint32_t> theirs;
  book_.all().for_each([&](const Connection& each) {
    if (each.client == client) theirs.push_back(each.channel);
  });
  for (const uint32_t channel : theirs) forget_channel(channel);
}

}  // namespace softspine::testbeds
