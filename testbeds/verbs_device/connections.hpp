// SPDX-License-Identifier: Apache-2.0
// The connection manager of an RNIC: what a kernel's rdma_cm does for its programs, over datagrams of queue pair 1.
//
//   active    resolve ─► connect ─ REQ ─► … ◄─ REP ─ kResponse ─► accept ─ RTU ─► established
//   passive   listen ◄─ REQ ─ kRequest ─► accept ─ REP ─► … ◄─ RTU ─ kEstablished
//   either    disconnect ─ DREQ ─► … ◄─ DREP ─ kDisconnected; the other: DREQ ─ kDisconnected ─► disconnect ─ DREP ─►
//   UDP       connect ─ SIDR REQ ─► … ◄─ SIDR REP ─ kEstablished; the other: kRequest ─► accept
// A peer whose program has not decided yet asks for time (MRA) when a request comes again. Nobody listens: rejected,
// reason 8.
// The private data of a request begin with the addresses and the port (IBA 1.4, annex A11).
// It never touches a queue pair: that its program does, as with a kernel.
#pragma once

#include <cstdint>
#include <optional>

#include "testbeds/verbs_device/connection_book.hpp"
#include "testbeds/verbs_device/connections_inbound.hpp"

namespace softspine::testbeds {

class Connections {
 public:
  explicit Connections(RnicGround& ground) : ground_(ground) {}

  // Calls of programs; each gives an errno.
  int create(const Connection& draft, uint32_t& number) { return book_.create(draft, number); }
  Connection* find(uint32_t number, uint32_t client) const { return book_.find(number, client); }
  void destroy(Connection& one);
  int bind(Connection& one, const IpAddress& address, uint16_t port);
  int resolve(Connection& one, const IpAddress& destination, uint16_t port);
  int find_route(Connection& one);
  int listen(Connection& one, uint32_t backlog);
  int connect(Connection& one, const ConnectionParameters& own, uint8_t mtu);
  int accept(Connection& one, uint64_t uid, const ConnectionParameters* own);
  int reject(Connection& one, const ConnectionParameters& why);
  int disconnect(Connection& one);
  void move(Connection& one, uint32_t channel) { book_.move_events(one, channel); }
  std::optional<ConnectionEvent> take_event(uint32_t channel, uint32_t client) {
    return book_.take_event(channel, client);
  }
  void forget_channel(uint32_t channel);
  void forget_client(uint32_t client);

  // A datagram of queue pair 1.
  void receive(const RdmaFrame& frame, dataplane::Instant now) { inbound_.receive(frame, now); }
  bool has_queued() const { return book_.has_queued(); }
  void send(dataplane::Instant now) { book_.send(now); }
  dataplane::Instant next() const { return book_.next(); }
  void expire(dataplane::Instant now) { book_.expire(now); }
  uint32_t count() const { return book_.all().count(); }

 private:
  bool is_ours(const IpAddress& address) const;
  bool is_taken(const Connection& one, const IpAddress& address, uint16_t port) const;
  void say_reject(const Connection& one, uint16_t reason, const ConnectionParameters& why = {});
  void say_datagram_reply(const Connection& one, uint8_t status, const ConnectionParameters& own);
  void say_goodbye(Connection& one);

  RnicGround& ground_;
  ConnectionBook book_{ground_};
  ConnectionsInbound inbound_{ground_, book_};
  uint16_t next_port_ = 49'152;
  uint64_t next_transaction_ = 1;
};

// As IPv4-mapped, if it is IPv4.
std::array<uint8_t, 16> gid_of(const IpAddress& address);
uint64_t guid_of(const dataplane::MacAddress& mac);

}  // namespace softspine::testbeds
