// SPDX-License-Identifier: Apache-2.0
// One rank's work (control/traffic/graph.hpp), executed by its host.
//
//   open       operations are taken from each line while its window has room (operation_window.hpp)
//   start      an operation that needs nothing more starts at once; at one instant the smaller number first
//     send       in the order of its connection, when the peer has cleared it and there is room (rank_connections.hpp),
//                after its step. The proxy (rank_proxy.hpp) posts it; done when all its parts are complete
//     receive    in the order of its connection; the proxy sends a clear-to-send, if the peer waits for one. Done when
//                the message is whole, which it may have been before
//     compute    for its time times the host's compute_scale, beside everything else
//     reduce     bytes / rate, one after the other: the rate is the rank's
//   end        when all lines have ended and all is done, or when a connection fails; then unfinished() says who waits
//              for whom. So it does for a program that never ends
//
// A rank needs its own host alone: what others do comes as messages. All of it happens in the events of that host,
// in an order that follows from the stream and from these.
// Messages of other flows and sinks of the host are not its own, and are left alone: a host may have several programs.
//
// Messages have kMaxMessageBytes at most, and connections for what the stream names: a stream that says otherwise is
// a mistake of ours. Memory: of the window, of the connections, and of the proxy's line; none is allocated later.
#pragma once

#include <cstdint>
#include <vector>

#include "control/traffic/graph.hpp"
#include "dataplane/units/timed_heap.hpp"
#include "testbeds/hosts/operation_window.hpp"
#include "testbeds/hosts/rank_connections.hpp"
#include "testbeds/hosts/rank_counters.hpp"
#include "testbeds/hosts/rank_proxy.hpp"
#include "testbeds/hosts/roce_host.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

// Who wants to know of each operation that is done, and of each send that is posted.
class OperationObserver {
 public:
  virtual ~OperationObserver() = default;
  virtual void posted(const OpenOperation& /*operation*/) noexcept {}
  virtual void done(const OpenOperation& operation, dataplane::Instant now) noexcept = 0;
};

struct RankConfig {
  uint32_t window = 1024;                 // operations that are open at most, of the first line
  std::vector<uint32_t> further_windows;  // of the others
  uint64_t reduce_bytes_per_second = 0;   // 0: a reduction takes no time
  RankCosts costs;
  QueuePairScaling scaling = QueuePairScaling::kRoundRobin;
  uint32_t clear_bytes = 64;  // of a clear-to-send's message: NCCL's slot
  std::vector<RankConnection> connections;
};

class RankProgram final : public WorkEvents {
 public:
  enum class State : uint8_t { kReady, kRunning, kEnded, kFailed };

  // Host, lines and observer outlive this; `observer` null: nobody. The host's flows have their queue_depth.
  RankProgram(const RankConfig& config, RoceHost& host, control::WorkLines& lines,
              OperationObserver* observer = nullptr);

  // Before the first window, or from a control action, followed by Engine::wake().
  void start_at(dataplane::Instant at);

  State state() const { return state_; }
  const RankCounters& counters() const { return counters_; }
  dataplane::Duration proxy_busy() const { return proxy_.busy(); }
  // Between windows: those that are open, by number. The lines may have more.
  std::vector<UnfinishedOperation> unfinished() const;
  // Between windows: messages that have come, and that no receive has asked for.
  uint64_t unclaimed_messages() const;

  void completed(uint32_t flow, uint64_t tag, dataplane::Instant now) noexcept override;
  void received(uint32_t sink, uint64_t number, dataplane::Instant now) noexcept override;
  void failed(uint32_t flow, dataplane::Instant now) noexcept override;
  void woken(dataplane::Instant now) noexcept override;

 private:
  using Connection = RankConnections::Connection;

  void work(dataplane::Instant now) noexcept;
  struct Line {
    bool has_next = false;  // it has been given, and is not open yet
    bool has_ended = false;
    control::Operation next;
  };

  void open_more() noexcept;
  bool open_next(uint32_t line) noexcept;
  bool has_ended() const;
  void open(const control::Operation& op) noexcept;
  void go_on(uint32_t place, dataplane::Instant now) noexcept;
  void be_free(uint32_t place) noexcept;
  void start(uint32_t place, dataplane::Instant now) noexcept;
  void take_time(uint32_t place, dataplane::Instant until, dataplane::Instant now) noexcept;
  void stepped(uint32_t place) noexcept;
  void post_next(uint32_t place, dataplane::Instant now) noexcept;
  void start_receive(uint32_t place, dataplane::Instant now) noexcept;
  void ask(RankProxy::Job job, uint32_t of, const Connection& connection, dataplane::Instant now) noexcept;
  void do_job(const RankProxy::Entry& entry, dataplane::Instant now) noexcept;
  void post_part(uint32_t place, dataplane::Instant now) noexcept;
  void post_clear(Connection& connection, dataplane::Instant now) noexcept;
  void take_sent(uint32_t part_of_place, dataplane::Instant now) noexcept;
  // A part of what is in a place, and below it the message's number, which is the immediate data of flows that have
  // some.
  uint64_t tag_of(uint32_t place, uint32_t part) const {
    return (uint64_t{place} * connections_.most_parts() + part) << 32U | static_cast<uint32_t>(window_[place].message);
  }
  static uint32_t part_of(uint64_t tag) { return static_cast<uint32_t>(tag >> 32U); }
  void wake_again() noexcept;
  void end_part(uint32_t place, dataplane::Instant now) noexcept;
  void finish(uint32_t place, dataplane::Instant now) noexcept;
  void offer_send(const Connection& connection) noexcept;
  void offer_receive(const Connection& connection) noexcept;
  UnfinishedOperation::Reason reason_of(const OpenOperation& op) const;

  RankConfig config_;
  RoceHost& host_;
  control::WorkLines& work_;
  OperationObserver* observer_;
  State state_ = State::kReady;
  bool is_working_ = false;
  std::vector<Line> lines_;
  OperationWindow window_;
  RankConnections connections_;
  RankProxy proxy_;
  dataplane::TimedHeap timers_;  // of places
  // Parts of places that an open loop has sent, and that are complete when they have left.
  dataplane::TimedHeap leaving_;
  dataplane::Instant reduced_;  // when all reductions so far are done
  dataplane::Instant start_;
  RankCounters counters_;
};

}  // namespace softspine::testbeds
