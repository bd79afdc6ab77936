// SPDX-License-Identifier: Apache-2.0
// One rank's recorded work (control/traces/trace_work.hpp), executed by its host.
//
//   open       operations are taken from the stream while the window has room (operation_window.hpp)
//   free       an operation that needs nothing more; at one instant the smaller number first
//     compute  takes its turn on its cpu, and then its time
//     send     takes its turn on its cpu, and `post` and `byte` there; then it is posted, and done: what is sent is a
//              copy (eager). Its message leaves in the order of its connection, a SEND with its tag as immediate data
//     receive  is posted, and has started. Done when it has its message whole (message_matcher.hpp), has had its turn
//              on its cpu, and `receive` and `byte` there
//   cpu        one thing after the other, in the order in which they asked
//   end        when the stream has ended and all is done, or when a connection fails
//
// RankProgram beside it executes what we make ourselves: there, messages match by their order on a channel, a send ends
// with its acknowledgement, and receivers may admit senders. Here, a tag decides, a send ends at once, and operations
// wait for cpus and for others' starts. They have the window, the numbering and the host's queue pairs in common.
//
// A window that is too small would change what a trace says: an operation could start when it is not open yet. That is
// counted (`opened_late`); 0 says that the window has changed nothing. Sends whose queue pair has no place for them
// count as open. Flows are reliable connections, one for each peer: messages do not overtake each other.
// Memory: of the window, the connections and the cpus, allocated at the start; of messages that come before their
// receives.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "control/traces/trace_work.hpp"
#include "dataplane/units/timed_heap.hpp"
#include "testbeds/hosts/message_matcher.hpp"
#include "testbeds/hosts/operation_window.hpp"
#include "testbeds/hosts/rank_counters.hpp"
#include "testbeds/hosts/roce_host.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

// What an operation takes of its cpu: LogGOPS' o and O.
struct TraceCosts {
  dataplane::Duration post;     // of a send
  dataplane::Duration receive;  // of a message that is received
  dataplane::Duration byte;     // of both, for each byte but the first
};

// Numbers of flows and sinks are the host's own.
struct TraceConnection {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t peer = 0;
  uint32_t flow = kNone;  // to it
  uint32_t depth = 0;     // the flow's queue_depth
  uint32_t sink = kNone;  // from it
};

struct TraceRankConfig {
  uint32_t rank = 0;
  uint32_t window = 4096;  // operations that are open at most
  uint32_t cpus = 1;
  TraceCosts costs;
  std::vector<TraceConnection> connections;  // by peer, ascending
};

struct TraceCounters {
  std::array<uint64_t, kOperationKinds> done{};  // operations, by kind
  uint64_t acknowledged = 0;                     // messages
  uint64_t received_bytes = 0;                   // of messages that receives took
  uint64_t longer = 0;                           // of those: messages with more bytes than their receive has room for
  uint64_t opened_late = 0;
  uint32_t most_open = 0;
  uint64_t most_kept = 0;                                  // messages that came before their receives, at once
  dataplane::Instant ended = dataplane::Instant::never();  // or failed
  OperationTimes times;
};

// An operation that has begun and is not done, or that waits for nothing of its rank.
struct UnfinishedTraceOperation {
  control::OperationKind kind = control::OperationKind::kCompute;
  uint64_t number = 0;
  uint64_t line = 0;
  uint64_t bytes = 0;
  uint32_t peer = 0;
  uint32_t tag = 0;
  bool waits_for_message = false;
};

// Who wants to know, in the order in which it happens.
class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void arrived(const MessageMatcher::Message& message, dataplane::Instant now) noexcept = 0;
  // `source`, `tag`: of a receive, its message's.
  virtual void done(uint64_t number, uint32_t source, uint32_t tag, dataplane::Instant started,
                    dataplane::Instant now) noexcept = 0;
};

class TraceProgram final : public WorkEvents {
 public:
  enum class State : uint8_t { kReady, kRunning, kEnded, kFailed };

  // Host, stream and observer outlive this; `observer` null: nobody.
  TraceProgram(const TraceRankConfig& config, RoceHost& host, control::TraceStream& stream,
               TraceObserver* observer = nullptr);

  // Before the first window, or from a control action, followed by Engine::wake().
  void start_at(dataplane::Instant at);

  State state() const { return state_; }
  const TraceCounters& counters() const { return counters_; }
  // Between windows: those that are open and are not held by others of this rank, by number.
  std::vector<UnfinishedTraceOperation> unfinished() const;
  // Between windows: there is more in the stream, and the window has no room for it.
  bool is_window_full() const { return has_next_ && !has_room(); }
  // Between windows: messages that no receive has taken.
  uint64_t unclaimed_messages() const { return matcher_.kept(); }

  void completed(uint32_t flow, uint64_t tag, dataplane::Instant now) noexcept override;
  void received(uint32_t sink, uint64_t number, dataplane::Instant now) noexcept override;
  void failed(uint32_t flow, dataplane::Instant now) noexcept override;
  void woken(dataplane::Instant now) noexcept override;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // kWaiting: for its cpu. kTurn: it has it, and begins. kRunning: its time there passes. kPosted: it has no message.
  enum class Phase : uint8_t { kHeld, kFree, kPosted, kWaiting, kTurn, kRunning };
  struct Traced {  // beside an operation of the window
    Phase phase = Phase::kHeld;
    uint32_t peer = 0;  // once it has its message, that one's source and tag
    uint32_t tag = 0;
    uint32_t cpu = 0;
    uint64_t line = 0;
  };
  struct Cpu {
    bool is_busy = false;
    OperationLine line;
  };
  // A send that is done, and whose queue pair has no place.
  struct Unposted {
    uint64_t bytes = 0;
    uint32_t tag = 0;
    uint32_t next = kNone;
  };
  struct Connection {
    TraceConnection of;
    uint32_t under_way = 0;
    uint32_t first_unposted = kNone;
    uint32_t last_unposted = kNone;
    uint64_t received_bytes = 0;
  };

  void work(dataplane::Instant now) noexcept;
  bool has_room() const {
    return window_.size() + unposted_count_ < window_.places() && window_.fits(next_, next_.needs_started);
  }
  void open_more(dataplane::Instant now) noexcept;
  void open(dataplane::Instant now) noexcept;
  void be_free(uint32_t place) noexcept;
  void go_on(uint32_t place, dataplane::Instant now) noexcept;
  void start(uint32_t place, dataplane::Instant now) noexcept;
  void set_started(uint32_t place, dataplane::Instant now) noexcept;
  void ask_cpu(uint32_t place, dataplane::Instant now) noexcept;
  void begin(uint32_t place, dataplane::Instant now) noexcept;
  void end(uint32_t place, dataplane::Instant now) noexcept;
  void take_message(uint32_t place, const MessageMatcher::Message& message, dataplane::Instant now) noexcept;
  void arrive(const MessageMatcher::Message& message, dataplane::Instant now) noexcept;
  void post(uint32_t place, dataplane::Instant now) noexcept;
  void post_waiting(Connection& connection, dataplane::Instant now) noexcept;
  dataplane::Duration cost_of(uint32_t place) const;
  Connection& connection_to(uint32_t peer);
  static void enter(std::vector<uint32_t>& ends, uint32_t number, uint32_t connection);

  TraceRankConfig config_;
  RoceHost& host_;
  control::TraceStream& stream_;
  TraceObserver* observer_;
  State state_ = State::kReady;
  bool is_working_ = false;
  bool has_next_ = false;  // the stream has given it, and it is not open yet
  bool has_stream_ended_ = false;
  control::TraceOperation next_;
  OperationWindow window_;
  std::vector<Traced> traced_;  // by place
  MessageMatcher matcher_;
  std::vector<Cpu> cpus_;
  std::vector<Connection> connections_;
  std::vector<uint32_t> flows_;  // by number of the host: the connection, or kNone
  std::vector<uint32_t> sinks_;  // likewise
  std::vector<Unposted> unposted_;
  uint32_t free_unposted_ = kNone;
  uint32_t unposted_count_ = 0;
  dataplane::TimedHeap timers_;  // of places that have a cpu
  dataplane::Instant start_;
  TraceCounters counters_;
};

}  // namespace softspine::testbeds
