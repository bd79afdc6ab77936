// SPDX-License-Identifier: Apache-2.0
// The work of all ranks of a trace, in a form that each rank reads from the begin to the end: numbers of variable
// length, about a third of the text that they come from. It is written once and shared by all that run it.
//
//   begin_rank, write   the next rank's operations, in their order
//   RecordedStream      reads one rank's again
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/traces/spill_file.hpp"
#include "control/traces/trace_work.hpp"

namespace softspine::control {

// What one rank sends another.
struct TracePair {
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

struct TraceTotals {
  uint64_t sends = 0;
  uint64_t receives = 0;
  uint64_t computes = 0;
  uint64_t wildcards = 0;  // receives of whomever, or with whatever tag
  uint64_t needs = 0;
  uint64_t sent_bytes = 0;
  uint64_t to_itself = 0;  // sends
  uint64_t compute_ns = 0;
  uint32_t cpus = 0;  // the most of a rank, as its numbers have it
  uint32_t nics = 0;  // likewise

  uint64_t operations() const { return sends + receives + computes; }
};

struct RecordedRank {
  uint64_t begin = 0;  // of its bytes
  uint64_t end = 0;
  uint64_t operations = 0;
  uint32_t cpus = 0;
};

class RecordedWork {
 public:
  // Its spans last until the next call.
  void begin_rank();
  void write(const TraceOperation& op);
  std::expected<void, std::string> finish() { return file_.finish(); }

  const std::vector<RecordedRank>& ranks() const { return ranks_; }
  std::span<const uint8_t> bytes_of(uint32_t rank) const {
    return file_.bytes().subspan(ranks_[rank].begin, ranks_[rank].end - ranks_[rank].begin);
  }

  std::vector<TracePair> pairs;  // by from, to; a rank's with itself are not among them
  TraceTotals totals;

 private:
  void count(const TraceOperation& op);

  SpillFile file_;
  std::vector<RecordedRank> ranks_;
  uint64_t last_line_ = 0;
};

// The work outlives it.
class RecordedStream final : public TraceStream {
 public:
  RecordedStream(const RecordedWork& work, uint32_t rank) : bytes_(work.bytes_of(rank)) {}
  bool next(TraceOperation& out) noexcept override;

 private:
  uint64_t number() noexcept;
  void take_needs(std::vector<uint64_t>& out) noexcept;

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  uint64_t count_ = 0;  // of operations
  uint64_t line_ = 0;
  std::vector<uint64_t> needs_;
  std::vector<uint64_t> needs_started_;
};

}  // namespace softspine::control
