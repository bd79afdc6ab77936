// SPDX-License-Identifier: Apache-2.0
// What the receiving half of a queue pair keeps between packets, and the answers that it owes.
//
// Answers leave in the order of their PSNs: an acknowledgement does not overtake the responses of a read before it. A
// peer has at most most_reads_of_peer reads and atomics open, so the list has a bound.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "testbeds/verbs_device/psn.hpp"
#include "testbeds/verbs_device/shared/device_calls.hpp"
#include "testbeds/verbs_device/work_ring.hpp"

namespace softspine::testbeds {

struct OwedAnswer {
  enum class Kind : uint8_t { kAcknowledge, kRead, kAtomic };
  Kind kind = Kind::kAcknowledge;
  uint8_t syndrome = 0;
  uint32_t psn = 0;  // of its next packet
  uint32_t msn = 0;
  uint32_t key = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;  // of the read
  uint32_t sent = 0;   // bytes of it
  uint64_t original = 0;

  // Whether it will still bring the response with this PSN.
  bool brings(uint32_t wanted, uint32_t mtu) const {
    if (kind == Kind::kAcknowledge) return false;
    const uint32_t left = bytes - sent;
    const uint32_t packets = left == 0 ? 1 : (left - 1) / mtu + 1;
    return psn_ahead(wanted, psn) >= 0 && psn_ahead(wanted, psn_after(psn, packets)) < 0;
  }
};

class OwedAnswers {
 public:
  static constexpr uint32_t kMost = 64;

  bool empty() const { return count_ == 0; }
  bool bring(uint32_t psn, uint32_t mtu) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (all_[(first_ + i) % kMost].brings(psn, mtu)) return true;
    }
    return false;
  }
  OwedAnswer& front() { return all_[first_ % kMost]; }
  void pop() { ++first_, --count_; }
  void clear() { count_ = 0; }
  // False: there are too many. A later acknowledgement takes the place of one that has not left, unless it names less:
  // a refusal names all that was before it.
  bool push(const OwedAnswer& answer) {
    const bool acknowledges = answer.kind == OwedAnswer::Kind::kAcknowledge;
    if (acknowledges && count_ != 0) {
      OwedAnswer& last = all_[(first_ + count_ - 1) % kMost];
      if (last.kind == OwedAnswer::Kind::kAcknowledge) {
        if (psn_ahead(answer.psn, last.psn) >= 0) last = answer;
        return true;
      }
    }
    if (count_ == kMost) return false;
    all_[(first_ + count_++) % kMost] = answer;
    return true;
  }

 private:
  std::array<OwedAnswer, kMost> all_;
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

struct ReceiverState {
  enum class Message : uint8_t { kNone, kSend, kWrite };
  struct AtomicResult {
    uint32_t psn = UINT32_MAX;
    uint64_t original = 0;
  };
  static constexpr uint32_t kAtomicResults = kReadLimit;

  uint32_t expected = 0;
  uint32_t msn = 0;
  bool has_complained = false;   // about the expected PSN
  bool has_lost_memory = false;  // a copy into the program has failed
  Message message = Message::kNone;
  std::optional<ReceiveWork> receive;
  uint64_t arrived = 0;  // bytes of the message
  uint64_t write_address = 0;
  uint32_t write_key = 0;
  uint32_t write_bytes = 0;
  OwedAnswers answers;
  std::array<AtomicResult, kAtomicResults> atomics;  // the latest, for requests that come again
  uint32_t oldest_atomic = 0;

  void remember_atomic(uint32_t psn, uint64_t original) {
    atomics[oldest_atomic] = {.psn = psn, .original = original};
    oldest_atomic = (oldest_atomic + 1) % kAtomicResults;
  }
  void end_message() {
    abandon_message();
    receive.reset();
  }
  // Its receive is the next message's.
  void abandon_message() {
    message = Message::kNone;
    arrived = 0;
  }
};

}  // namespace softspine::testbeds
