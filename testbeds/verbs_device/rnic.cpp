// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/rnic.hpp"

#include <bit>
#include <utility>

namespace softspine::testbeds {

using namespace dataplane;

DropReason Rnic::receive(Packet packet, Instant now) noexcept {
  const auto frame = read_rdma({packet.data(), packet.stored_bytes(), packet.frame_bytes()});
  if (!frame || !is_for_us(*frame)) {
    PacketPool::release(std::move(packet));
    return frame ? DropReason::kNotForUs : frame.error();
  }
  ++ground_.counters.rcvd_pkts;
  if (frame->destination_qp == management::kQp) {
    connections_.receive(*frame, now);
    PacketPool::release(std::move(packet));
    return DropReason::kConsumed;
  }
  QueuePair* const pair = taker_of(*frame);
  if (pair == nullptr) {
    ++ground_.counters.unknown_qp;
    PacketPool::release(std::move(packet));
    return DropReason::kConsumed;
  }
  writes_.turn_to(*pair);
  if (is_response(frame->opcode)) {
    outbound_.take(*pair, *frame, now);
    queue(*pair);
    arm(*pair);
  } else {
    inbound_.take(*pair, *frame);
    if (!pair->receiver.answers.empty()) queue(*pair);
  }
  if (frame->payload_bytes != 0) {
    writes_.hold(std::move(packet));
  } else {
    PacketPool::release(std::move(packet));
  }
  return DropReason::kConsumed;
}

bool Rnic::is_for_us(const RdmaFrame& frame) const noexcept {
  if (frame.version == IpVersion::k4) return load32(frame.l3 + ipv4::kDestination) == ground_.host.ipv4;
  return load_ipv6(frame.l3 + ipv6::kDestination) == ground_.host.ipv6;
}

QueuePair* Rnic::taker_of(const RdmaFrame& frame) noexcept {
  QueuePair* const pair = ground_.objects.queue_pairs.find(frame.destination_qp);
  const bool takes =
      pair != nullptr && pair->may_receive() && (frame.opcode & rdma::kTransportMask) == transport_of(pair->type);
  return takes ? pair : nullptr;
}

bool Rnic::take_doorbells() noexcept {
  bool any = false;
  for (uint32_t number = 0; number < ground_.objects.clients.size(); ++number) {
    const auto& client = ground_.objects.clients[number];
    if (!client || client->bells().summary.load(std::memory_order_relaxed) == 0) continue;
    any = true;
    Doorbells& bells = client->bells();
    for (uint64_t left = bells.summary.exchange(0, std::memory_order_acq_rel); left != 0; left &= left - 1) {
      const auto word = static_cast<uint32_t>(std::countr_zero(left));
      for (uint64_t bits = bells.words[word].exchange(0, std::memory_order_acq_rel); bits != 0; bits &= bits - 1) {
        QueuePair* const pair =
            ground_.objects.queue_pairs.at(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
        if (pair == nullptr || pair->client != number) continue;
        if (pair->has_failed()) completions_.flush(*pair);
        if (pair->may_send()) queue(*pair);
      }
    }
  }
  return any;
}

void Rnic::tell_programs(uint32_t asleep) noexcept {
  for (const auto& client : ground_.objects.clients) {
    if (client) client->bells().asleep.store(asleep, std::memory_order_seq_cst);
  }
  rests_ = asleep != 0;
}

bool Rnic::rest() noexcept {
  tell_programs(1);
  const auto rings = [](const auto& client) {
    return client && client->bells().summary.load(std::memory_order_seq_cst) != 0;
  };
  return std::ranges::none_of(ground_.objects.clients, rings);
}

void Rnic::rise() noexcept {
  if (rests_) tell_programs(0);
}

void Rnic::queue(QueuePair& pair) noexcept {
  if (std::exchange(pair.is_queued, true)) return;
  queued_.push_back(pair.number);
}

void Rnic::pump(Instant now) noexcept {
  connections_.send(now);
  while (!queued_.empty() && ground_.port.backlog(now) <= kBacklog) {
    QueuePair* const pair = ground_.objects.queue_pairs.find(queued_.front());
    queued_.pop_front();
    if (pair == nullptr) continue;
    pair->is_queued = false;
    const bool was_held_back = pair->is_held_back;
    if (outbound_.send(*pair, now)) queue(*pair);
    if (pair->is_held_back && !was_held_back) held_back_.push_back(pair->number);
    arm(*pair);
  }
}

// A pair that had no room in the NIC has room again for a good part of it.
void Rnic::left(uint32_t sender, Instant now) noexcept {
  if (!ground_.port.keeps_too_much()) let_go();
  QueuePair* const pair = ground_.objects.queue_pairs.find(sender & ~kRequestBit);
  if (pair == nullptr) return;
  if (--pair->in_nic == QueuePair::kInNicLimit / 2) queue(*pair);
  if ((sender & kRequestBit) == 0) return;
  pair->requester.left(now);
  arm(*pair);
}

void Rnic::let_go() noexcept {
  for (; !held_back_.empty(); held_back_.pop_front()) {
    QueuePair* const pair = ground_.objects.queue_pairs.find(held_back_.front());
    if (pair == nullptr) continue;
    pair->is_held_back = false;
    queue(*pair);
  }
}

// A timer that moves later is found to be early when it runs out: that is rarer than its moving.
void Rnic::arm(QueuePair& pair) noexcept {
  const Instant at = pair.may_send() ? pair.requester.timer() : Instant::never();
  if (at >= pair.timer_at) return;
  const uint32_t id = pair.number % kQueuePairLimit;
  if (!pair.timer_at.is_never()) timers_.remove(id);
  timers_.push(at, id);
  pair.timer_at = at;
}

void Rnic::expire(Instant now) noexcept {
  connections_.expire(now);
  while (timers_.next() <= now) {
    QueuePair* const pair = ground_.objects.queue_pairs.at(timers_.top_id());
    timers_.pop();
    if (pair == nullptr) continue;
    pair->timer_at = Instant::never();
    outbound_.expire(*pair, now);
    if (pair->may_send()) queue(*pair);
    arm(*pair);
  }
}

void Rnic::link_changed(bool up) noexcept {
  if (!up) ++ground_.counters.link_downed;
  for (uint32_t number = 0; number < ground_.objects.clients.size(); ++number) {
    if (ground_.objects.clients[number])
      completions_.report(number, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, 1);
  }
}

void Rnic::forget(QueuePair& pair) noexcept {
  writes_.flush();
  if (!pair.timer_at.is_never()) timers_.remove(pair.number % kQueuePairLimit);
  for (const uint32_t cq : {pair.send_cq, pair.receive_cq}) {
    if (CompletionQueue* const queue = ground_.objects.completion_queues.find(cq)) --queue->users;
  }
  SharedReceiveQueue* const shared = pair.srq == 0 ? nullptr : ground_.objects.shared_queues.find(pair.srq - 1);
  if (shared != nullptr) --shared->users;
  ground_.objects.slots -= pair.sends.slots() + pair.receives.slots();
  ground_.objects.queue_pairs.remove(pair.number);
}

void Rnic::forget_client(uint32_t client) noexcept {
  VerbsObjects& all = ground_.objects;
  connections_.forget_client(client);
  std::vector<QueuePair*> pairs;
  all.queue_pairs.for_each([&](QueuePair& pair) {
    if (pair.client == client) pairs.push_back(&pair);
  });
  for (QueuePair* pair : pairs) forget(*pair);
  const auto is_its = [client](const auto& object) { return object.client == client; };
  all.shared_queues.for_each([&](const SharedReceiveQueue& queue) {
    if (queue.client == client) all.slots -= queue.ring.slots();
  });
  all.completion_queues.for_each([&](const CompletionQueue& queue) {
    if (queue.client == client) all.slots -= queue.slots();
  });
  all.shared_queues.remove_those(is_its);
  all.completion_queues.remove_those(is_its);
  all.channels.remove_those(is_its);
  all.regions.remove_all_of(client);
  all.clients[client].reset();
}

}  // namespace softspine::testbeds
