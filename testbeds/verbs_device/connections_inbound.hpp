// SPDX-License-Identifier: Apache-2.0
// What datagrams of peers mean for connections (connections.hpp has their order).
#pragma once

#include "testbeds/verbs_device/connection_book.hpp"

namespace softspine::testbeds {

class ConnectionsInbound {
 public:
  static constexpr uint8_t kAskedTime = 24;  // of an MRA: 4.096 µs · 2^24

  ConnectionsInbound(RnicGround& ground, ConnectionBook& book) : ground_(ground), book_(book) {}

  void receive(const RdmaFrame& frame, dataplane::Instant now);

 private:
  Connection* listener_of(uint64_t service, const IpAddress& address) const;
  Connection* same_request(const ConnectionMessage& message, const IpAddress& from) const;
  Connection* addressed(const ConnectionMessage& message, const IpAddress& from) const;
  void take_request(const ConnectionMessage& message, const IpAddress& from, const IpAddress& to);
  void refuse(const ConnectionMessage& message, const IpAddress& to, uint16_t reason);
  void take_more_time(Connection& one, const ConnectionMessage& message, dataplane::Instant now);
  void take_reject(Connection& one, const ConnectionMessage& message);
  void take_reply(Connection& one, const ConnectionMessage& message);
  void take_disconnect_request(const ConnectionMessage& message, const IpAddress& from, dataplane::Instant now);
  void take_datagram_reply(Connection& one, const ConnectionMessage& message);

  RnicGround& ground_;
  ConnectionBook& book_;
};

}  // namespace softspine::testbeds
