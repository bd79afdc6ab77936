// SPDX-License-Identifier: Apache-2.0
// The sending half of a queue pair: which packet is next, and what an answer to earlier ones means. It sees no packet
// and no memory.
//
//     send queue ── fetch ──► work, with its PSNs ── next ──► packet       acknowledged() ──► take_done ──► completion
//                             ▲ cursor goes back: sequence error, a response that is missing, timeout, RNR
//
// Work takes PSNs when it is fetched: one a packet of path_mtu; a read as many as its responses have, an atomic one.
// Reliable: oldest_ is the first PSN that is not acknowledged; go-back-N from there. An acknowledgement names all
// packets up to its PSN; one that passes a read whose responses have not all come shows that some are lost: the read is
// asked for again from oldest_ on. Timer: 4.096 µs · 2^timeout (0: none) from the last packet or progress; `retries` of
// them in a row end the queue pair, as do `rnr_retries` (7: none) answers that the receiver is not ready. A packet is
// sent when it leaves the NIC: as long as one waits there for its rate or a pause, no timer runs out. Unreliable: done
// when sent. At most kWindow packets are under way, at most most_reads reads and atomics, and one with a fence waits
// for those before. Sources: IBA 1.4, 9.7.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/units/time.hpp"
#include "testbeds/verbs_device/psn.hpp"
#include "testbeds/verbs_device/rdma_frame.hpp"
#include "testbeds/verbs_device/shared/device_calls.hpp"
#include "testbeds/verbs_device/work_ring.hpp"

namespace softspine::testbeds {

struct SendWork {
  SendSlot slot;
  uint32_t index = 0;  // of its slot in the ring, where inline data stay
  uint32_t bytes = 0;
  uint32_t first_psn = 0;
  uint32_t packets = 0;
  uint32_t wrong = IBV_WC_SUCCESS;  // else: how it ends, when all before it have
  std::array<MemoryPiece, kPieceLimit> piece;

  bool needs_response() const { return slot.opcode == IBV_WR_RDMA_READ || is_atomic(); }
  bool is_read() const { return slot.opcode == IBV_WR_RDMA_READ; }
  bool is_atomic() const {
    return slot.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || slot.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
  bool is_send() const { return slot.opcode == IBV_WR_SEND || slot.opcode == IBV_WR_SEND_WITH_IMM; }
  bool has_immediate() const {
    return slot.opcode == IBV_WR_SEND_WITH_IMM || slot.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  }
};

struct RequestPacket {
  const SendWork* work;
  RdmaFields fields;
  uint32_t offset;  // of its payload in the work's memory
  uint32_t bytes;
  bool is_again;  // it was sent before
};

// The upper bits of its opcodes.
constexpr uint8_t transport_of(uint32_t type) {
  return type == IBV_QPT_UD ? rdma::kUd : type == IBV_QPT_UC ? rdma::kUc : rdma::kRc;
}

struct RequesterKind {
  uint32_t type = IBV_QPT_RC;
  QueueSizes sizes{};
  bool is_reliable() const { return type == IBV_QPT_RC; }
};

class Requester {
 public:
  static constexpr uint32_t kWindow = 256;
  static constexpr uint32_t kAckEvery = 16;
  static constexpr uint32_t kOpenWorks = 256;
  static constexpr uint64_t kLongestMessage = 1U << 30;  // 2^22 packets of 256 bytes

  void open(const RequesterKind& kind);
  // From the state RESET on: no work, no PSN.
  void reset() noexcept;
  // What modify_qp has set.
  void use(const QueuePairAttributes& attributes) noexcept { attributes_ = attributes; }
  void start(uint32_t first_psn) noexcept;

  // Takes what was posted, as far as there is room.
  void fetch(WorkRing& ring) noexcept;
  // None: nothing may be sent now. Each call is a packet that leaves.
  std::optional<RequestPacket> next(dataplane::Instant now) noexcept;
  // Work that is done, in its order; null: none. It stays what it is until the next fetch().
  const SendWork* take_done() noexcept;
  // The oldest work that is open, done or not.
  const SendWork* take_any() noexcept;

  // Of the oldest work: it can never be sent. (Its `wrong`.)
  bool is_stuck() const noexcept;
  const SendWork* oldest() const noexcept { return head_ == fetched_ ? nullptr : &work(head_); }
  bool is_sent(uint32_t psn) const { return psn_ahead(psn, sent_) < 0 && psn_ahead(psn, oldest_) >= 0; }

  void acknowledged(uint32_t psn, dataplane::Instant now) noexcept;
  // False: the queue pair fails with `failure`, as by expire().
  bool refused(uint32_t psn, uint8_t syndrome, dataplane::Instant now) noexcept;
  // The read or atomic to which the response with this PSN belongs, if it is the next one that is missing; else null,
  // and what is missing is asked for again.
  const SendWork* expects_response(uint32_t psn, dataplane::Instant now) noexcept;
  void responded(uint32_t psn, dataplane::Instant now) noexcept;
  bool has_timed_out(dataplane::Instant now) const noexcept { return deadline_ <= now && in_nic_ == 0; }
  bool expire(dataplane::Instant now) noexcept;
  uint32_t failure() const { return failure_; }

  // A packet that next() gave waits in the NIC; it leaves.
  void handed_over() noexcept { ++in_nic_; }
  void left(dataplane::Instant now) noexcept;

  // When something may have to be done; never() while nothing is under way.
  dataplane::Instant timer() const noexcept;

 private:
  SendWork& work(uint32_t index) noexcept { return works_[index & (works_.size() - 1)]; }
  const SendWork& work(uint32_t index) const noexcept { return works_[index & (works_.size() - 1)]; }
  uint32_t mtu() const { return 128U << attributes_.path_mtu; }
  void plan(SendWork& work, const uint8_t* slot) noexcept;
  bool may_begin(const SendWork& work) const noexcept;
  bool advance(uint32_t upto) noexcept;
  void progress(dataplane::Instant now) noexcept;
  void go_back(uint32_t psn) noexcept;
  RequestPacket packet_of(const SendWork& work, uint32_t number) const noexcept;
  void restart_timer(dataplane::Instant now) noexcept;

  RequesterKind kind_;
  QueuePairAttributes attributes_{};
  std::vector<SendWork> works_;
  uint32_t head_ = 0;     // oldest open work
  uint32_t fetched_ = 0;  // behind the youngest
  uint32_t cursor_ = 0;   // the work whose packet is next
  uint32_t packet_ = 0;   // and its number in it
  uint32_t next_psn_ = 0;
  uint32_t oldest_ = 0;
  uint32_t sent_ = 0;  // behind the last PSN that was ever sent
  uint32_t in_nic_ = 0;
  bool has_asked_again_ = false;
  uint32_t retries_left_ = 0;
  uint32_t rnr_left_ = 0;
  uint32_t failure_ = IBV_WC_SUCCESS;
  dataplane::Instant deadline_ = dataplane::Instant::never();
  dataplane::Instant waits_until_;
};

}  // namespace softspine::testbeds
