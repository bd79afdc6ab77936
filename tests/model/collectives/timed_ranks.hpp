// SPDX-License-Identifier: Apache-2.0
// The time that all ranks' streams take where nothing is in the way: each pair of ranks has a link of its own, at one
// rate and one latency. Event by event, with as many open operations as a stream gives. A send is done when its message
// has come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "control/collectives/collective_work.hpp"

namespace softspine::tests {

struct LinkTimes {
  double seconds_per_byte = 1;
  double latency = 0;
};

class TimedRanks {
 public:
  TimedRanks(const control::CollectiveShape& shape, LinkTimes link) : link_(link) {
    for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const auto stream = control::stream_of(shape, rank);
      auto& operations = ranks_.emplace_back();
      control::Operation operation;
      while (stream->next(operation)) add(operations, operation);
    }
  }

  // When the last operation of all is done.
  double run() {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      for (uint64_t i = 0; i < ranks_[rank].size(); ++i) {
        if (ranks_[rank][i].missing == 0) events_.push({0, sequence_++, rank, i, false});
      }
    }
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now = event.time;
      event.done ? finish(event) : start(event);
    }
    return left_ == 0 ? now : -1;
  }

 private:
  struct Known {
    control::OperationKind kind;
    uint32_t peer;
    uint32_t channel;
    uint64_t bytes;
    uint64_t missing;
    std::vector<uint64_t> waiters;
  };
  struct Event {
    double time;
    uint64_t sequence;
    uint32_t rank;
    uint64_t number;
    bool done;
    bool operator<(const Event& other) const { return std::tie(time, sequence) > std::tie(other.time, other.sequence); }
  };
  struct Link {
    std::deque<double> arrivals;
    std::deque<uint64_t> receives;
  };

  void add(std::vector<Known>& operations, const control::Operation& operation) {
    const uint64_t number = operations.size();
    for (const uint64_t needed : operation.needs) operations[needed].waiters.push_back(number);
    operations.push_back(
        {operation.kind, operation.peer, operation.channel, operation.bytes, operation.needs.size(), {}});
    ++left_;
  }

  void start(const Event& event) {
    const Known& operation = ranks_[event.rank][event.number];
    switch (operation.kind) {
      case control::OperationKind::kSend: return send(event, operation);
      case control::OperationKind::kReceive: {
        Link& link = links_[{operation.peer, event.rank, operation.channel}];
        link.receives.push_back(event.number);
        return match(link, event.rank, event.time);
      }
      default: events_.push({event.time, sequence_++, event.rank, event.number, true});
    }
  }

  void send(const Event& event, const Known& operation) {
    // One wire between two ranks, whatever the channel.
    double& free = wires_[{event.rank, operation.peer}];
    free = std::max(free, event.time) + static_cast<double>(operation.bytes) * link_.seconds_per_byte;
    const double arrival = free + link_.latency;
    events_.push({arrival, sequence_++, event.rank, event.number, true});
    Link& link = links_[{event.rank, operation.peer, operation.channel}];
    link.arrivals.push_back(arrival);
    match(link, operation.peer, event.time);
  }

  void match(Link& link, uint32_t receiver, double now) {
    while (!link.arrivals.empty() && !link.receives.empty()) {
      events_.push({std::max(now, link.arrivals.front()), sequence_++, receiver, link.receives.front(), true});
      link.arrivals.pop_front();
      link.receives.pop_front();
    }
  }

  void finish(const Event& event) {
    --left_;
    for (const uint64_t waiter : ranks_[event.rank][event.number].waiters) {
      if (--ranks_[event.rank][waiter].missing == 0) {
        events_.push({event.time, sequence_++, event.rank, waiter, false});
      }
    }
  }

  LinkTimes link_;
  std::vector<std::vector<Known>> ranks_;
  std::priority_queue<Event> events_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Link> links_;
  std::map<std::pair<uint32_t, uint32_t>, double> wires_;
  uint64_t sequence_ = 0;
  uint64_t left_ = 0;
};

}  // namespace softspine::tests
