// SPDX-License-Identifier: Apache-2.0
// All rdma_cm identifiers of an RNIC, what their programs are to hear, and the datagrams that leave for them.
//
// A message waits kAnswerTime for its answer, and is sent kSends times; after that its connection is unreachable, or,
// if it was to end, over. Maxima: kLimit connections, kEventLimit events of a channel, kQueueLimit datagrams that wait;
// beyond, as if lost.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "dataplane/units/timed_heap.hpp"
#include "testbeds/verbs_device/connection.hpp"
#include "testbeds/verbs_device/rdma_frame.hpp"
#include "testbeds/verbs_device/rnic_ground.hpp"

namespace softspine::testbeds {

class ConnectionBook {
 public:
  static constexpr uint32_t kLimit = 4096;
  static constexpr size_t kEventLimit = 8192;
  static constexpr size_t kQueueLimit = 4096;
  // As the kernel has it: response timeout 20 and twice packet life time 16, in units of 4.096 µs · 2^n by shifts.
  static constexpr dataplane::Duration kAnswerTime = dataplane::Duration::ms(4096 + 512);
  static constexpr uint32_t kSends = 16;
  static constexpr dataplane::Duration kTimewait = dataplane::Duration::ms(512);
  using Table = ObjectTable<Connection, kLimit>;

  explicit ConnectionBook(RnicGround& ground) : ground_(ground) {}

  Table& all() { return all_; }
  const Table& all() const { return all_; }
  int create(const Connection& draft, uint32_t& number);
  Connection* find(uint32_t number, uint32_t client) const;
  uint32_t next_psn();
  void answered_by_program(Connection& one);

  // Events.
  void tell(Connection& one, ConnectionEventKind kind, int32_t status = 0, const ConnectionParameters& what = {});
  void push(uint32_t channel, const ConnectionEvent& event);
  void drop_events(const Connection& one);
  void move_events(Connection& one, uint32_t channel);
  void forget_events(uint32_t channel) { events_.erase(channel); }
  std::optional<ConnectionEvent> take_event(uint32_t channel, uint32_t client);

  // Datagrams.
  static ConnectionMessage message_of(const Connection& one, ConnectionAttribute attribute);
  void post(const Connection& one, const ConnectionMessage& message);
  void post_to(const IpAddress& to, const ConnectionMessage& message);
  void post_until_answered(Connection& one, const ConnectionMessage& message);
  void stop_waiting(Connection& one);
  void set_timer(Connection& one, dataplane::Instant at);
  void begin_timewait(Connection& one, dataplane::Instant now);
  bool has_queued() const { return !queued_.empty(); }
  void send(dataplane::Instant now);
  dataplane::Instant next() const { return timers_.next(); }
  void expire(dataplane::Instant now);

 private:
  struct Queued {
    uint32_t connection;  // 0: nobody waits for an answer
    IpAddress to;
    ConnectionMessage message;
  };
  void send_one(const Queued& one, dataplane::Instant now);
  void expire_one(Connection& one, dataplane::Instant now);

  RnicGround& ground_;
  Table all_;
  std::map<uint32_t, std::deque<ConnectionEvent>> events_;  // by channel
  std::deque<Queued> queued_;
  dataplane::TimedHeap timers_;  // by number modulo the limit
  uint32_t last_psn_ = 0;
  uint32_t datagram_psn_ = 0;
};

}  // namespace softspine::testbeds
