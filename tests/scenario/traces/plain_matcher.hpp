// SPDX-License-Identifier: Apache-2.0
// One rank's recorded work done slowly and plainly, given when each message has come to it: every operation is looked
// at after each event. Shares no code with the program.
//
// At one instant what takes time ends first, then each message comes. After each of these, of what may go on the
// smallest number does, until nothing may.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "tests/scenario/traces/trace_fabric.hpp"

namespace softspine::testbeds {

class PlainMatcher {
 public:
  // `arrivals`: from other ranks.
  PlainMatcher(uint32_t rank, const TracedRank& operations, uint32_t window, const TraceCosts& costs,
               std::vector<Arrival> arrivals);
  void run();

  std::vector<DoneTraced> done;
  std::vector<size_t> waiting;  // receives that have no message at the end
  size_t unclaimed() const { return kept_.size(); }

 private:
  enum class At { kHeld, kPosted, kAsksForCpu, kHasCpu, kRuns, kOver, kDone };
  struct Doing {
    At at = At::kHeld;
    bool is_open = false;
    bool has_started = false;
    dataplane::Instant started;
    dataplane::Instant ends;
    Arrival message{};
  };

  void settle();
  void open();
  bool is_free(size_t number) const;
  bool may_go_on(size_t number) const;
  void go_on(size_t number);
  void ask_cpu(size_t number);
  void begin(size_t number);
  void end(size_t number);
  void come(const Arrival& message);
  bool fits(size_t receive, const Arrival& message) const;
  dataplane::Duration cost(size_t number) const;

  uint32_t rank_;
  const TracedRank& operations_;
  size_t window_;
  TraceCosts costs_;
  std::vector<Arrival> arrivals_;
  std::vector<Doing> doing_;
  std::list<size_t> posted_;             // receives, in their order
  std::list<Arrival> kept_;              // messages, likewise
  std::vector<std::list<size_t>> cpus_;  // who has it, and behind it who asks
  size_t opened_ = 0;
  dataplane::Instant now_;
};

}  // namespace softspine::testbeds
