// SPDX-License-Identifier: Apache-2.0
// The work of one rank of a job: operations, and what each waits for.
//
// An operation starts when all operations that it needs are done. All of them are of its own rank: a rank waits for
// another one by a receive alone. So a graph is executed where its rank is, and nodes meet in links as always.
//
//   kSend     a message to another rank. Done when it is complete: acknowledged, or, of an open loop, sent
//   kReceive  a message from another rank. Starting it grants the sender a place (receiver-driven admission). Done when
//             the message is whole
//   kCompute  nothing but time
//   kReduce   work on bytes at the rank's own rate: a reduction, or a copy. At no rate it takes no time
//
// Messages from one rank to another on one channel keep their order: the first receive takes the first message, and
// both name the same size. What crosses channels has no order.
//
// Operations are numbered 0, 1, 2 … in the order in which the stream gives them; needs are smaller numbers. Whoever
// executes a stream holds a window of operations that are not done, so a stream may be as long as it likes. A stream
// has to put what is needed soon before what is needed late: step k of all channels before step k + 1 of any.
#pragma once

#include <cstdint>
#include <span>

#include "dataplane/units/time.hpp"

namespace softspine::control {

enum class OperationKind : uint8_t { kSend, kReceive, kCompute, kReduce };

struct Operation {
  OperationKind kind = OperationKind::kCompute;
  uint32_t peer = 0;     // send, receive: the other rank
  uint32_t channel = 0;  // send, receive
  uint64_t bytes = 0;    // send, receive, reduce
  dataplane::Duration time;
  std::span<const uint64_t> needs;  // ascending; of the stream, until it is asked for the next one
  bool after_all = false;           // needs all operations of its line before it, besides `needs`
  uint32_t line = 0;
};

inline constexpr uint32_t kLineShift = 56;
constexpr uint64_t number_in(uint32_t line, uint64_t index) {
  return uint64_t{line} << kLineShift | index;
}
constexpr uint32_t line_of(uint64_t number) {
  return static_cast<uint32_t>(number >> kLineShift);
}
constexpr uint64_t index_of(uint64_t number) {
  return number & ((uint64_t{1} << kLineShift) - 1);
}

// What one rank does. Asked for one operation after the other, from within a window.
class WorkStream {
 public:
  WorkStream() = default;
  virtual ~WorkStream() = default;
  WorkStream(const WorkStream&) = delete;
  WorkStream& operator=(const WorkStream&) = delete;

  // False: there are no more.
  virtual bool next(Operation& out) noexcept = 0;
};

// What one rank does in several lines. Asked of any of them, from within its part of the window.
class WorkLines {
 public:
  // kLater: it has none before another line has given one more.
  enum class Answer : uint8_t { kGiven, kLater, kEnded };

  WorkLines() = default;
  virtual ~WorkLines() = default;
  WorkLines(const WorkLines&) = delete;
  WorkLines& operator=(const WorkLines&) = delete;

  virtual uint32_t lines() const noexcept = 0;
  virtual Answer next(uint32_t line, Operation& out) noexcept = 0;
};

// A stream as the only line. The stream outlives it.
class OneLine final : public WorkLines {
 public:
  explicit OneLine(WorkStream& stream) : stream_(stream) {}
  uint32_t lines() const noexcept override { return 1; }
  Answer next(uint32_t, Operation& out) noexcept override {
    return stream_.next(out) ? Answer::kGiven : Answer::kEnded;
  }

 private:
  WorkStream& stream_;
};

}  // namespace softspine::control
