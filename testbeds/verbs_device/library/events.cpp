// SPDX-License-Identifier: Apache-2.0
// Completion channels and asynchronous events: their descriptors may be polled.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "testbeds/verbs_device/library/ours.hpp"

using namespace softspine::testbeds;

namespace {

// Whole messages, or -1 with an errno: a program may have made the descriptor non-blocking.
template <typename Message>
int read_message(int fd, Message& out) {
  ssize_t got = 0;
  do {
    got = read(fd, &out, sizeof out);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof out)) return 0;
  if (got >= 0) errno = EIO;
  return -1;
}

// Takes the request for an event of any completion, if there is one and completions are in the queue already.
bool takes_request(OurCq& queue) {
  std::atomic<uint32_t>& armed = queue.ring.head().armed;
  if (armed.load(std::memory_order_relaxed) != kAnyArmed) return false;
  pthread_spin_lock(&queue.lock);
  const bool has_any = has_completions(queue);
  pthread_spin_unlock(&queue.lock);
  uint32_t wanted = kAnyArmed;
  return has_any && armed.compare_exchange_strong(wanted, kNotArmed, std::memory_order_seq_cst);
}

ibv_cq* report(ibv_cq* queue) {
  pthread_mutex_lock(&queue->mutex);
  ++ours(queue).reported;
  pthread_mutex_unlock(&queue->mutex);
  return queue;
}

// A queue of the channel that is armed, and holds completions that were there before that. The device sends an event for
// the next completion alone, as the pages say, and there may be none: perftest takes sixteen completions for each event,
// and waits for the next event with others in the queue.
ibv_cq* find_overdue(const ibv_comp_channel& channel) {
  OurContext& own = ours(channel.context);
  const uint32_t end = own.queues_end.load(std::memory_order_acquire);
  for (uint32_t place = 0; place < end; ++place) {
    ibv_cq* const queue = own.queues[place];
    if (queue != nullptr && queue->channel == &channel && takes_request(ours(queue))) return report(queue);
  }
  return nullptr;
}

// The queue of the next event that the device has sent; null and an errno. Events of queues that are gone are passed
// over.
ibv_cq* read_event(const ibv_comp_channel& channel) {
  for (;;) {
    uint32_t handle = 0;
    if (read_message(channel.fd, handle) != 0) return nullptr;
    ibv_cq* const found = ours(channel.context).queues[handle % kCompletionQueueLimit];
    if (found != nullptr && found->handle == handle) return report(found);
  }
}

}  // namespace

// `refcnt` is ours to use: the channel's handle, plus one.
SOFTSPINE_VERB ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  DeviceRequest request{};
  request.call = Call::kCreateChannel;
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  auto* const made = make<ibv_comp_channel>();
  const int error = made == nullptr ? ENOMEM : call(ours(context), request, reply, fds);
  if (error != 0) {
    std::free(made);
    return refuse(error);
  }
  made->context = context;
  made->fd = fds[0];
  made->refcnt = static_cast<int>(reply.handle + 1);
  return made;
}

SOFTSPINE_VERB int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  DeviceRequest request{};
  request.call = Call::kDestroyChannel;
  request.handle = static_cast<uint32_t>(channel->refcnt) - 1;
  DeviceReply reply{};
  const int error = call(ours(channel->context), request, reply);
  if (error != 0) return error;
  close(channel->fd);
  std::free(channel);
  return 0;
}

SOFTSPINE_VERB int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  ibv_cq* found = find_overdue(*channel);
  if (found == nullptr) found = read_event(*channel);
  if (found == nullptr) return -1;
  *cq = found;
  *cq_context = found->cq_context;
  return 0;
}

SOFTSPINE_VERB void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

SOFTSPINE_VERB int ibv_get_async_event(ibv_context* context, ibv_async_event* out) {
  for (;;) {
    AsyncEvent event{};
    if (read_message(context->async_fd, event) != 0) return -1;
    OurContext& own = ours(context);
    *out = {};
    out->event_type = static_cast<ibv_event_type>(event.type);
    switch (out->event_type) {
      case IBV_EVENT_CQ_ERR:
        out->element.cq = own.queues[event.handle % kCompletionQueueLimit];
        if (out->element.cq == nullptr || out->element.cq->handle != event.handle) continue;
        return 0;
      case IBV_EVENT_SRQ_LIMIT_REACHED:
      case IBV_EVENT_SRQ_ERR:
        out->element.srq = own.shared[event.handle % kSharedLimit];
        if (out->element.srq == nullptr || out->element.srq->handle != event.handle) continue;
        return 0;
      case IBV_EVENT_PORT_ACTIVE:
      case IBV_EVENT_PORT_ERR: out->element.port_num = static_cast<int>(event.handle); return 0;
      default:
        out->element.qp = own.queue_pairs[event.handle % kQueuePairLimit];
        if (out->element.qp == nullptr || out->element.qp->handle != event.handle) continue;
        return 0;
    }
  }
}

SOFTSPINE_VERB void ibv_ack_async_event(ibv_async_event*) {}
