// SPDX-License-Identifier: Apache-2.0
// The newer way of posting (ibv_wr_…) and of polling (ibv_start_poll …): the same rings.
#include <cerrno>
#include <cstring>

#include "testbeds/verbs_device/library/ours.hpp"

using namespace softspine::testbeds;

namespace {

using softspine::testbeds::ours;

OurQp& ours(ibv_qp_ex* qp) {
  return *reinterpret_cast<OurQp*>(qp);
}
OurCq& ours(ibv_cq_ex* cq) {
  return *reinterpret_cast<OurCq*>(cq);
}

// ── posting: between wr_start and wr_complete the queue is locked, and what is written is not posted

// The slot of a new send; null: something was wrong, which wr_complete will tell.
SendSlot* begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  OurQp& own = ours(qp);
  if (own.staged_error == 0 && !has_room(own.sends, own.staged)) own.staged_error = ENOMEM;
  if (own.staged_error != 0) return nullptr;
  auto* const slot = reinterpret_cast<SendSlot*>(own.sends.slot(own.staged++));
  *slot = {};
  slot->id = qp->wr_id;
  slot->opcode = opcode;
  slot->flags = qp->wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
  return slot;
}
// That which was begun last.
SendSlot* latest(ibv_qp_ex* qp) {
  OurQp& own = ours(qp);
  return own.staged_error != 0 ? nullptr : reinterpret_cast<SendSlot*>(own.sends.slot(own.staged - 1));
}

void begin_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, uint32_t key, uint64_t address) {
  if (SendSlot* const slot = begin(qp, opcode)) {
    slot->remote_key = key;
    slot->remote_address = address;
  }
}
void begin_atomic(ibv_qp_ex* qp, ibv_wr_opcode opcode, uint32_t key, uint64_t address, uint64_t first, uint64_t swap) {
  begin_remote(qp, opcode, key, address);
  if (SendSlot* const slot = latest(qp)) {
    slot->compare_add = first;
    slot->swap = swap;
  }
}

void wr_compare_swap(ibv_qp_ex* qp, uint32_t key, uint64_t address, uint64_t compare, uint64_t swap) {
  begin_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, key, address, compare, swap);
}
void wr_fetch_add(ibv_qp_ex* qp, uint32_t key, uint64_t address, uint64_t add) {
  begin_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, key, address, add, 0);
}
void wr_read(ibv_qp_ex* qp, uint32_t key, uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_READ, key, address);
}
void wr_write(ibv_qp_ex* qp, uint32_t key, uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_WRITE, key, address);
}
void wr_write_immediate(ibv_qp_ex* qp, uint32_t key, uint64_t address, __be32 immediate) {
  begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, key, address);
  if (SendSlot* const slot = latest(qp)) slot->immediate = immediate;
}
void wr_send(ibv_qp_ex* qp) {
  begin(qp, IBV_WR_SEND);
}
void wr_send_immediate(ibv_qp_ex* qp, __be32 immediate) {
  if (SendSlot* const slot = begin(qp, IBV_WR_SEND_WITH_IMM)) slot->immediate = immediate;
}

void wr_set_address(ibv_qp_ex* qp, ibv_ah* ah, uint32_t remote_qp, uint32_t qkey) {
  if (SendSlot* const slot = latest(qp)) put_address(*slot, reinterpret_cast<OurAh*>(ah)->attributes, remote_qp, qkey);
}

void wr_set_inline_list(ibv_qp_ex* qp, size_t count, const ibv_data_buf* parts) {
  SendSlot* const slot = latest(qp);
  if (slot == nullptr) return;
  OurQp& own = ours(qp);
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (parts[i].length > own.sizes.inline_bytes - bytes) {
      own.staged_error = ENOMEM;
      return;
    }
    std::memcpy(reinterpret_cast<uint8_t*>(slot + 1) + bytes, parts[i].addr, parts[i].length);
    bytes += parts[i].length;
  }
  slot->flags |= IBV_SEND_INLINE;
  slot->inline_bytes = static_cast<uint32_t>(bytes);
}
void wr_set_inline(ibv_qp_ex* qp, void* address, size_t length) {
  const ibv_data_buf part{address, length};
  wr_set_inline_list(qp, 1, &part);
}

void wr_set_pieces(ibv_qp_ex* qp, size_t count, const ibv_sge* pieces) {
  SendSlot* const slot = latest(qp);
  if (slot == nullptr) return;
  OurQp& own = ours(qp);
  if (count > own.sizes.send_pieces) {
    own.staged_error = ENOMEM;
    return;
  }
  slot->pieces = static_cast<uint32_t>(count);
  put_pieces(reinterpret_cast<uint8_t*>(slot + 1), pieces, static_cast<int>(count));
}
void wr_set_piece(ibv_qp_ex* qp, uint32_t key, uint64_t address, uint32_t length) {
  const ibv_sge piece{address, length, key};
  wr_set_pieces(qp, 1, &piece);
}

void wr_start(ibv_qp_ex* qp) {
  OurQp& own = ours(qp);
  pthread_spin_lock(&own.send_lock);
  own.staged = own.sent;
  own.staged_error = 0;
}
int wr_complete(ibv_qp_ex* qp) {
  OurQp& own = ours(qp);
  const int error = own.staged_error;
  if (error == 0) {
    own.sent = own.staged;
    own.sends.head().produced.store(own.sent, std::memory_order_release);
  }
  pthread_spin_unlock(&own.send_lock);
  ring_doorbell(ours(own.qp.context), own.qp.qp_num);
  return error;
}
void wr_abort(ibv_qp_ex* qp) {
  pthread_spin_unlock(&ours(qp).send_lock);
}

// ── polling: between start and end the queue is locked

// ENOENT: there is none.
int take_current(OurCq& own) {
  if (!has_completions(own)) return ENOENT;
  std::memcpy(&own.current, own.ring.slot(own.consumed++), sizeof own.current);
  own.extended.wr_id = own.current.id;
  own.extended.status = static_cast<ibv_wc_status>(own.current.status);
  return 0;
}
int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attributes) {
  OurCq& own = ours(cq);
  if (attributes->comp_mask != 0) return EINVAL;
  pthread_spin_lock(&own.lock);
  const int error = take_current(own);
  if (error != 0) pthread_spin_unlock(&own.lock);
  return error;
}
int next_poll(ibv_cq_ex* cq) {
  return take_current(ours(cq));
}
void end_poll(ibv_cq_ex* cq) {
  OurCq& own = ours(cq);
  own.ring.head().consumed.store(own.consumed, std::memory_order_release);
  pthread_spin_unlock(&own.lock);
}

void fill(ibv_cq_ex& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = [](ibv_cq_ex* of) { return static_cast<ibv_wc_opcode>(ours(of).current.opcode); };
  cq.read_vendor_err = [](ibv_cq_ex*) { return uint32_t{0}; };
  cq.read_byte_len = [](ibv_cq_ex* of) { return ours(of).current.bytes; };
  cq.read_imm_data = [](ibv_cq_ex* of) { return ours(of).current.immediate; };
  cq.read_qp_num = [](ibv_cq_ex* of) { return ours(of).current.qp; };
  cq.read_src_qp = [](ibv_cq_ex* of) { return ours(of).current.source_qp; };
  cq.read_wc_flags = [](ibv_cq_ex* of) { return unsigned{ours(of).current.flags}; };
  cq.read_slid = [](ibv_cq_ex*) { return uint32_t{0}; };  // RoCE has no LIDs
  cq.read_sl = [](ibv_cq_ex* of) { return static_cast<uint8_t>(ours(of).current.service_level); };
  cq.read_dlid_path_bits = [](ibv_cq_ex*) { return uint8_t{0}; };
}

void fill(ibv_qp_ex& qp) {
  qp.wr_atomic_cmp_swp = wr_compare_swap;
  qp.wr_atomic_fetch_add = wr_fetch_add;
  qp.wr_rdma_read = wr_read;
  qp.wr_rdma_write = wr_write;
  qp.wr_rdma_write_imm = wr_write_immediate;
  qp.wr_send = wr_send;
  qp.wr_send_imm = wr_send_immediate;
  qp.wr_set_ud_addr = wr_set_address;
  qp.wr_set_inline_data = wr_set_inline;
  qp.wr_set_inline_data_list = wr_set_inline_list;
  qp.wr_set_sge = wr_set_piece;
  qp.wr_set_sge_list = wr_set_pieces;
  qp.wr_start = wr_start;
  qp.wr_complete = wr_complete;
  qp.wr_abort = wr_abort;
}

// The operations that a transport has.
uint64_t operations_of(ibv_qp_type type) {
  constexpr uint64_t kSends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
  constexpr uint64_t kWrites = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  constexpr uint64_t kAnswered =
      IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  switch (type) {
    case IBV_QPT_RC: return kSends | kWrites | kAnswered;
    case IBV_QPT_UC: return kSends | kWrites;
    case IBV_QPT_UD: return kSends;
    default: return 0;
  }
}

}  // namespace

namespace softspine::testbeds {

ibv_cq_ex* create_extended_cq(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
  const uint32_t flags = (wanted->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? wanted->flags : 0;
  const uint32_t known = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  const bool is_known = (wanted->comp_mask & ~uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) == 0 && (flags & ~known) == 0;
  if (!is_known || (wanted->wc_flags & ~uint64_t{IBV_WC_STANDARD_FLAGS}) != 0) return refuse(EOPNOTSUPP);
  ibv_cq* const made = ibv_create_cq(context, static_cast<int>(wanted->cqe), wanted->cq_context, wanted->channel,
                                     static_cast<int>(wanted->comp_vector));
  if (made == nullptr) return nullptr;
  ibv_cq_ex& extended = ours(made).extended;
  fill(extended);
  return &extended;
}

ibv_qp* create_extended_qp(ibv_context*, ibv_qp_init_attr_ex* wanted) {
  constexpr uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  const bool has_flags = (wanted->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && wanted->create_flags != 0;
  const bool is_extended = (wanted->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  const bool asks_too_much = is_extended && (wanted->send_ops_flags & ~operations_of(wanted->qp_type)) != 0;
  const bool has_pd = (wanted->comp_mask & IBV_QP_INIT_ATTR_PD) != 0;
  if ((wanted->comp_mask & ~kKnown) != 0 || has_flags || !has_pd || asks_too_much) return refuse(EOPNOTSUPP);
  ibv_qp* const made = ibv_create_qp(wanted->pd, reinterpret_cast<ibv_qp_init_attr*>(wanted));
  if (made == nullptr || !is_extended) return made;
  ours(made).is_extended = true;
  fill(ours(made).extended);
  return made;
}

}  // namespace softspine::testbeds

// Null: it was made without send_ops_flags.
SOFTSPINE_VERB ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return ours(qp).is_extended ? &ours(qp).extended : nullptr;
}
