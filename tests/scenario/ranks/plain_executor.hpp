// SPDX-License-Identifier: Apache-2.0
// Ranks' scripts executed slowly and plainly, on the fabric of rank_fabric.hpp with open loops: an event after the
// other out of one ordered set, every operation looked at after each. No code of the hosts', the links' or the
// programs' is used, but for the length of a frame.
//
// A script has its lines one behind the other, so that its places are in the order of the numbers. The executor knows
// operations by their places, but for the list of what is done.
//
// Rules: in each line's window of open operations that which may go on goes on, the smallest number first; then what
// was asked of the proxy, in order. At one instant: a rank's timers, departures, arrivals by port. A NIC's queue pairs
// take turns, a packet each.
#pragma once

#include <deque>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/scenario/ranks/rank_fabric.hpp"

namespace softspine::testbeds {

class PlainExecutor {
 public:
  PlainExecutor(const std::vector<Script>& scripts, const RankSetup& setup);
  void run();
  const std::vector<DoneOperation>& done(size_t rank) const { return ranks_[rank].done; }

 private:
  enum class State { kHeld, kStepped, kUnderWay, kOver, kDone };
  enum class Kind { kTimer, kDeparture, kArrival };
  struct Message {
    uint32_t to;
    uint32_t channel;
    bool is_clear;
    uint64_t number;  // of the send
    uint64_t left;
    bool is_begun;
  };
  struct Pair {  // of ranks, from one to the other, on a channel
    std::deque<Message> data;
    std::deque<Message> clears;
    uint64_t granted = 0;
    uint64_t arrived = 0;
  };
  struct Rank {
    const Script* script;
    std::vector<State> states;
    std::vector<uint64_t> numbers;
    std::vector<bool> is_open;  // or done
    std::vector<int64_t> started;
    std::vector<DoneOperation> done;
    std::deque<std::pair<char, uint64_t>> asked;  // of the proxy: p(ost), c(lear), d(one); the operation
    std::deque<std::deque<Message>*> turns;
    int64_t nic_free = 0;
    int64_t port_free = 0;  // of the crossbar's port towards it
    int64_t reduced = 0;
    bool departs = false;
  };
  struct Event {
    int64_t at;
    Kind kind;
    uint32_t where;  // timers, departures: the rank; arrivals: the port of the sender
    uint64_t order;
    uint32_t rank;
    bool is_at_crossbar;
    bool is_last;
    int64_t frame_ps;
    Message message;
    bool operator<(const Event& other) const {
      return std::tie(at, kind, where, order) < std::tie(other.at, other.kind, other.where, other.order);
    }
  };

  void handle(const Event& event);
  void depart(uint32_t rank, int64_t now);
  void work(uint32_t rank, int64_t now);
  void open_more(Rank& rank) const;
  bool may_open(const Rank& rank, uint64_t place) const;
  static uint64_t place_of(const Rank& rank, uint64_t number);
  bool may_go_on(const Rank& rank, uint32_t self, uint64_t number);
  void go_on(Rank& rank, uint32_t self, uint64_t number, int64_t now);
  void do_asked(Rank& rank, uint32_t self, int64_t now);
  void post(uint32_t rank, std::deque<Message>& queue, const Message& message, int64_t now);
  void finish(Rank& rank, uint64_t number, int64_t now);
  void at(int64_t instant, Kind kind, uint32_t rank, uint64_t number);
  // The operation's place among those of its kind on its connection; those before it.
  uint64_t index_of(const Rank& rank, uint64_t number) const;
  bool has_before_it(const Rank& rank, uint64_t number, State upto) const;
  Pair& pair(uint32_t from, uint32_t to, uint32_t channel) {
    return pairs_[(from * ranks_.size() + to) * setup_.channels + channel];
  }

  RankSetup setup_;
  std::vector<Rank> ranks_;
  std::vector<Pair> pairs_;
  std::set<Event> events_;
  uint64_t order_ = 0;
};

}  // namespace softspine::testbeds
