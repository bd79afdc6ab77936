// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/inbound.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "testbeds/verbs_device/piece_walk.hpp"

namespace softspine::testbeds {

using Message = ReceiverState::Message;
namespace bth = dataplane::bth;

namespace {

constexpr uint32_t kGrhBytes = 40;
constexpr uint32_t kAtomicBytes = 8;
// RoCE has no service level. ConnectX tells by it what the GRH's 40 bytes hold, and UCX 1.13 reads it there.
constexpr uint32_t kIpv6Datagram = 1;
constexpr uint32_t kIpv4Datagram = 2;

struct Place {
  bool sends;
  bool is_first;
  bool is_last;
};
Place place_of(uint8_t operation) {
  const auto is_one_of = [operation](auto... opcode) { return ((operation == opcode) || ...); };
  const bool is_only = is_one_of(bth::kSendOnly, bth::kSendOnlyImmediate, bth::kWriteOnly, bth::kWriteOnlyImmediate);
  return {.sends = operation <= bth::kSendOnlyImmediate,
          .is_first = is_only || is_one_of(bth::kSendFirst, bth::kWriteFirst),
          .is_last =
              is_only || is_one_of(bth::kSendLast, bth::kSendLastImmediate, bth::kWriteLast, bth::kWriteLastImmediate)};
}

uint32_t packets_of(uint32_t bytes, uint32_t mtu) {
  return std::max(1U, (bytes + mtu - 1) / mtu);
}

}  // namespace

void Inbound::take(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  if (pair.type == IBV_QPT_UD) return take_datagram(pair, frame);
  const int32_t ahead = psn_ahead(frame.psn, state.expected);
  if (ahead == 0) return take_expected(pair, frame);
  if (!pair.is_reliable()) {
    state.abandon_message();
    state.expected = frame.psn;
    if (place_of(frame.opcode & rdma::kOperationMask).is_first) return take_expected(pair, frame);
    state.expected = psn_after(frame.psn, 1);
    return;
  }
  if (ahead < 0) return take_again(pair, frame);
  ++ground_.counters.out_of_seq_request;
  if (state.has_complained) return;
  state.has_complained = true;
  acknowledge(pair, state.expected, rdma::kSequenceError);
}

void Inbound::take_again(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  ++ground_.counters.duplicate_request;
  if (state.answers.bring(frame.psn, pair.mtu())) return;
  if (frame.opcode == bth::kReadRequest) {
    const bool is_allowed = (pair.attributes.access & IBV_ACCESS_REMOTE_READ) != 0;
    if (!is_allowed || psn_ahead(psn_after(frame.psn, packets_of(frame.dma_bytes, pair.mtu())), state.expected) > 0)
      return;
    state.answers.push({.kind = OwedAnswer::Kind::kRead,
                        .psn = frame.psn,
                        .msn = state.msn,
                        .key = frame.key,
                        .address = frame.address,
                        .bytes = frame.dma_bytes});
    return;
  }
  if (frame.opcode == rdma::kCompareSwap || frame.opcode == rdma::kFetchAdd) {
    const auto found = std::ranges::find(state.atomics, frame.psn, &ReceiverState::AtomicResult::psn);
    if (found == state.atomics.end()) return;
    state.answers.push(
        {.kind = OwedAnswer::Kind::kAtomic, .psn = frame.psn, .msn = state.msn, .original = found->original});
    return;
  }
  if (writes_.flush()) acknowledge(pair, psn_after(state.expected, bth::kMask24), rdma::kAck);
}

void Inbound::take_expected(QueuePair& pair, const RdmaFrame& frame) noexcept {
  switch (frame.opcode) {
    case bth::kReadRequest: return take_read(pair, frame);
    case rdma::kCompareSwap:
    case rdma::kFetchAdd: return take_atomic(pair, frame);
    default: return take_data(pair, frame);
  }
}

void Inbound::take_data(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  const uint8_t operation = frame.opcode & rdma::kOperationMask;
  const Place place = place_of(operation);
  const Message kind = place.sends ? Message::kSend : Message::kWrite;
  const bool is_in_order = place.is_first ? state.message == Message::kNone : state.message == kind;
  const bool is_long_enough = place.is_last || frame.payload_bytes == pair.mtu();
  if (!is_in_order || !is_long_enough || frame.payload_bytes > pair.mtu())
    return refuse(pair, frame, rdma::kInvalidRequest);
  const bool needs_receive = (place.sends && place.is_first) || (!place.sends && parts_of(operation).immediate);
  if (needs_receive && !find_receive(pair)) {
    ++ground_.counters.send_rnr_err;
    state.has_complained = true;  // those behind it need no answer
    if (pair.is_reliable())
      acknowledge(pair, frame.psn, static_cast<uint8_t>(rdma::kRnr | (pair.attributes.rnr_timer & 31)));
    if (!pair.is_reliable()) state.expected = psn_after(state.expected, 1), state.abandon_message();
    return;
  }
  if (place.is_first && !begin(pair, frame, place.sends)) return refuse(pair, frame, rdma::kAccessError);
  if (!(place.sends ? place_send(pair, frame) : this->place(pair, frame))) return;
  state.arrived += frame.payload_bytes;
  state.expected = psn_after(state.expected, 1);
  state.has_complained = false;
  if (place.is_last) return end(pair, frame);
  if (!frame.asks_for_ack) return;
  if (!writes_.flush()) return refuse(pair, frame, rdma::kAccessError);
  acknowledge(pair, frame.psn, rdma::kAck);
}

bool Inbound::begin(QueuePair& pair, const RdmaFrame& frame, bool sends) noexcept {
  ReceiverState& state = pair.receiver;
  state.message = sends ? Message::kSend : Message::kWrite;
  state.arrived = 0;
  if (sends) return true;
  state.write_address = frame.address;
  state.write_key = frame.key;
  state.write_bytes = frame.dma_bytes;
  if ((pair.attributes.access & IBV_ACCESS_REMOTE_WRITE) == 0) return false;
  return frame.dma_bytes == 0 ||
         ground_.objects.regions.find(frame.key, pair.pd, frame.address, frame.dma_bytes, IBV_ACCESS_REMOTE_WRITE)
             .has_value();
}

// Of a write. The region may have gone since the message began.
bool Inbound::place(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  if (state.arrived + frame.payload_bytes > state.write_bytes) {
    refuse(pair, frame, rdma::kInvalidRequest);
    return false;
  }
  if (frame.payload_bytes == 0) return true;
  const auto at = ground_.objects.regions.find(state.write_key, pair.pd, state.write_address + state.arrived,
                                               frame.payload_bytes, IBV_ACCESS_REMOTE_WRITE);
  if (!at) {
    refuse(pair, frame, rdma::kAccessError);
    return false;
  }
  writes_.add(pair, frame.payload, *at, frame.payload_bytes);
  return true;
}

bool Inbound::place_send(QueuePair& pair, const RdmaFrame& frame) noexcept {
  const ReceiverState& state = pair.receiver;
  const ReceiveWork work = *state.receive;
  const auto end_with = [&](uint32_t status, uint8_t syndrome) {
    pair.receiver.receive.reset();
    completions_.received(pair, work, {.status = status});
    refuse(pair, frame, syndrome);
    return false;
  };
  if (state.arrived + frame.payload_bytes > work.bytes) return end_with(IBV_WC_LOC_LEN_ERR, rdma::kInvalidRequest);
  const uint8_t* from = frame.payload;
  const bool is_there =
      walk_pieces(ground_.objects.regions, pd_of_receives(pair), std::span(work.piece).first(work.pieces),
                  state.arrived, frame.payload_bytes, IBV_ACCESS_LOCAL_WRITE, [&](uint64_t to, uint32_t bytes) {
                    writes_.add(pair, from, to, bytes);
                    from += bytes;
                  });
  return is_there || end_with(IBV_WC_LOC_PROT_ERR, rdma::kOperationError);
}

void Inbound::end(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  const bool sends = state.message == Message::kSend;
  if (!sends && state.arrived != state.write_bytes) return refuse(pair, frame, rdma::kInvalidRequest);
  if (!writes_.flush()) return refuse(pair, frame, rdma::kAccessError);
  state.msn = psn_after(state.msn, 1);
  if (state.receive) {
    const bool immediate = parts_of(frame.opcode).immediate;
    completions_.received(pair, *state.receive,
                          {.opcode = sends ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM,
                           .bytes = static_cast<uint32_t>(state.arrived),
                           .immediate = frame.immediate,
                           .flags = immediate ? uint32_t{IBV_WC_WITH_IMM} : 0U,
                           .source_qp = pair.attributes.destination_qp,
                           .is_solicited = frame.is_solicited});
  }
  state.end_message();
  if (frame.asks_for_ack) acknowledge(pair, frame.psn, rdma::kAck);
}

void Inbound::take_read(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  if (state.message != Message::kNone) return refuse(pair, frame, rdma::kInvalidRequest);
  const bool is_allowed = (pair.attributes.access & IBV_ACCESS_REMOTE_READ) != 0;
  const bool is_there = frame.dma_bytes == 0 || ground_.objects.regions.find(frame.key, pair.pd, frame.address,
                                                                             frame.dma_bytes, IBV_ACCESS_REMOTE_READ);
  if (!is_allowed || !is_there) return refuse(pair, frame, rdma::kAccessError);
  const uint32_t msn = psn_after(state.msn, 1);
  if (frame.dma_bytes > Requester::kLongestMessage || !state.answers.push({.kind = OwedAnswer::Kind::kRead,
                                                                           .psn = frame.psn,
                                                                           .msn = msn,
                                                                           .key = frame.key,
                                                                           .address = frame.address,
                                                                           .bytes = frame.dma_bytes}))
    return refuse(pair, frame, rdma::kInvalidRequest);
  state.msn = msn;
  state.expected = psn_after(state.expected, packets_of(frame.dma_bytes, pair.mtu()));
  state.has_complained = false;
}

void Inbound::take_atomic(QueuePair& pair, const RdmaFrame& frame) noexcept {
  ReceiverState& state = pair.receiver;
  if (state.message != Message::kNone || frame.address % kAtomicBytes != 0)
    return refuse(pair, frame, rdma::kInvalidRequest);
  const bool is_allowed = (pair.attributes.access & IBV_ACCESS_REMOTE_ATOMIC) != 0;
  const auto at =
      ground_.objects.regions.find(frame.key, pair.pd, frame.address, kAtomicBytes, IBV_ACCESS_REMOTE_ATOMIC);
  if (!is_allowed || !at) return refuse(pair, frame, rdma::kAccessError);
  VerbsClient& client = ground_.objects.client_of(pair);
  uint64_t original = 0;
  bool is_whole = writes_.flush();
  client.reads.add(&original, *at, kAtomicBytes);
  is_whole = client.reads.read() && is_whole;
  const bool swaps = frame.opcode == rdma::kCompareSwap;
  uint64_t next = swaps ? frame.swap_or_add : original + frame.swap_or_add;
  if (is_whole && (!swaps || original == frame.compare)) {
    client.writes.add(&next, *at, kAtomicBytes);
    is_whole = client.writes.write();
  }
  if (!is_whole) return refuse(pair, frame, rdma::kOperationError);
  state.msn = psn_after(state.msn, 1);
  state.remember_atomic(frame.psn, original);
  state.expected = psn_after(state.expected, 1);
  state.has_complained = false;
  state.answers.push({.kind = OwedAnswer::Kind::kAtomic, .psn = frame.psn, .msn = state.msn, .original = original});
}

// Behind 40 bytes for a GRH, of which an IPv4 header fills the last 20.
void Inbound::take_datagram(QueuePair& pair, const RdmaFrame& frame) noexcept {
  if (frame.qkey != pair.attributes.qkey || frame.payload_bytes > pair.mtu() || !find_receive(pair)) {
    ++ground_.counters.unknown_qp;
    return;
  }
  const ReceiveWork work = *pair.receiver.receive;
  pair.receiver.receive.reset();
  const uint64_t bytes = uint64_t{kGrhBytes} + frame.payload_bytes;
  if (bytes > work.bytes) {
    completions_.received(pair, work, {.status = IBV_WC_LOC_LEN_ERR});
    return completions_.fail(pair, IBV_WC_WR_FLUSH_ERR, -1);
  }
  std::array<uint8_t, kGrhBytes> grh{};
  const bool is_v4 = frame.version == dataplane::IpVersion::k4;
  const uint32_t header = is_v4 ? dataplane::ipv4::kMinBytes : dataplane::ipv6::kBytes;
  std::memcpy(grh.data() + kGrhBytes - header, frame.l3, header);
  const auto put = [&](const uint8_t* from, uint64_t offset, uint32_t count) {
    return walk_pieces(ground_.objects.regions, pd_of_receives(pair), std::span(work.piece).first(work.pieces), offset,
                       count, IBV_ACCESS_LOCAL_WRITE, [&](uint64_t to, uint32_t part) {
                         writes_.add(pair, from, to, part);
                         from += part;
                       });
  };
  const bool is_there = put(grh.data(), 0, kGrhBytes) && put(frame.payload, kGrhBytes, frame.payload_bytes);
  if (!writes_.flush() || !is_there) {
    completions_.received(pair, work, {.status = IBV_WC_LOC_PROT_ERR});
    return completions_.fail(pair, IBV_WC_WR_FLUSH_ERR, -1);
  }
  completions_.received(pair, work,
                        {.bytes = static_cast<uint32_t>(bytes),
                         .immediate = frame.immediate,
                         .flags = IBV_WC_GRH | (parts_of(frame.opcode).immediate ? uint32_t{IBV_WC_WITH_IMM} : 0U),
                         .source_qp = frame.source_qp,
                         .service_level = is_v4 ? kIpv4Datagram : kIpv6Datagram,
                         .is_solicited = frame.is_solicited});
}

// The queue pair's own, or one of the shared queue's.
bool Inbound::find_receive(QueuePair& pair) noexcept {
  std::optional<ReceiveWork>& receive = pair.receiver.receive;
  if (receive) return true;
  if (pair.srq == 0) {
    receive = take_receive(pair.receives, pair.sizes.receive_pieces);
    return receive.has_value();
  }
  SharedReceiveQueue* const shared = ground_.objects.shared_queues.find(pair.srq - 1);
  if (shared == nullptr) return false;
  receive = take_receive(shared->ring, shared->most_pieces);
  if (shared->limit != 0 && shared->ring.waiting() < shared->limit) {
    shared->limit = 0;
    completions_.report(pair.client, IBV_EVENT_SRQ_LIMIT_REACHED, pair.srq - 1);
  }
  return receive.has_value();
}

uint32_t Inbound::pd_of_receives(const QueuePair& pair) const noexcept {
  const SharedReceiveQueue* const shared = pair.srq == 0 ? nullptr : ground_.objects.shared_queues.find(pair.srq - 1);
  return shared != nullptr ? shared->pd : pair.pd;
}

void Inbound::acknowledge(QueuePair& pair, uint32_t psn, uint8_t syndrome) noexcept {
  if (!pair.is_reliable()) return;
  pair.receiver.answers.push({.syndrome = syndrome, .psn = psn, .msn = pair.receiver.msn});
}

void Inbound::refuse(QueuePair& pair, const RdmaFrame& frame, uint8_t syndrome) noexcept {
  writes_.flush();
  if (!pair.is_reliable()) {
    pair.receiver.abandon_message();
    pair.receiver.expected = psn_after(frame.psn, 1);
    return;
  }
  const bool is_access = syndrome == rdma::kAccessError;
  completions_.fail(pair, IBV_WC_WR_FLUSH_ERR, is_access ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
  // A kernel takes an ended process' queue pairs before its memory: nobody refuses then.
  if (!ground_.objects.client_of(pair).has_ended()) acknowledge(pair, frame.psn, syndrome);
}

}  // namespace softspine::testbeds
