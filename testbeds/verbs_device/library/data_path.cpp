// SPDX-License-Identifier: Apache-2.0
// What a program calls for each message: no system call here, but to wake a device that sleeps.
#include <cerrno>
#include <cstring>

#include "testbeds/verbs_device/library/device_socket.hpp"
#include "testbeds/verbs_device/library/ours.hpp"

namespace softspine::testbeds {

void ring_doorbell(OurContext& context, uint32_t qp) {
  const uint32_t number = qp % kQueuePairLimit;
  context.doorbells->words[number / 64].fetch_or(uint64_t{1} << (number % 64), std::memory_order_acq_rel);
  context.doorbells->summary.fetch_or(uint64_t{1} << (number / 64), std::memory_order_seq_cst);
  std::atomic<uint32_t>& asleep = context.doorbells->asleep;
  if (asleep.load(std::memory_order_seq_cst) != 0 && asleep.exchange(0) != 0) wake_device(context.socket);
}

bool has_room(const Ring& ring, uint32_t produced) {
  return produced - ring.head().consumed.load(std::memory_order_acquire) < ring.slots;
}

void put_pieces(uint8_t* to, const ibv_sge* pieces, int count) {
  for (int i = 0; i < count; ++i) {
    const MemoryPiece piece{pieces[i].addr, pieces[i].length, pieces[i].lkey};
    std::memcpy(to + static_cast<size_t>(i) * sizeof piece, &piece, sizeof piece);
  }
}

void put_address(SendSlot& slot, const ibv_ah_attr& to, uint32_t remote_qp, uint32_t qkey) {
  std::memcpy(slot.remote_gid, to.grh.dgid.raw, sizeof slot.remote_gid);
  slot.remote_qp = remote_qp;
  slot.remote_qkey = qkey;
  slot.flow_label = to.grh.flow_label;
  slot.traffic_class = to.grh.traffic_class;
  slot.hop_limit = to.grh.hop_limit;
  slot.gid_index = to.grh.sgid_index;
}

namespace {

// The bytes, or more than the limit.
uint32_t put_inline(uint8_t* to, const ibv_send_wr& work, uint32_t limit) {
  uint64_t bytes = 0;
  for (int i = 0; i < work.num_sge; ++i) {
    const ibv_sge& piece = work.sg_list[i];
    if (bytes + piece.length > limit) return limit + 1;
    std::memcpy(to + bytes, reinterpret_cast<const void*>(piece.addr), piece.length);
    bytes += piece.length;
  }
  return static_cast<uint32_t>(bytes);
}

bool is_datagram_address(const OurQp& qp, const ibv_send_wr& work) {
  return qp.qp.qp_type != IBV_QPT_UD || work.wr.ud.ah != nullptr;
}

int put_send(OurQp& qp, const ibv_send_wr& work) {
  if (work.num_sge < 0 || !is_datagram_address(qp, work)) return EINVAL;
  uint8_t* const place = qp.sends.slot(qp.sent);
  SendSlot slot{};
  slot.id = work.wr_id;
  slot.opcode = work.opcode;
  slot.flags = work.send_flags;
  slot.immediate = work.imm_data;
  if ((work.send_flags & IBV_SEND_INLINE) != 0) {
    slot.inline_bytes = put_inline(place + sizeof slot, work, qp.sizes.inline_bytes);
    if (slot.inline_bytes > qp.sizes.inline_bytes) return EINVAL;
  } else {
    if (static_cast<uint32_t>(work.num_sge) > qp.sizes.send_pieces) return EINVAL;
    slot.pieces = static_cast<uint32_t>(work.num_sge);
    put_pieces(place + sizeof slot, work.sg_list, work.num_sge);
  }
  if (qp.qp.qp_type == IBV_QPT_UD) {
    const ibv_ah_attr& to = reinterpret_cast<const OurAh*>(work.wr.ud.ah)->attributes;
    put_address(slot, to, work.wr.ud.remote_qpn, work.wr.ud.remote_qkey);
  } else if (work.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || work.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    slot.remote_address = work.wr.atomic.remote_addr;
    slot.remote_key = work.wr.atomic.rkey;
    slot.compare_add = work.wr.atomic.compare_add;
    slot.swap = work.wr.atomic.swap;
  } else {
    slot.remote_address = work.wr.rdma.remote_addr;
    slot.remote_key = work.wr.rdma.rkey;
  }
  std::memcpy(place, &slot, sizeof slot);
  return 0;
}

int put_receives(const Ring& ring, uint32_t& produced, uint32_t most_pieces, ibv_recv_wr* work, ibv_recv_wr** bad) {
  int error = 0;
  for (; work != nullptr; work = work->next) {
    if (!has_room(ring, produced)) error = ENOMEM;
    if (work->num_sge < 0 || static_cast<uint32_t>(work->num_sge) > most_pieces) error = EINVAL;
    if (error != 0) break;
    uint8_t* const place = ring.slot(produced);
    const ReceiveSlot slot{work->wr_id, static_cast<uint32_t>(work->num_sge), 0};
    std::memcpy(place, &slot, sizeof slot);
    put_pieces(place + sizeof slot, work->sg_list, work->num_sge);
    ring.head().produced.store(++produced, std::memory_order_release);
  }
  if (error != 0) *bad = work;
  return error;
}

void copy_completion(const CompletionSlot& from, ibv_wc& to) {
  to = {};
  to.wr_id = from.id;
  to.status = static_cast<ibv_wc_status>(from.status);
  to.opcode = static_cast<ibv_wc_opcode>(from.opcode);
  to.byte_len = from.bytes;
  to.imm_data = from.immediate;
  to.qp_num = from.qp;
  to.src_qp = from.source_qp;
  to.wc_flags = from.flags;
  to.sl = static_cast<uint8_t>(from.service_level);
}

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* work, ibv_send_wr** bad) {
  OurQp& own = ours(qp);
  int error = 0;
  pthread_spin_lock(&own.send_lock);
  for (; work != nullptr; work = work->next) {
    error = has_room(own.sends, own.sent) ? put_send(own, *work) : ENOMEM;
    if (error != 0) break;
    own.sends.head().produced.store(++own.sent, std::memory_order_release);
  }
  pthread_spin_unlock(&own.send_lock);
  if (error != 0) *bad = work;
  ring_doorbell(ours(qp->context), qp->qp_num);
  return error;
}

int post_receive(ibv_qp* qp, ibv_recv_wr* work, ibv_recv_wr** bad) {
  OurQp& own = ours(qp);
  if (own.receives.place == nullptr) {
    *bad = work;
    return EINVAL;
  }
  pthread_spin_lock(&own.receive_lock);
  const int error = put_receives(own.receives, own.received, own.sizes.receive_pieces, work, bad);
  pthread_spin_unlock(&own.receive_lock);
  // The queue pair has failed: what is posted is to be flushed.
  if (own.receives.head().armed.load(std::memory_order_seq_cst) != 0) ring_doorbell(ours(qp->context), qp->qp_num);
  return error;
}

int post_shared_receive(ibv_srq* srq, ibv_recv_wr* work, ibv_recv_wr** bad) {
  OurSrq& own = ours(srq);
  pthread_spin_lock(&own.lock);
  const int error = put_receives(own.ring, own.produced, own.pieces, work, bad);
  pthread_spin_unlock(&own.lock);
  return error;
}

int poll_completions(ibv_cq* cq, int most, ibv_wc* out) {
  OurCq& own = ours(cq);
  pthread_spin_lock(&own.lock);
  int count = 0;
  while (count < most && has_completions(own)) {
    CompletionSlot slot;
    std::memcpy(&slot, own.ring.slot(own.consumed++), sizeof slot);
    copy_completion(slot, out[count++]);
  }
  if (count != 0) own.ring.head().consumed.store(own.consumed, std::memory_order_release);
  pthread_spin_unlock(&own.lock);
  return count;
}

// Who is to hear of any completion still is, if solicited ones are asked for, too.
int ask_to_notify(ibv_cq* cq, int solicited_only) {
  std::atomic<uint32_t>& armed = ours(cq).ring.head().armed;
  const uint32_t wanted = solicited_only != 0 ? kSolicitedArmed : kAnyArmed;
  uint32_t before = armed.load(std::memory_order_seq_cst);
  while (before < wanted && !armed.compare_exchange_weak(before, wanted, std::memory_order_seq_cst)) {
  }
  return 0;
}

}  // namespace softspine::testbeds
