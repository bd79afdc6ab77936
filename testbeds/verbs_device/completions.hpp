// SPDX-License-Identifier: Apache-2.0
// What a program is told: completions of its work, and events of its queue pairs.
#pragma once

#include <cstdint>

#include "testbeds/verbs_device/rnic_ground.hpp"

namespace softspine::testbeds {

class Completions {
 public:
  explicit Completions(RnicGround& ground) : ground_(ground) {}

  struct Arrival {
    uint32_t status = IBV_WC_SUCCESS;
    uint32_t opcode = IBV_WC_RECV;
    uint32_t bytes = 0;
    uint32_t immediate = 0;
    uint32_t flags = 0;
    uint32_t source_qp = 0;
    uint32_t service_level = 0;
    bool is_solicited = false;
  };
  // The slot of the work is the program's again.
  void sent(QueuePair& pair, const SendWork& work, uint32_t status) noexcept;
  void received(QueuePair& pair, const ReceiveWork& work, const Arrival& arrival) noexcept;
  // What is posted ends as flushed; what will be posted, too. `status`: of the oldest work that was sent, if there is
  // one. `event`: an ibv_event_type, or -1. What the pair owes its peer stays.
  void fail(QueuePair& pair, uint32_t status, int event) noexcept;
  // Of a queue pair that has failed: what was posted since.
  void flush(QueuePair& pair) noexcept;
  void report(uint32_t client, int event, uint32_t handle) noexcept;

 private:
  void push(uint32_t cq, const CompletionSlot& completion, bool is_solicited) noexcept;

  RnicGround& ground_;
};

}  // namespace softspine::testbeds
