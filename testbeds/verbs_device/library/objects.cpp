// SPDX-License-Identifier: Apache-2.0
// Protection domains, memory regions, completion queues, shared receive queues, address handles.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "testbeds/verbs_device/library/ours.hpp"

using namespace softspine::testbeds;

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace {

// A call about one object; an errno.
int call_about(ibv_context* context, Call what, uint32_t handle) {
  DeviceRequest request{};
  request.call = what;
  request.handle = handle;
  DeviceReply reply{};
  return call(ours(context), request, reply);
}

ibv_mr* register_memory(ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  DeviceRequest request{};
  request.call = Call::kRegisterMemory;
  request.pd = pd->handle;
  request.address = reinterpret_cast<uint64_t>(address);
  request.length = length;
  request.remote_address = iova;
  request.access = access & ~static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE);
  DeviceReply reply{};
  auto* const made = make<ibv_mr>();
  const int error = made == nullptr ? ENOMEM : call(ours(pd->context), request, reply);
  if (error != 0) {
    std::free(made);
    return refuse(error);
  }
  *made = {.context = pd->context,
           .pd = pd,
           .addr = address,
           .length = length,
           .handle = reply.handle,
           .lkey = reply.number,
           .rkey = reply.number};
  return made;
}

}  // namespace

SOFTSPINE_VERB ibv_pd* ibv_alloc_pd(ibv_context* context) {
  DeviceRequest request{};
  request.call = Call::kAllocatePd;
  DeviceReply reply{};
  auto* const made = make<ibv_pd>();
  const int error = made == nullptr ? ENOMEM : call(ours(context), request, reply);
  if (error != 0) {
    std::free(made);
    return refuse(error);
  }
  made->context = context;
  made->handle = reply.handle;
  return made;
}

SOFTSPINE_VERB int ibv_dealloc_pd(ibv_pd* pd) {
  const int error = call_about(pd->context, Call::kFreePd, pd->handle);
  if (error == 0) std::free(pd);
  return error;
}

SOFTSPINE_VERB ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
  return register_memory(pd, address, length, reinterpret_cast<uint64_t>(address), static_cast<unsigned>(access));
}
SOFTSPINE_VERB ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return register_memory(pd, address, length, iova, static_cast<unsigned>(access));
}
SOFTSPINE_VERB ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  return register_memory(pd, address, length, iova, access);
}

SOFTSPINE_VERB int ibv_dereg_mr(ibv_mr* mr) {
  const int error = call_about(mr->context, Call::kForgetMemory, mr->handle);
  if (error == 0) std::free(mr);
  return error;
}

SOFTSPINE_VERB ibv_cq* ibv_create_cq(ibv_context* context, int slots, void* cq_context, ibv_comp_channel* channel,
                                     int vector) {
  if (slots <= 0 || vector != 0) return refuse(EINVAL);
  DeviceRequest request{};
  request.call = Call::kCreateCq;
  request.number = static_cast<uint32_t>(slots);
  request.channel = channel == nullptr ? 0 : static_cast<uint32_t>(channel->refcnt);
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  auto* const made = make<OurCq>();
  int error = made == nullptr ? ENOMEM : call(ours(context), request, reply, fds);
  if (error == 0 && !map_ring(made->ring, fds[0], reply.number, sizeof(CompletionSlot))) {
    call_about(context, Call::kDestroyCq, reply.handle);
    error = ENOMEM;
  }
  if (error != 0) {
    std::free(made);
    return refuse(error);
  }
  made->cq.context = context;
  made->cq.channel = channel;
  made->cq.cq_context = cq_context;
  made->cq.handle = reply.handle;
  made->cq.cqe = static_cast<int>(reply.number);
  pthread_mutex_init(&made->cq.mutex, nullptr);
  pthread_cond_init(&made->cq.cond, nullptr);
  pthread_spin_init(&made->lock, PTHREAD_PROCESS_PRIVATE);
  OurContext& own = ours(context);
  const uint32_t place = reply.handle % kCompletionQueueLimit;
  own.queues[place] = &made->cq;
  uint32_t end = own.queues_end.load();
  while (end <= place && !own.queues_end.compare_exchange_weak(end, place + 1)) {
  }
  return &made->cq;
}

// Waits until every event that the program got of it is acknowledged, as rdma-core does.
SOFTSPINE_VERB int ibv_destroy_cq(ibv_cq* cq) {
  const int error = call_about(cq->context, Call::kDestroyCq, cq->handle);
  if (error != 0) return error;
  ours(cq->context).queues[cq->handle % kCompletionQueueLimit] = nullptr;
  OurCq& own = ours(cq);
  pthread_mutex_lock(&cq->mutex);
  while (cq->comp_events_completed != own.reported) pthread_cond_wait(&cq->cond, &cq->mutex);
  pthread_mutex_unlock(&cq->mutex);
  unmap_ring(own.ring);
  std::free(&own);
  return 0;
}

SOFTSPINE_VERB int ibv_resize_cq(ibv_cq*, int) {
  return EOPNOTSUPP;
}

SOFTSPINE_VERB ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* wanted) {
  DeviceRequest request{};
  request.call = Call::kCreateSrq;
  request.pd = pd->handle;
  request.sizes.receive_slots = wanted->attr.max_wr;
  request.sizes.receive_pieces = wanted->attr.max_sge;
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  auto* const made = make<OurSrq>();
  int error = made == nullptr ? ENOMEM : call(ours(pd->context), request, reply, fds);
  if (error == 0 &&
      !map_ring(made->ring, fds[0], reply.sizes.receive_slots, receive_slot_bytes(reply.sizes.receive_pieces))) {
    call_about(pd->context, Call::kDestroySrq, reply.handle);
    error = ENOMEM;
  }
  if (error != 0) {
    std::free(made);
    return refuse(error);
  }
  made->pieces = reply.sizes.receive_pieces;
  made->srq.context = pd->context;
  made->srq.srq_context = wanted->srq_context;
  made->srq.pd = pd;
  made->srq.handle = reply.handle;
  pthread_mutex_init(&made->srq.mutex, nullptr);
  pthread_cond_init(&made->srq.cond, nullptr);
  pthread_spin_init(&made->lock, PTHREAD_PROCESS_PRIVATE);
  wanted->attr.max_wr = reply.sizes.receive_slots;
  wanted->attr.max_sge = reply.sizes.receive_pieces;
  ours(pd->context).shared[reply.handle % kSharedLimit] = &made->srq;
  return &made->srq;
}

SOFTSPINE_VERB int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* wanted, int mask) {
  if ((mask & IBV_SRQ_MAX_WR) != 0) return EOPNOTSUPP;
  DeviceRequest request{};
  request.call = Call::kModifySrq;
  request.handle = srq->handle;
  request.number = wanted->srq_limit;
  DeviceReply reply{};
  return call(ours(srq->context), request, reply);
}

SOFTSPINE_VERB int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* out) {
  DeviceRequest request{};
  request.call = Call::kQuerySrq;
  request.handle = srq->handle;
  DeviceReply reply{};
  if (const int error = call(ours(srq->context), request, reply); error != 0) return error;
  out->max_wr = reply.sizes.receive_slots;
  out->max_sge = reply.sizes.receive_pieces;
  out->srq_limit = reply.number;
  return 0;
}

SOFTSPINE_VERB int ibv_destroy_srq(ibv_srq* srq) {
  const int error = call_about(srq->context, Call::kDestroySrq, srq->handle);
  if (error != 0) return error;
  ours(srq->context).shared[srq->handle % kSharedLimit] = nullptr;
  OurSrq& own = ours(srq);
  unmap_ring(own.ring);
  std::free(&own);
  return 0;
}

SOFTSPINE_VERB ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  if (attributes->port_num != 1 || attributes->is_global == 0 || attributes->grh.sgid_index >= kGids)
    return refuse(EINVAL);
  auto* const made = make<OurAh>();
  if (made == nullptr) return refuse(ENOMEM);
  made->ah.context = pd->context;
  made->ah.pd = pd;
  made->attributes = *attributes;
  return &made->ah;
}

SOFTSPINE_VERB int ibv_destroy_ah(ibv_ah* ah) {
  std::free(ah);
  return 0;
}

// The 40 bytes hold an IPv6 header, or an IPv4 header in their last 20.
SOFTSPINE_VERB int ibv_init_ah_from_wc(ibv_context*, uint8_t port, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* out) {
  if ((wc->wc_flags & IBV_WC_GRH) == 0) return EINVAL;
  *out = {};
  out->port_num = port;
  out->is_global = 1;
  out->grh.hop_limit = 64;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(grh);
  constexpr size_t kIpv4 = 20;
  if (bytes[kIpv4] >> 4 == 4 && bytes[0] >> 4 != 6) {
    out->grh.dgid.raw[10] = out->grh.dgid.raw[11] = 0xff;
    std::memcpy(out->grh.dgid.raw + 12, bytes + kIpv4 + 12, 4);
    out->grh.traffic_class = bytes[kIpv4 + 1];
    return 0;
  }
  std::memcpy(out->grh.dgid.raw, grh->sgid.raw, sizeof grh->sgid.raw);
  out->grh.sgid_index = 1;
  return 0;
}

SOFTSPINE_VERB ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, uint8_t port) {
  ibv_ah_attr attributes;
  if (const int error = ibv_init_ah_from_wc(pd->context, port, wc, grh, &attributes); error != 0) return refuse(error);
  return ibv_create_ah(pd, &attributes);
}
