// SPDX-License-Identifier: Apache-2.0
// What the ranks of collectives and trainings did, and why those that waited did so.
//
//   step       an operation that is done: from when it started to when it was done. It followed the rank's step that
//              was done last by its start. A receive followed the sender's step that was done last by the start of its
//              message. So steps are chains that lead back through the ranks
//   wait       of a receive: for how long nothing but receives was under way at the rank, since the one before. It is
//              as long as it is, and counts as ending with the receive; other work may have interrupted it
//   reason     the chain is followed back from the receive to the begin of the wait. Of all that it meets meanwhile,
//              computations, reductions, and what messages were late by (message_fate.hpp), the longest is the reason.
//              If there is nothing, the ranks may be late since before: then it is the last message on the chain that
//              was late by what it met in the fabric for at least half as long. If there is none, the message took the
//              time that its bytes take
//
// Records come in the order of time. So what is found does not depend on who brought them when.
//
// Memory: of each connection its last message, and MessageFate::kBefore before each that is kept; of each rank kSteps
// steps, kLongest waits and StepSpans; messages from when they are posted until both ends are done; looks
// (port_looks.hpp); a row for each cause that occurs. A chain that leads to a step which is not kept any more ends
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "control/steps/message_fate.hpp"
#include "control/steps/port_looks.hpp"
#include "control/steps/step_record.hpp"
#include "control/steps/step_spans.hpp"

namespace softspine::control {

struct StepJob {
  std::string name;
  bool is_training = false;
  std::vector<uint32_t> hosts;  // by rank: a node of the fabric
};

// A wait, when it is over.
struct FoundWait {
  uint32_t job = 0;
  uint32_t rank = 0;
  StepWait wait;
  std::string at;           // of its cause, as CauseOfWaits has it: the port, else the host of the rank
  std::string by;           // of pauses: who caused them
  bool is_longest = false;  // of its rank, so far
};

class StepHistory {
 public:
  static constexpr size_t kSteps = 256;
  static constexpr size_t kLongest = 4;
  static constexpr uint32_t kFollowed = 64;  // steps of a chain

  // `fabric` outlives it. `first_psns`: by flow.
  StepHistory(const Fabric& fabric, std::vector<StepJob> jobs, std::vector<uint32_t> first_psns);

  PortLooks& looks() { return looks_; }
  void take(const StepRecord& record);
  void take(const HopRecord& record);
  std::shared_ptr<const StepsSnapshot> snapshot() const;
  // Called with each wait that is over from now on, in the order of their ends.
  void on_wait(std::function<void(const FoundWait&)> see) { on_wait_ = std::move(see); }

 private:
  static constexpr uint64_t kNoStep = UINT64_MAX;
  struct Step {
    OperationKind kind = OperationKind::kCompute;
    dataplane::Instant from;
    dataplane::Instant at;
    uint64_t before = kNoStep;  // at this rank
    std::shared_ptr<const MessageFate> message;
  };
  struct Reason {
    WaitCause cause = WaitCause::kTransfer;
    dataplane::Duration time;
    uint32_t rank = 0;
    uint32_t ranks_back = 0;
    std::shared_ptr<const MessageFate> message;
    const HopFate* hop = nullptr;  // of the message
    Pausers pausers;
  };
  struct Wait {
    dataplane::Instant from;
    dataplane::Instant to;
    std::shared_ptr<const MessageFate> message;
    Reason reason;
  };
  struct Rank {
    std::array<StepSpans, kStepWords.size()> spans;
    std::vector<Step> steps;  // a ring
    uint64_t done = 0;        // steps
    dataplane::Duration waited;
    uint64_t waits = 0;
    std::vector<Wait> longest;
  };
  // Cause, port or rank, who caused it.
  using CauseKey = std::tuple<WaitCause, LinkEnd, LinkEnd>;
  struct CauseCount {
    dataplane::Duration waited;
    uint64_t waits = 0;
  };
  struct Job {
    StepJob facts;
    std::vector<Rank> ranks;
    std::map<CauseKey, CauseCount> causes;
  };
  // Job, sender, receiver, channel, number.
  using MessageKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint64_t>;
  struct Message {
    std::shared_ptr<MessageFate> fate;
    std::vector<uint64_t> parts;  // keys of parts_
    bool is_half_done = false;    // one of its ends is
  };
  using Messages = std::map<MessageKey, Message>;

  void take_posted(const StepRecord& record);
  std::shared_ptr<const MessageFate> take_end(const StepRecord& record);
  void take_wait(const StepRecord& record, Rank& rank);
  Reason reason_of(uint32_t job, uint32_t rank, const Step& last, dataplane::Instant from) const;
  void consider(const Step& step, uint32_t rank, uint32_t back, dataplane::Instant from, Reason& best) const;
  bool consider_earlier(const Step& step, uint32_t back, dataplane::Duration wait, Reason& best) const;
  template <typename See>
  void follow(uint32_t job, uint32_t rank, const Step& last, dataplane::Instant from, See&& see) const;
  CauseKey key_of(const Job& job, const Reason& reason) const;
  FoundWait in_words(const StepRecord& record, const Wait& wait, const CauseKey& cause) const;

  static void forget_those_before(MessageFate& message);
  static uint64_t last_step_by(const Rank& rank, dataplane::Instant at);
  static const Step* find(const Rank& rank, uint64_t number);

  const Fabric& fabric_;
  std::vector<Job> jobs_;
  std::vector<uint32_t> first_psns_;
  std::vector<uint64_t> posted_packets_;  // by flow
  PortLooks looks_;
  Messages messages_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, std::shared_ptr<MessageFate>> last_posted_;
  std::unordered_map<uint64_t, std::shared_ptr<MessageFate>> parts_;  // by flow and last PSN

  std::function<void(const FoundWait&)> on_wait_;

  friend class StepWords;
};

}  // namespace softspine::control
