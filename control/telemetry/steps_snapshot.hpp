// SPDX-License-Identifier: Apache-2.0
// What the ranks of collectives and trainings did over time, and why those that waited did so (control/steps).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::control {

// What a rank's time goes to. These overlap, but for kWait: nothing was under way but receives.
enum class StepKind : uint8_t { kCompute, kReduce, kSend, kWait };
inline constexpr std::array<std::string_view, 4> kStepWords{"compute", "reduce", "send", "wait"};

// Spans that a run has too many of are joined: then `busy` is less than the span.
struct StepSpan {
  dataplane::Instant from;
  dataplane::Instant to;
  dataplane::Duration busy;
};

// Why a rank waited: what took longest of all that happened meanwhile on the way to the message that ended its wait.
enum class WaitCause : uint8_t {
  kCompute,         // a rank computed
  kReduce,          // a rank reduced, or copied
  kPost,            // a message stood before its queue pair: for a clear-to-send, for room, for those before it
  kQueue,           // a message stood in a queue, or shared one
  kPause,           // a port on its way was paused
  kRetransmission,  // packets of it were lost
  kRateCut,         // its queue pair was slowed down by congestion notifications
  kTransfer,        // nothing in the fabric: its bytes take that long, and those that its sender sends beside it
  kUnknown,         // it began before what is kept
};
inline constexpr std::array<std::string_view, 9> kWaitCauseWords{
    "compute", "reduce", "post", "queue", "pause", "retransmission", "rate_cut", "transfer", "unknown"};

struct WaitReason {
  WaitCause cause = WaitCause::kUnknown;
  dataplane::Duration time;  // of the wait's own time
  uint32_t rank = 0;         // who computed or reduced; who sent the message
  std::string host;          // of that rank
  uint32_t ranks_back = 0;   // 0: the rank itself, 1: the one whose message it waited for, …
  // Of the message, with kPost and all that follows but kUnknown.
  uint32_t to_rank = 0;
  std::string to_host;
  uint32_t channel = 0;
  uint64_t bytes = 0;
  dataplane::Instant started;  // the rank was ready to send it
  dataplane::Instant posted;   // its queue pair had it
  dataplane::Instant arrived;
  // Of the port on its way where it stood longest, or, with kPause, that was paused longest. Empty: none is known.
  std::string port;
  uint8_t queue = 0;
  dataplane::Duration longest_stay;  // of a packet of it
  dataplane::Duration paused;        // while it passed
  // With kPause: who paused that port, who paused the one that made it do so, …
  std::vector<std::string> paused_by;
  // At which port of the last of these packets stood longest; empty: it is a host.
  std::string congested_port;
  dataplane::Duration congested_stay;
  uint64_t retransmitted_packets = 0;
  uint64_t naks = 0;
  uint64_t timeouts = 0;
  uint64_t cnps = 0;        // and echoes of CE
  std::string lost_behind;  // the port behind which its packets were lost; empty: not known
  uint64_t lost_packets = 0;
  std::string words;  // of a recording, which has the cause and these; else empty
};

struct StepWait {
  dataplane::Instant from;
  dataplane::Instant to;
  uint32_t peer = 0;  // whose message ended it
  std::string peer_host;
  uint32_t channel = 0;
  uint64_t bytes = 0;
  WaitReason reason;
};

struct RankSteps {
  uint32_t rank = 0;
  std::string host;
  std::array<std::vector<StepSpan>, kStepWords.size()> spans;  // by kind
  dataplane::Duration waited;
  uint64_t waits = 0;
  std::vector<StepWait> longest;  // the longest first
};

// All waits of all ranks, by what they have in common.
struct CauseOfWaits {
  WaitCause cause = WaitCause::kUnknown;
  std::string what;  // the port, else the host of the rank
  std::string root;  // of pauses: who caused them
  dataplane::Duration waited;
  uint64_t waits = 0;
};

struct JobSteps {
  std::string name;
  bool is_training = false;
  std::vector<RankSteps> ranks;      // that are here
  std::vector<CauseOfWaits> causes;  // the one that most was waited for first
};

struct StepsSnapshot {
  std::vector<JobSteps> jobs;  // collectives, then trainings, in the testbed's order
};

}  // namespace softspine::control
