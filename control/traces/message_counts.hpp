// SPDX-License-Identifier: Apache-2.0
// Whether each message of a trace has its receive, without keeping messages.
//
// By pair of ranks: how many are sent and received, and the sums of their tags' hashes. Where no receive is of whomever
// or with whatever tag, both must agree. Where one is, counts must: of the pair, or of all that a rank is sent.
// What does not agree is looked for in the work again, and named with its tag and line.
// Memory: by pairs of ranks, not by messages.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/document/error.hpp"
#include "control/traces/recorded_work.hpp"

namespace softspine::control {

class MessageCounts {
 public:
  void send(uint32_t from, uint32_t to, uint32_t tag, uint64_t bytes);
  // `from` and `tag` may be any.
  void receive(uint32_t to, uint32_t from, uint32_t tag);

  // Those that send, by from, to; a rank's with itself are left out.
  std::vector<TracePair> pairs() const;
  // What nobody receives, and what nobody sends.
  void check(const RecordedWork& work, const std::string& file, Errors& errors) const;

 private:
  struct Count {
    uint64_t sends = 0;
    uint64_t bytes = 0;
    uint64_t sent_tags = 0;  // sum of hashes
    uint64_t receives = 0;   // with a tag
    uint64_t received_tags = 0;
    uint64_t any_tag_receives = 0;

    bool agrees() const {
      if (any_tag_receives != 0) return sends == receives + any_tag_receives;
      return sends == receives && sent_tags == received_tags;
    }
  };
  using Key = std::pair<uint64_t, const Count*>;  // to << 32 | from

  std::vector<Key> by_receiver() const;

  std::unordered_map<uint64_t, Count> counts_;  // by from << 32 | to
  std::unordered_map<uint32_t, uint64_t> any_source_receives_;
};

}  // namespace softspine::control
