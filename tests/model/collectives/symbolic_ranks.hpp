// SPDX-License-Identifier: Apache-2.0
// Executes the streams of all ranks on data, in an order drawn at random, and knows no algorithm.
//
// Each byte of a rank's input is a random number of 64 bits of its own. A sum of them, modulo 2^64, is right only if
// each addend is there once. Outputs and scratch begin with other random numbers, so that what is read too early shows.
// A send ends when its receive has started, no sooner: the strictest admission.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "control/collectives/collective_work.hpp"

namespace softspine::tests {

class SymbolicRanks {
 public:
  SymbolicRanks(const control::CollectiveShape& shape, uint64_t seed);

  // Empty: every rank ended with the right result, and messages matched.
  std::string run();
  uint64_t sent_bytes(uint32_t rank) const { return ranks_[rank].sent_bytes; }

 private:
  using Values = std::vector<uint64_t>;
  struct Open {
    control::Operation operation;
    control::DataUse data;
    std::vector<uint64_t> needs;
    uint64_t number = 0;
    bool started = false;
  };
  struct Rank {
    std::unique_ptr<control::CollectiveStream> stream;
    std::deque<Open> open;
    uint64_t given = 0;
    bool ended = false;
    uint32_t window = 0;
    std::map<control::DataPlace, Values> memory;
    std::map<uint64_t, Values> received;  // by number
    std::map<uint64_t, Values> worked;
    uint64_t sent_bytes = 0;
  };
  struct Message {
    uint32_t rank;
    uint64_t number;
  };
  struct Link {
    std::deque<Message> sends;
    std::deque<Message> receives;
  };

  void put_in_place(uint32_t rank);
  void pull(Rank& rank);
  std::vector<uint64_t> ready_of(const Rank& rank);
  void start(uint32_t rank, uint64_t number);
  void match(Link& link);
  Values value_of(const Rank& rank, const Open& operation);
  void work(Rank& rank, const Open& work);
  void finish(uint32_t rank, uint64_t number);
  Open& at(uint32_t rank, uint64_t number);
  std::string judge() const;
  bool is_right(uint32_t rank) const;
  void fail(const std::string& why) { error_ = error_.empty() ? why : error_; }

  control::CollectiveShape shape_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<uint32_t> awake_;  // may have something to start
  std::vector<Values> inputs_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Link> links_;  // from, to, channel
  std::string error_;
};

}  // namespace softspine::tests
