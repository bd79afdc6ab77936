// SPDX-License-Identifier: Apache-2.0
// The recorded work of one rank: operations as a trace has them.
//
//   starts      an operation that needs nothing more done (`needs`), nor anything more started (`needs_started`)
//   cpu         operations of one cpu run one after the other, in the order in which they could start
//   send        `bytes` to `peer` with a tag
//   receive     the oldest message that its source and tag fit: MPI's matching. It has started when it is posted
//   compute     `time` on its cpu
//
// Numbers count the operations of a rank from 0, in the order in which the stream gives them; what an operation needs
// has a smaller one. `line` is the operation's in the file.
#pragma once

#include <cstdint>
#include <span>

#include "control/traffic/graph.hpp"

namespace softspine::control {

// Of a receive: of whomever, with whatever tag.
inline constexpr uint32_t kAnyRank = UINT32_MAX;
inline constexpr uint32_t kAnyTag = UINT32_MAX;

struct TraceOperation : Operation {
  uint32_t tag = 0;
  uint32_t cpu = 0;
  uint64_t line = 0;
  std::span<const uint64_t> needs_started;  // as `needs`
};

class TraceStream {
 public:
  TraceStream() = default;
  virtual ~TraceStream() = default;
  TraceStream(const TraceStream&) = delete;
  TraceStream& operator=(const TraceStream&) = delete;

  // False: there are no more.
  virtual bool next(TraceOperation& out) noexcept = 0;
};

}  // namespace softspine::control
