// SPDX-License-Identifier: Apache-2.0
// Executes the lines of all ranks of a training in an order drawn at random, each in the windows that it is given. It
// knows no host and no time. A send ends when its receive has started, no sooner: the strictest admission.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "control/training/training_lines.hpp"

namespace softspine::tests {

class PatientRanks {
 public:
  // Line 0 has a window of one, the others the least that they need.
  PatientRanks(const control::TrainingRun& run, uint64_t seed);

  // Empty: every rank ended, all messages met one of their size, and nothing started before what it needs.
  std::string run();
  // By group of channels: what all ranks sent.
  const std::map<uint32_t, uint64_t>& sent_bytes() const { return sent_bytes_; }

 private:
  struct Open {
    control::Operation operation;
    std::vector<uint64_t> needs;
    uint64_t number = 0;
    bool has_started = false;
  };
  struct Line {
    std::deque<Open> open;
    std::unique_ptr<Open> next;  // given, and not open
    uint64_t opened = 0;
    uint32_t window = 1;
    bool has_ended = false;
  };
  struct Rank {
    std::unique_ptr<control::TrainingLines> work;
    std::vector<Line> lines;
    std::set<uint64_t> open;  // numbers
  };
  struct End {
    uint32_t rank;
    uint64_t number;
    uint64_t bytes;
  };
  struct Link {
    std::deque<End> sends;
    std::deque<End> receives;
  };

  bool open_more(Rank& rank);
  bool open_next(Rank& rank, uint32_t line);
  static bool is_ready(const Rank& rank, const Line& line, const Open& op);
  void start(uint32_t rank, Open& op);
  void match(Link& link);
  void finish(uint32_t rank, uint64_t number);

  std::vector<Rank> ranks_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Link> links_;
  std::map<uint32_t, uint64_t> sent_bytes_;
  std::mt19937_64 random_;
  std::string fault_;
};

}  // namespace softspine::tests
