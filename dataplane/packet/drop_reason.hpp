// SPDX-License-Identifier: Apache-2.0
// Why a packet ended without reaching a wire or a host. Each reason is counted per node.
//
// A new reason is declared here and has a row in drop_reason.cpp with its meaning.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace softspine::dataplane {

enum class DropReason : uint8_t {
  kTruncated,
  kBadVersion,
  kBadChecksum,
  kBadLength,
  kBadSource,
  kUnknownMacControl,
  kPfcConsumed,
  kCreditConsumed,
  kNotForUs,
  kForOthers,
  kVlanNotAllowed,
  kNoLayer2,
  kSamePort,
  kTtlExpired,
  kNoRoute,
  kNoMember,
  kNeighbourIncomplete,
  kMtuExceeded,
  kQueueFull,
  kIngressFull,
  kHeadroomFull,
  kWredDropped,
  kPfcWatchdog,
  kPfcWatchdogIngress,
  kLinkDown,
  kLostOnLink,
  kNoBuffer,
  kConsumed,
  kUnsupported,
  kOversize,
  kEdgeFull,
  kBadIcrc,
  kUnknownQp,
  kReceiveBufferFull,
  kCount
};

inline constexpr int kDropReasons = static_cast<int>(DropReason::kCount);

struct DropReasonFacts {
  std::string_view name;  // snake case, as counters and reports print it: "queue_full"
  std::string_view help;  // a sentence
};

const DropReasonFacts& facts_of(DropReason reason);

inline std::string_view name_of(DropReason reason) {
  return facts_of(reason).name;
}

// Whether the packet is ended by the queue that it was for, which counts it, too.
constexpr bool is_of_queue(DropReason reason) {
  return reason == DropReason::kQueueFull || reason == DropReason::kWredDropped || reason == DropReason::kPfcWatchdog;
}

// Whether the packet ended where it was meant to end, or was sent to all for one of them: so it is not lost.
constexpr bool is_consumed(DropReason reason) {
  return reason == DropReason::kPfcConsumed || reason == DropReason::kCreditConsumed ||
         reason == DropReason::kConsumed || reason == DropReason::kForOthers;
}

using DropCounters = std::array<uint64_t, kDropReasons>;

}  // namespace softspine::dataplane
