// SPDX-License-Identifier: Apache-2.0
// The engine: one loop for both clocks and any number of workers.
//
//   until = min(next event of all + lookahead, horizon of the clock, next control action, end)
//   for each of my nodes with an event before `until`:  node.run(until)
//   meet (meeting.hpp): outboxes of this window become inboxes of the next
//
// Lookahead is the smallest latency of the links concerned: serialisation of the shortest frame, and propagation. A
// frame sent inside a window therefore arrives after it, so the parts of a window may run in any order, and the result
// is the same for any number of workers. Nodes that short links join are one part of this loop, with windows of their
// own inside each of its windows (window_nest.hpp). On the wall clock the windows are the same, but wait for `now`:
// events inside the fabric keep their exact instants however late the machine is, and the lateness is measured.
//
// Control acts between windows, while the workers are quiescent:
//   at(T, f)   f runs when every event before T has been handled and none at or after it
//   look_at(T, f)  as at(), for observers: f runs after the actions of that instant, and keeps no run alive
//   at_rest(f)     f runs whenever the workers are quiescent, after all of these; a worker may ask them to quiesce
//   post(f)    f runs between the next two windows; from any thread
// Reading counters, publishing forwarding state or taking a link down therefore needs no lock in a node. Packets that
// an action makes a node send are in the peer's inbox before the next action begins or a link goes down, whichever
// worker owns the peer.
//
// Ranks. With Config::ranks, other processes run the nodes that add_elsewhere() names; every rank builds the same nodes
// and links in the same order. All ranks take the same decisions from the same numbers (rank_meeting.hpp), so actions
// are the same everywhere, and each acts on the nodes that are here. On the wall clock the slowest of their clocks
// holds all back; so that nobody is held back for long, all follow rank 0's (following_clock.hpp). What is posted is
// posted on all ranks, by an action that all run:
//   when_asked(f)  f runs on every rank after any rank has set wants_rest(), as the last one; there ranks find out what
//                  one of them was asked for (testbeds/run/rank_requests.hpp)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/engine/clock.hpp"
#include "dataplane/engine/following_clock.hpp"
#include "dataplane/engine/meeting.hpp"
#include "dataplane/engine/readiness.hpp"
#include "dataplane/engine/window_nest.hpp"
#include "dataplane/engine/worker.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/ranks/rank_talk.hpp"
#include "dataplane/units/histogram.hpp"

namespace softspine::dataplane {

struct PortRef {
  NodeId node;
  PortNo port;
  friend auto operator<=>(const PortRef&, const PortRef&) = default;
};

struct EngineStats {
  uint64_t windows = 0;
  uint64_t node_runs = 0;
  Histogram lateness;  // ps of emulated time by which a window's first event was handled late; wall clock only
};

class Engine {
 public:
  using Action = std::function<void(Instant now)>;

  // The ranks that this engine's fabric is spread over.
  struct Ranks {
    RankTalk* talk = nullptr;         // null: all nodes are here
    PacketPool* packets = nullptr;    // for what comes from other ranks
    FollowingClock* clock = nullptr;  // the engine's, on the wall clock
  };
  struct Config {
    uint32_t workers = 1;
    uint64_t seed = 1;
    bool nest = true;  // false: one window for all nodes, to compare with; the result is the same
    std::function<void(uint32_t worker)> on_worker_start;  // e.g. register with the packet pools, pin to a cpu
    std::function<void(uint32_t worker)> on_worker_stop;
    Ranks ranks = {};
  };

  Engine(Clock& clock, Config config);
  ~Engine();

  // Only before the first run. The node belongs to worker `worker` modulo the number of workers.
  NodeId add(std::unique_ptr<Node> node, uint32_t worker);
  // A node that rank `rank` runs, there on its worker `worker`. It needs ports where a link joins it to a node that is
  // here.
  NodeId add_elsewhere(uint32_t rank, uint32_t worker, std::string name, uint32_t ports);
  // Connects both directions of a link, each at its sender's rate. Propagation must be positive.
  void connect(PortRef a, PortRef b, Rate from_a, Rate from_b, Duration propagation);
  void connect(PortRef a, PortRef b, Rate rate, Duration propagation) { connect(a, b, rate, rate, propagation); }

  Node& node(NodeId id) { return *nodes_[id.value()]; }
  const Node& node(NodeId id) const { return *nodes_[id.value()]; }
  bool is_here(NodeId id) const { return owner_[id.value()] / workers() == rank_; }
  // Of a node that is here.
  uint32_t worker_of(NodeId id) const { return owner_[id.value()] % workers(); }
  size_t node_count() const { return nodes_.size(); }
  uint32_t workers() const { return static_cast<uint32_t>(workers_.size()); }
  bool is_wall() const { return clock_.is_wall(); }

  // Control; `at` from an action or before run(), `post` and `stop` from any thread (stop also from a signal handler).
  void at(Instant when, Action action);
  void post(Action action);
  // As at(), from an action or before run(), for actions that only read. Such a look is no event: next_event() leaves
  // it out, and a run on the virtual clock ends when nothing but looks is left. So a look that repeats asks
  // next_event() first whether anything else is to come.
  void look_at(Instant when, Action look);
  // Before run(): called whenever the workers are quiescent, after what was due or posted then.
  void at_rest(Action action) { at_rest_.push_back(std::move(action)); }
  // Likewise, over ranks: called on all of them when the workers are quiescent because one rank wanted it.
  void when_asked(Action action) { when_asked_.push_back(std::move(action)); }
  // May be set by any thread, at any time: the workers quiesce before the next window or the one after.
  std::atomic<bool>& wants_rest() { return posted_flag_; }
  void stop() noexcept;

  // Takes a link up or down, from an action, and informs both transmitters and both nodes. When it goes down, frames
  // under way are lost and counted.
  void set_link(PortRef end, bool up, Instant now);
  // Moves a node's next event forward, from an action that gave it something to do.
  void wake(NodeId id, Instant at);

  // Handles all events before `end`. On the virtual clock returns kIdle when nothing is left to happen.
  // May be called again with a later end.
  RunEnd run(Instant end);

  // The instant up to which everything has been handled. Called from an action, or while not running.
  Instant now() const { return now_; }
  // now() for any thread; it may be about one window behind.
  Instant progress() const { return Instant::at_ps(progress_.load(std::memory_order_relaxed)); }
  // From an action: the instant of the next event of a node or of the next action that is no look, on any rank; never()
  // if there is neither. All ranks ask.
  Instant next_event() const;
  // While not running, or from an action.
  EngineStats stats() const;
  uint64_t lost_on_links() const;
  // While not running, or from an action: calls see(to, port, glance) for every packet that is on a link.
  void see_on_links(const std::function<void(NodeId, PortNo, const PacketGlance&)>& see) const;

  // After the last run: ends every packet in nodes, inboxes and outboxes. Returns how many were on links.
  uint64_t drain();

 private:
  friend class Worker;
  void connect_one_way(PortRef from, PortRef to, Rate rate, Duration propagation);
  void build();
  void route_between_workers();
  void wake_by_edges();
  // Nobody who sleeps is to be woken for what was posted so far.
  void forget_posts() noexcept;
  void adopt(const WindowNest& nest, WindowGroup* into);
  // Called by worker 0, even if no event lay before `upto`: a thread that watches progress() waits until it gets
  // there.
  void reach(Instant upto) noexcept {
    now_ = upto;
    progress_.store(upto.count_ps(), std::memory_order_relaxed);
  }
  // Nodes do what they have put off, as far as it is due before `now`.
  void complete_before(Instant now);
  // Called by worker 0 while the others wait: runs the posted actions, and the timed ones due at `upto` or before.
  // `asked`: something was posted, or somebody wants a rest, on any rank.
  void run_actions(Instant upto, bool asked);
  RunEnd run_workers(Instant end);
  using Timed = std::multimap<Instant, Action>;
  static Instant first_of(const Timed& timed) { return timed.empty() ? Instant::never() : timed.begin()->first; }
  Instant next_action() const { return std::min(first_of(timed_), first_of(looks_)); }

  Clock& clock_;
  Config config_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> putting_off_;  // those that may (Node::puts_off)
  std::vector<uint32_t> owner_;     // over all ranks: rank × workers + worker
  uint32_t rank_ = 0;
  std::unique_ptr<Meeting> meeting_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<NestLink> links_;
  Readiness news_;                        // of all workers' edges, if there are several workers
  Duration lookahead_ = Duration::max();  // of the outermost windows
  Instant now_;
  std::atomic<int64_t> progress_{0};
  std::atomic<bool> stopping_{false};
  Timed timed_;
  Timed looks_;
  std::vector<Action> at_rest_;
  std::vector<Action> when_asked_;
  std::mutex posted_lock_;  // control's side; a worker takes it only when posted_flag_ is set
  std::vector<Action> posted_;
  OwnedFd posts_;  // readable: something is in posted_, or stop() was called
  std::atomic<bool> posted_flag_{false};
  bool built_ = false;
};

}  // namespace softspine::dataplane
