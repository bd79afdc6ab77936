// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/completions.hpp"

#include <sys/socket.h>

#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

namespace {

uint32_t completion_opcode(uint32_t work) {
  switch (work) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP: return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return IBV_WC_FETCH_ADD;
    default: return IBV_WC_SEND;
  }
}

}  // namespace

void Completions::push(uint32_t cq, const CompletionSlot& completion, bool is_solicited) noexcept {
  CompletionQueue* const queue = ground_.objects.completion_queues.find(cq);
  if (queue == nullptr) return;
  const bool had_room = !queue->has_overflown;
  if (queue->push(completion, is_solicited) || !had_room) return;
  ++ground_.counters.cq_overflows;
  report(queue->client, IBV_EVENT_CQ_ERR, cq);
}

void Completions::sent(QueuePair& pair, const SendWork& work, uint32_t status) noexcept {
  pair.sends.give_back();
  const bool is_signaled = pair.signals_all || (work.slot.flags & IBV_SEND_SIGNALED) != 0;
  if (status == IBV_WC_SUCCESS && !is_signaled) return;
  push(pair.send_cq,
       {.id = work.slot.id,
        .status = status,
        .opcode = completion_opcode(work.slot.opcode),
        .bytes = work.bytes,
        .qp = pair.number},
       status != IBV_WC_SUCCESS);
}

void Completions::received(QueuePair& pair, const ReceiveWork& work, const Arrival& arrival) noexcept {
  if (arrival.status == IBV_WC_SUCCESS) ++ground_.counters.rdma_recvs;
  push(pair.receive_cq,
       {.id = work.id,
        .status = arrival.status,
        .opcode = arrival.opcode,
        .bytes = arrival.bytes,
        .immediate = arrival.immediate,
        .qp = pair.number,
        .source_qp = arrival.source_qp,
        .flags = arrival.flags,
        .service_level = arrival.service_level},
       arrival.is_solicited || arrival.status != IBV_WC_SUCCESS);
}

void Completions::fail(QueuePair& pair, uint32_t status, int event) noexcept {
  if (pair.has_failed()) return;
  pair.attributes.state = IBV_QPS_ERR;
  ++ground_.counters.queue_pair_errors;
  if (status != IBV_WC_WR_FLUSH_ERR) {
    if (const SendWork* work = pair.requester.take_any()) sent(pair, *work, status);
  }
  if (pair.receiver.receive) received(pair, *pair.receiver.receive, {.status = IBV_WC_WR_FLUSH_ERR});
  pair.receiver.end_message();
  if (pair.receives.memory()) pair.receives.ask_to_ring();
  flush(pair);
  if (event >= 0) report(pair.client, event, pair.number);
  if (pair.srq != 0) report(pair.client, IBV_EVENT_QP_LAST_WQE_REACHED, pair.number);
}

void Completions::flush(QueuePair& pair) noexcept {
  do {
    while (const SendWork* work = pair.requester.take_any()) sent(pair, *work, IBV_WC_WR_FLUSH_ERR);
    pair.requester.fetch(pair.sends);
  } while (pair.requester.oldest() != nullptr);
  while (const auto work = take_receive(pair.receives, pair.sizes.receive_pieces))
    received(pair, *work, {.status = IBV_WC_WR_FLUSH_ERR});
}

// A socket that is full holds more events than anybody reads.
void Completions::report(uint32_t client, int event, uint32_t handle) noexcept {
  const VerbsClient& to = *ground_.objects.clients[client];
  const AsyncEvent message{.type = static_cast<uint32_t>(event), .handle = handle};
  static_cast<void>(send(to.events.get(), &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace softspine::testbeds
