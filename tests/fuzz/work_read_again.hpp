// SPDX-License-Identifier: Apache-2.0
// A trace's work, as its ranks will read it: each operation needs those before it, the totals are what they sum up to,
// and the pairs carry all that does not stay in its rank.
#pragma once

#include "control/traces/recorded_work.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::tests {

inline void check_operation(const control::RecordedWork& work, uint32_t rank, const control::TraceOperation& op,
                            uint64_t number) {
  const uint64_t ranks = work.ranks().size();
  for (const uint64_t need : op.needs) SOFTSPINE_CHECK(need < number, need, number);
  for (const uint64_t need : op.needs_started) SOFTSPINE_CHECK(need < number, need, number);
  SOFTSPINE_CHECK(op.cpu < work.ranks()[rank].cpus, op.cpu, rank);
  if (op.kind == control::OperationKind::kCompute) return;
  SOFTSPINE_CHECK(op.peer < ranks || (op.peer == control::kAnyRank && work.totals.wildcards > 0), op.peer, ranks);
}

inline void check_work(const control::RecordedWork& work) {
  control::TraceTotals found;
  for (uint32_t rank = 0; rank < work.ranks().size(); ++rank) {
    control::RecordedStream stream(work, rank);
    control::TraceOperation op;
    for (uint64_t number = 0; stream.next(op); ++number) {
      check_operation(work, rank, op, number);
      const bool sends = op.kind == control::OperationKind::kSend;
      found.sends += sends ? 1 : 0;
      found.receives += op.kind == control::OperationKind::kReceive ? 1 : 0;
      found.computes += op.kind == control::OperationKind::kCompute ? 1 : 0;
      found.sent_bytes += sends ? op.bytes : 0;
      found.to_itself += sends && op.peer == rank ? 1 : 0;
    }
  }
  SOFTSPINE_CHECK(found.sends == work.totals.sends, found.sends, work.totals.sends);
  SOFTSPINE_CHECK(found.receives == work.totals.receives, found.receives, work.totals.receives);
  SOFTSPINE_CHECK(found.computes == work.totals.computes, found.computes, work.totals.computes);
  SOFTSPINE_CHECK(found.sent_bytes == work.totals.sent_bytes, found.sent_bytes, work.totals.sent_bytes);
  SOFTSPINE_CHECK(found.sends == found.receives, found.sends, found.receives);
  uint64_t messages = found.to_itself;
  for (const control::TracePair& pair : work.pairs) {
    SOFTSPINE_CHECK(pair.from != pair.to && pair.messages > 0, pair.from, pair.messages);
    messages += pair.messages;
  }
  SOFTSPINE_CHECK(messages == found.sends, messages, found.sends);
}

}  // namespace softspine::tests
