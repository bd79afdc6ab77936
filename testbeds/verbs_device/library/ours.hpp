// SPDX-License-Identifier: Apache-2.0
// Our objects behind those of <infiniband/verbs.h>, and the one connection to the device. Compiled for a program that
// is not ours: no exceptions, no standard library but headers, malloc.
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "testbeds/verbs_device/shared/device_calls.hpp"
#include "testbeds/verbs_device/shared/queue_memory.hpp"

namespace softspine::testbeds {

// A ring as the program sees it.
struct Ring {
  uint8_t* place = nullptr;
  size_t bytes = 0;
  uint32_t slots = 0;
  uint32_t slot_bytes = 0;

  QueueHead& head() const { return *reinterpret_cast<QueueHead*>(place); }
  uint8_t* slot(uint32_t index) const { return place + sizeof(QueueHead) + size_t{index & (slots - 1)} * slot_bytes; }
};

struct OurContext {
  int socket = -1;
  Doorbells* doorbells = nullptr;
  PortFacts port{};
  pthread_mutex_t mutex;
  ibv_cq* queues[kCompletionQueueLimit];  // by handle modulo the limit: what a channel's handles mean
  std::atomic<uint32_t> queues_end;       // behind the last place of `queues` that was ever taken
  ibv_qp* queue_pairs[kQueuePairLimit];   // likewise, of asynchronous events
  ibv_srq* shared[1024];
  verbs_context verbs;  // the last: the program's context is at its end
};

struct OurCq {
  union {  // the first: it is what the program has
    ibv_cq cq;
    ibv_cq_ex extended;
  };
  CompletionSlot current;  // of an extended one
  Ring ring;
  uint32_t consumed;
  uint32_t reported;  // completion events that the program got
  pthread_spinlock_t lock;
};
struct OurSrq {
  ibv_srq srq;
  Ring ring;
  uint32_t produced;
  uint32_t pieces;
  pthread_spinlock_t lock;
};
struct OurQp {
  union {
    ibv_qp qp;
    ibv_qp_ex extended;
  };
  bool is_extended;
  uint32_t staged;  // sends of ibv_wr_start() that are not posted yet end here
  int staged_error;
  Ring sends;
  Ring receives;
  uint32_t sent;
  uint32_t received;
  QueueSizes sizes;
  uint32_t signals_all;
  pthread_spinlock_t send_lock;
  pthread_spinlock_t receive_lock;
};
struct OurAh {
  ibv_ah ah;
  ibv_ah_attr attributes;
};

inline OurContext& ours(ibv_context* context) {
  auto* const end = reinterpret_cast<uint8_t*>(context);
  const size_t offset = offsetof(OurContext, verbs) + offsetof(verbs_context, context);
  return *reinterpret_cast<OurContext*>(end - offset);
}
inline OurCq& ours(ibv_cq* cq) {
  return *reinterpret_cast<OurCq*>(cq);
}
inline bool has_completions(const OurCq& queue) {
  return queue.ring.head().produced.load(std::memory_order_acquire) != queue.consumed;
}
inline OurSrq& ours(ibv_srq* srq) {
  return *reinterpret_cast<OurSrq*>(srq);
}
inline OurQp& ours(ibv_qp* qp) {
  return *reinterpret_cast<OurQp*>(qp);
}

// A call of the device; an errno. Descriptors that come along go to `fds`, which has room for two.
int call(OurContext& context, const DeviceRequest& request, DeviceReply& reply, int* fds = nullptr);
// Connects; null: why not is in errno.
OurContext* connect_to_device(uint32_t device);
bool map_ring(Ring& ring, int fd, uint32_t slots, uint32_t slot_bytes);
void unmap_ring(Ring& ring);
template <typename Object>
Object* make() {
  return static_cast<Object*>(std::calloc(1, sizeof(Object)));
}
// Verbs return null and set errno.
inline std::nullptr_t refuse(int error) {
  errno = error;
  return nullptr;
}

int post_send(ibv_qp* qp, ibv_send_wr* work, ibv_send_wr** bad);
int post_receive(ibv_qp* qp, ibv_recv_wr* work, ibv_recv_wr** bad);
int post_shared_receive(ibv_srq* srq, ibv_recv_wr* work, ibv_recv_wr** bad);
int poll_completions(ibv_cq* cq, int most, ibv_wc* out);
int ask_to_notify(ibv_cq* cq, int solicited_only);
void ring_doorbell(OurContext& context, uint32_t qp);
void put_pieces(uint8_t* to, const ibv_sge* pieces, int count);
void put_address(SendSlot& slot, const ibv_ah_attr& to, uint32_t remote_qp, uint32_t qkey);
bool has_room(const Ring& ring, uint32_t produced);
ibv_cq_ex* create_extended_cq(ibv_context* context, ibv_cq_init_attr_ex* wanted);
ibv_qp* create_extended_qp(ibv_context* context, ibv_qp_init_attr_ex* wanted);

}  // namespace softspine::testbeds

// Of the program: what it is to find in us.
#define SOFTSPINE_VERB extern "C" __attribute__((visibility("default")))
