// SPDX-License-Identifier: Apache-2.0
// The server's side of a run: looks at every byte of each part, and frees its buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/verbs/pattern.hpp"
#include "tools/verbs/queue_pairs.hpp"

namespace softspine::tools {

class Receiver {
 public:
  Receiver(QueuePairs& queue_pairs, const Terms& terms)
      : queue_pairs_(queue_pairs), terms_(terms), arrived_(terms.spread.queue_pairs) {}

  std::expected<void, std::string> take(const QueuePairs::Completion& completion) {
    if (!completion.is_write_from_peer) return std::unexpected(std::string{"something else than a part has arrived"});
    const uint32_t qp = completion.queue_pair;
    const uint64_t nth = arrived_[qp]++;
    const uint64_t message = terms_.spread.message_of(qp, nth);
    const uint64_t bytes = terms_.spread.part_bytes(qp);
    // The completion has its length and its number; both are known beforehand, since a queue pair keeps its order.
    if (completion.immediate != static_cast<uint32_t>(message) || completion.bytes != bytes) ++misplaced_;
    wrong_ +=
        wrong_bytes(queue_pairs_.buffer(qp, nth % terms_.depth).first(bytes), pattern_key(terms_.seed, message, qp));
    verified_ += bytes;
    if (auto posted = queue_pairs_.post_receive(qp); !posted) return posted;
    return queue_pairs_.send_credit(qp);
  }

  bool has_all(uint64_t messages) const {
    for (uint32_t qp = 0; qp < arrived_.size(); ++qp) {
      if (arrived_[qp] < terms_.spread.parts_over(qp, messages)) return false;
    }
    return true;
  }
  uint64_t verified_bytes() const { return verified_; }  // looked at
  uint64_t wrong() const { return wrong_; }              // of these
  uint64_t misplaced_parts() const { return misplaced_; }

 private:
  QueuePairs& queue_pairs_;
  const Terms terms_;
  std::vector<uint64_t> arrived_;  // parts, by queue pair
  uint64_t verified_ = 0;
  uint64_t wrong_ = 0;
  uint64_t misplaced_ = 0;
};

}  // namespace softspine::tools
