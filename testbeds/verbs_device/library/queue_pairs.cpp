// SPDX-License-Identifier: Apache-2.0
// Queue pairs, as a program makes, changes and asks for them.
#include <cerrno>
#include <cstring>

#include "testbeds/verbs_device/library/ours.hpp"

using namespace softspine::testbeds;

namespace {

QueuePairAttributes attributes_from(const ibv_qp_attr& from) {
  QueuePairAttributes to{};
  to.state = from.qp_state;
  to.path_mtu = from.path_mtu;
  to.qkey = from.qkey;
  to.receive_psn = from.rq_psn;
  to.send_psn = from.sq_psn;
  to.destination_qp = from.dest_qp_num;
  to.access = from.qp_access_flags;
  to.most_reads = from.max_rd_atomic;
  to.most_reads_of_peer = from.max_dest_rd_atomic;
  to.rnr_timer = from.min_rnr_timer;
  to.timeout = from.timeout;
  to.retries = from.retry_cnt;
  to.rnr_retries = from.rnr_retry;
  to.port = from.port_num;
  to.flow_label = from.ah_attr.grh.flow_label;
  std::memcpy(to.gid, from.ah_attr.grh.dgid.raw, sizeof to.gid);
  to.gid_index = from.ah_attr.grh.sgid_index;
  to.hop_limit = from.ah_attr.grh.hop_limit;
  to.traffic_class = from.ah_attr.grh.traffic_class;
  to.has_address = from.ah_attr.is_global;
  return to;
}

ibv_qp_attr attributes_to(const QueuePairAttributes& from) {
  ibv_qp_attr to{};
  to.qp_state = to.cur_qp_state = static_cast<ibv_qp_state>(from.state);
  to.path_mtu = static_cast<ibv_mtu>(from.path_mtu);
  to.qkey = from.qkey;
  to.rq_psn = from.receive_psn;
  to.sq_psn = from.send_psn;
  to.dest_qp_num = from.destination_qp;
  to.qp_access_flags = from.access;
  to.max_rd_atomic = static_cast<uint8_t>(from.most_reads);
  to.max_dest_rd_atomic = static_cast<uint8_t>(from.most_reads_of_peer);
  to.min_rnr_timer = static_cast<uint8_t>(from.rnr_timer);
  to.timeout = static_cast<uint8_t>(from.timeout);
  to.retry_cnt = static_cast<uint8_t>(from.retries);
  to.rnr_retry = static_cast<uint8_t>(from.rnr_retries);
  to.port_num = static_cast<uint8_t>(from.port);
  to.ah_attr.is_global = from.has_address;
  to.ah_attr.port_num = to.port_num;
  to.ah_attr.grh.flow_label = from.flow_label;
  std::memcpy(to.ah_attr.grh.dgid.raw, from.gid, sizeof from.gid);
  to.ah_attr.grh.sgid_index = from.gid_index;
  to.ah_attr.grh.hop_limit = from.hop_limit;
  to.ah_attr.grh.traffic_class = from.traffic_class;
  return to;
}

ibv_qp_cap capacity_of(const QueueSizes& sizes) {
  return {.max_send_wr = sizes.send_slots,
          .max_recv_wr = sizes.receive_slots,
          .max_send_sge = sizes.send_pieces,
          .max_recv_sge = sizes.receive_pieces,
          .max_inline_data = sizes.inline_bytes};
}

DeviceRequest request_for(const ibv_pd* pd, const ibv_qp_init_attr& wanted) {
  DeviceRequest request{};
  request.call = Call::kCreateQp;
  request.number = wanted.qp_type;
  request.pd = pd->handle;
  request.send_cq = wanted.send_cq->handle;
  request.receive_cq = wanted.recv_cq->handle;
  request.srq = wanted.srq == nullptr ? 0 : wanted.srq->handle + 1;
  request.signals_all = wanted.sq_sig_all != 0;
  const ibv_qp_cap& cap = wanted.cap;
  request.sizes = {cap.max_send_wr, cap.max_recv_wr, cap.max_send_sge, cap.max_recv_sge, cap.max_inline_data};
  return request;
}

bool map_rings(OurQp& qp, const int* fds) {
  const QueueSizes& sizes = qp.sizes;
  if (!map_ring(qp.sends, fds[0], sizes.send_slots, send_slot_bytes(sizes.send_pieces, sizes.inline_bytes)))
    return false;
  if (sizes.receive_slots == 0) return true;
  return map_ring(qp.receives, fds[1], sizes.receive_slots, receive_slot_bytes(sizes.receive_pieces));
}

int destroy(ibv_context* context, uint32_t handle) {
  DeviceRequest request{};
  request.call = Call::kDestroyQp;
  request.handle = handle;
  DeviceReply reply{};
  return call(ours(context), request, reply);
}

}  // namespace

SOFTSPINE_VERB ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* wanted) {
  if (wanted->send_cq == nullptr || wanted->recv_cq == nullptr) return refuse(EINVAL);
  const DeviceRequest request = request_for(pd, *wanted);
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  auto* const made = make<OurQp>();
  int error = made == nullptr ? ENOMEM : call(ours(pd->context), request, reply, fds);
  if (error == 0) {
    made->sizes = reply.sizes;
    if (!map_rings(*made, fds)) {
      destroy(pd->context, reply.handle);
      error = ENOMEM;
    }
  }
  if (error != 0) {
    std::free(made);
    return refuse(error);
  }
  ibv_qp& qp = made->qp;
  qp.context = pd->context;
  qp.qp_context = wanted->qp_context;
  qp.pd = pd;
  qp.send_cq = wanted->send_cq;
  qp.recv_cq = wanted->recv_cq;
  qp.srq = wanted->srq;
  qp.handle = reply.handle;
  qp.qp_num = reply.number;
  qp.state = IBV_QPS_RESET;
  qp.qp_type = wanted->qp_type;
  pthread_mutex_init(&qp.mutex, nullptr);
  pthread_cond_init(&qp.cond, nullptr);
  made->signals_all = request.signals_all;
  pthread_spin_init(&made->send_lock, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_init(&made->receive_lock, PTHREAD_PROCESS_PRIVATE);
  wanted->cap = capacity_of(reply.sizes);
  ours(pd->context).queue_pairs[reply.handle % kQueuePairLimit] = &qp;
  return &qp;
}

// Back in RESET, the device counts both rings from where the program stands.
SOFTSPINE_VERB int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  DeviceRequest request{};
  request.call = Call::kModifyQp;
  request.handle = qp->handle;
  request.number = static_cast<uint32_t>(mask);
  request.attributes = attributes_from(*attributes);
  DeviceReply reply{};
  const int error = call(ours(qp->context), request, reply);
  if (error == 0 && (mask & IBV_QP_STATE) != 0) qp->state = attributes->qp_state;
  return error;
}

SOFTSPINE_VERB int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* out, int, ibv_qp_init_attr* made_with) {
  DeviceRequest request{};
  request.call = Call::kQueryQp;
  request.handle = qp->handle;
  DeviceReply reply{};
  if (const int error = call(ours(qp->context), request, reply); error != 0) return error;
  *out = attributes_to(reply.attributes);
  out->cap = capacity_of(reply.sizes);
  qp->state = out->qp_state;
  *made_with = {};
  made_with->qp_context = qp->qp_context;
  made_with->send_cq = qp->send_cq;
  made_with->recv_cq = qp->recv_cq;
  made_with->srq = qp->srq;
  made_with->cap = out->cap;
  made_with->qp_type = qp->qp_type;
  made_with->sq_sig_all = static_cast<int>(ours(qp).signals_all);
  return 0;
}

SOFTSPINE_VERB int ibv_destroy_qp(ibv_qp* qp) {
  if (const int error = destroy(qp->context, qp->handle); error != 0) return error;
  ours(qp->context).queue_pairs[qp->handle % kQueuePairLimit] = nullptr;
  OurQp& own = ours(qp);
  unmap_ring(own.sends);
  unmap_ring(own.receives);
  std::free(&own);
  return 0;
}

SOFTSPINE_VERB int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, uint32_t) {
  return 0;
}

// Multicast has no group here.
SOFTSPINE_VERB int ibv_attach_mcast(ibv_qp*, const ibv_gid*, uint16_t) {
  return EOPNOTSUPP;
}
SOFTSPINE_VERB int ibv_detach_mcast(ibv_qp*, const ibv_gid*, uint16_t) {
  return EOPNOTSUPP;
}
SOFTSPINE_VERB int ibv_set_ece(ibv_qp*, ibv_ece*) {
  return EOPNOTSUPP;
}
SOFTSPINE_VERB int ibv_query_ece(ibv_qp*, ibv_ece* out) {
  *out = {};
  return 0;
}
