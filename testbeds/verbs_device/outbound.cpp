// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/outbound.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "testbeds/verbs_device/piece_walk.hpp"

namespace softspine::testbeds {

using dataplane::Instant;
namespace bth = dataplane::bth;

namespace {

uint8_t read_opcode(const OwedAnswer& answer, uint32_t part) {
  const bool is_first = answer.sent == 0;
  const bool is_last = answer.sent + part == answer.bytes;
  if (is_first) return is_last ? bth::kReadResponseOnly : bth::kReadResponseFirst;
  return is_last ? bth::kReadResponseLast : bth::kReadResponseMiddle;
}

RoceAddress datagram_address(const QueuePair& pair, const SendSlot& slot) {
  return {.destination = address_of_gid(slot.remote_gid),
          .destination_qp = slot.remote_qp & bth::kMask24,
          .source_port = source_port_of(slot.flow_label, pair.number, slot.remote_qp),
          .dscp = static_cast<uint8_t>(slot.traffic_class >> 2),
          .ecn = static_cast<uint8_t>(slot.traffic_class & 3),
          .ttl = kResponseTtl,
          .flow_label = slot.flow_label & 0xfffff};
}

}  // namespace

bool Outbound::send(QueuePair& pair, Instant now) noexcept {
  FrameBatch batch(ground_, pair);
  add_answers(pair, batch);
  bool is_sound = true;
  if (pair.may_send() && pair.receiver.answers.empty()) is_sound = add_requests(pair, batch, now);
  const bool is_full = batch.is_full();
  if (!is_sound || !batch.send(now)) {
    fail(pair, IBV_WC_LOC_PROT_ERR);
    return false;
  }
  if (!pair.is_reliable()) complete(pair);
  if (pair.may_send() && pair.requester.is_stuck()) fail(pair, pair.requester.oldest()->wrong);
  return is_full;
}

void Outbound::add_answers(QueuePair& pair, FrameBatch& batch) noexcept {
  OwedAnswers& answers = pair.receiver.answers;
  while (!answers.empty() && !batch.is_full()) {
    OwedAnswer& answer = answers.front();
    if (answer.kind == OwedAnswer::Kind::kRead) {
      if (!batch.has_room_in_nic() || !add_read(pair, answer, batch)) return;
      if (answer.kind != OwedAnswer::Kind::kRead || answer.sent != answer.bytes) continue;
    } else {
      const bool is_atomic = answer.kind == OwedAnswer::Kind::kAtomic;
      const RdmaFields fields{.opcode = is_atomic ? rdma::kAtomicAcknowledge : bth::kAcknowledge,
                              .psn = answer.psn,
                              .syndrome = is_atomic ? rdma::kAck : answer.syndrome,
                              .msn = answer.msn,
                              .original = answer.original};
      if (batch.add(pair.peer(), fields, 0) == nullptr) return;
    }
    answers.pop();
  }
}

// One packet of a read's responses; false: no packet is left. A region that has gone since then is refused.
bool Outbound::add_read(QueuePair& pair, OwedAnswer& answer, FrameBatch& batch) noexcept {
  const uint32_t part = std::min(pair.mtu(), answer.bytes - answer.sent);
  const auto from =
      ground_.objects.regions.find(answer.key, pair.pd, answer.address + answer.sent, part, IBV_ACCESS_REMOTE_READ);
  if (part != 0 && !from) {
    const OwedAnswer refusal{.syndrome = rdma::kAccessError, .psn = answer.psn, .msn = answer.msn};
    completions_.fail(pair, IBV_WC_WR_FLUSH_ERR, IBV_EVENT_QP_ACCESS_ERR);
    pair.receiver.answers.clear();
    pair.receiver.answers.push(refusal);
    return true;
  }
  const RdmaFields fields{
      .opcode = read_opcode(answer, part), .psn = answer.psn, .syndrome = rdma::kAck, .msn = answer.msn};
  uint8_t* const to = batch.add(pair.peer(), fields, part);
  if (to == nullptr) return false;
  if (part != 0) batch.memory().add(to, *from, part);
  answer.psn = psn_after(answer.psn, 1);
  answer.sent += part;
  return true;
}

// False: the program's memory is not its own.
bool Outbound::add_requests(QueuePair& pair, FrameBatch& batch, Instant now) noexcept {
  pair.requester.fetch(pair.sends);
  while (!batch.is_full() && batch.has_room_in_nic()) {
    const auto packet = pair.requester.next(now);
    if (!packet) return true;
    RdmaFields fields = packet->fields;
    const bool is_datagram = pair.type == IBV_QPT_UD;
    const SendSlot& slot = packet->work->slot;
    if (is_datagram) {
      fields.source_qp = pair.number;
      fields.qkey = (slot.remote_qkey >> 31) != 0 ? pair.attributes.qkey : slot.remote_qkey;
    }
    if (packet->is_again) ++ground_.counters.retransmitted_pkts;
    uint8_t* const to = batch.add(is_datagram ? datagram_address(pair, slot) : pair.peer(), fields, packet->bytes);
    if (to == nullptr) return true;  // as if it were lost
    if (!add_payload(pair, *packet, to, batch)) return false;
  }
  return true;
}

bool Outbound::add_payload(QueuePair& pair, const RequestPacket& packet, uint8_t* to, FrameBatch& batch) noexcept {
  const SendWork& work = *packet.work;
  if ((work.slot.flags & IBV_SEND_INLINE) != 0) {
    std::memcpy(to, pair.sends.slot(work.index) + sizeof(SendSlot) + packet.offset, packet.bytes);
    return true;
  }
  return walk_pieces(ground_.objects.regions, pair.pd, std::span(work.piece).first(work.slot.pieces), packet.offset,
                     packet.bytes, 0, [&](uint64_t from, uint32_t bytes) {
                       batch.memory().add(to, from, bytes);
                       to += bytes;
                     });
}

void Outbound::take(QueuePair& pair, const RdmaFrame& frame, Instant now) noexcept {
  if (!pair.may_send() || !pair.requester.is_sent(frame.psn)) return;
  if (frame.opcode == bth::kAcknowledge) {
    take_acknowledgement(pair, frame, now);
  } else {
    take_response(pair, frame, now);
  }
  if (pair.may_send()) complete(pair);
}

void Outbound::take_acknowledgement(QueuePair& pair, const RdmaFrame& frame, Instant now) noexcept {
  const uint8_t kind = frame.syndrome & rdma::kKindMask;
  if (kind == 0) {
    pair.requester.acknowledged(frame.psn, now);
    return;
  }
  if (kind == rdma::kRnr) ++ground_.counters.rcvd_rnr_err;
  if (frame.syndrome == rdma::kSequenceError) ++ground_.counters.rcvd_seq_err;
  if (pair.requester.refused(frame.psn, frame.syndrome, now)) return;
  if (pair.requester.failure() == IBV_WC_RNR_RETRY_EXC_ERR) ++ground_.counters.retry_rnr_exceeded_err;
  complete(pair);
  fail(pair, pair.requester.failure());
}

void Outbound::take_response(QueuePair& pair, const RdmaFrame& frame, Instant now) noexcept {
  const SendWork* const work = pair.requester.expects_response(frame.psn, now);
  if (work == nullptr) return;
  const bool is_atomic = frame.opcode == rdma::kAtomicAcknowledge;
  const uint32_t offset = static_cast<uint32_t>(psn_ahead(frame.psn, work->first_psn)) * pair.mtu();
  const uint32_t expected = is_atomic ? 0 : std::min(pair.mtu(), work->bytes - offset);
  if (is_atomic != work->is_atomic() || frame.payload_bytes != expected) return fail(pair, IBV_WC_BAD_RESP_ERR);
  if (!place_response(pair, *work, frame)) return fail(pair, IBV_WC_LOC_PROT_ERR);
  pair.requester.responded(frame.psn, now);
}

bool Outbound::place_response(QueuePair& pair, const SendWork& work, const RdmaFrame& frame) noexcept {
  const uint8_t* from = work.is_atomic() ? reinterpret_cast<const uint8_t*>(&frame.original) : frame.payload;
  const uint32_t offset = static_cast<uint32_t>(psn_ahead(frame.psn, work.first_psn)) * pair.mtu();
  const uint32_t bytes = work.is_atomic() ? work.bytes : frame.payload_bytes;
  const bool is_there = walk_pieces(ground_.objects.regions, pair.pd, std::span(work.piece).first(work.slot.pieces),
                                    offset, bytes, IBV_ACCESS_LOCAL_WRITE, [&](uint64_t to, uint32_t part) {
                                      writes_.add(pair, from, to, part);
                                      from += part;
                                    });
  return work.is_atomic() ? writes_.flush() && is_there : is_there;
}

// What has arrived is in the program before the program is told.
void Outbound::complete(QueuePair& pair) noexcept {
  bool is_whole = true;
  while (const SendWork* const work = pair.requester.take_done()) {
    if (work->is_read()) is_whole = writes_.flush() && is_whole;
    if (work->is_send()) ++ground_.counters.rdma_sends;
    completions_.sent(pair, *work, is_whole ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
  }
  if (!is_whole) fail(pair, IBV_WC_WR_FLUSH_ERR);
}

void Outbound::expire(QueuePair& pair, Instant now) noexcept {
  if (!pair.may_send() || pair.requester.timer() > now) return;
  const bool is_timeout = pair.requester.has_timed_out(now);
  if (is_timeout) ++ground_.counters.completer_retry_err;
  if (pair.requester.expire(now)) return;
  ++ground_.counters.retry_exceeded_err;
  fail(pair, pair.requester.failure());
}

void Outbound::fail(QueuePair& pair, uint32_t status) noexcept {
  writes_.flush();
  completions_.fail(pair, status, IBV_EVENT_QP_FATAL);
  pair.receiver.answers.clear();
}

}  // namespace softspine::testbeds
