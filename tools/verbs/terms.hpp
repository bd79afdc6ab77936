// SPDX-License-Identifier: Apache-2.0
// The messages between both ends: the terms that they have to agree on before the first byte, and the result.
//
// The client sends all terms; the server accepts or refuses them. Then each sends the addresses of its queue pairs.
// After the last byte the server gives its verdict.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "tools/verbs/peer_words.hpp"
#include "tools/verbs/scaling.hpp"
#include "tools/verbs/verbs_device.hpp"

namespace softspine::tools {

inline constexpr uint32_t kMaxQueuePairs = 32;
inline constexpr uint32_t kMaxDepth = 128;
inline constexpr uint64_t kMaxMessageBytes = 1ULL << 31;  // RDMA's
inline constexpr uint64_t kMaxBufferBytes = 1ULL << 30;
inline constexpr uint64_t kMaxMessages = 10'000'000;  // each one's time is kept

struct Terms {
  Spread spread;
  uint32_t depth = 8;       // parts under way over a queue pair, each with a buffer of its own at either end
  uint32_t mtu_bytes = 0;   // of RDMA; 0: the largest that both ports have
  uint32_t flow_label = 0;  // see source_port.hpp
  uint32_t dscp = 26;
  uint32_t ack_timeout = 14;  // 4.096 us x 2^n
  uint64_t seed = 0;

  uint64_t buffer_bytes() const { return spread.largest_part_bytes() * depth * spread.queue_pairs; }
};

// A sentence that names what is out of range, or nothing.
std::string validate(const Terms& terms);

struct QueuePairPlace {
  uint32_t number = 0;
  uint32_t first_psn = 0;
};

struct End {
  GidBytes gid{};
  std::string device;
  uint32_t mtu_bytes = 0;
  std::vector<QueuePairPlace> queue_pairs;
  // The buffers, one behind the other: queue pair by queue pair, `depth` of each. Only the server's are written to.
  uint64_t address = 0;
  uint32_t key = 0;
};

// The server's findings in its buffers.
struct Verdict {
  uint64_t verified_bytes = 0;  // looked at
  uint64_t wrong_bytes = 0;     // of these
  uint64_t misplaced_parts = 0;
  DeviceCounters counters;  // of its device, since the first byte

  bool is_right() const { return wrong_bytes == 0 && misplaced_parts == 0; }
};

// A sentence if the server has not looked at what the client has sent, or nothing.
std::string validate(const Verdict& verdict, uint64_t sent_bytes);

Json to_json(const Terms& terms);
Json to_json(const End& end);
Json to_json(const Verdict& verdict);
// The terms in a peer's words: every number within its range, or a sentence.
std::expected<Terms, std::string> terms_from(const Json& json);
std::expected<End, std::string> end_from(const Json& json);
std::expected<Verdict, std::string> verdict_from(const Json& json);

}  // namespace softspine::tools
