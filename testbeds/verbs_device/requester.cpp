// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/requester.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;
namespace bth = dataplane::bth;

namespace {

// By the timer's code, IBA table 45.
Duration rnr_wait(uint32_t code) {
  static constexpr std::array<int64_t, 32> kUs = {655'360, 10,     20,     30,      40,      60,      80,      120,
                                                  160,     240,    320,    480,     640,     960,     1'280,   1'920,
                                                  2'560,   3'840,  5'120,  7'680,   10'240,  15'360,  20'480,  30'720,
                                                  40'960,  61'440, 81'920, 122'880, 163'840, 245'760, 327'680, 491'520};
  return Duration::us(kUs[code & 31]);
}

bool knows(uint32_t type, uint32_t opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM: return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: return type != IBV_QPT_UD;
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return type == IBV_QPT_RC;
    default: return false;
  }
}

// Of a send or a write, by its place in the message.
uint8_t data_opcode(const SendWork& work, uint32_t number) {
  const bool is_first = number == 0;
  const bool is_last = number + 1 == work.packets;
  const bool sends = work.is_send();
  const bool immediate = work.has_immediate();
  if (is_first && is_last) {
    if (sends) return immediate ? bth::kSendOnlyImmediate : bth::kSendOnly;
    return immediate ? bth::kWriteOnlyImmediate : bth::kWriteOnly;
  }
  if (is_first) return sends ? bth::kSendFirst : bth::kWriteFirst;
  if (!is_last) return sends ? bth::kSendMiddle : bth::kWriteMiddle;
  if (sends) return immediate ? bth::kSendLastImmediate : bth::kSendLast;
  return immediate ? bth::kWriteLastImmediate : bth::kWriteLast;
}

}  // namespace

void Requester::open(const RequesterKind& kind) {
  kind_ = kind;
  works_.resize(std::min(kOpenWorks, std::bit_ceil(std::max(1U, kind.sizes.send_slots))));
}

void Requester::reset() noexcept {
  head_ = fetched_ = cursor_ = packet_ = 0;
  next_psn_ = oldest_ = sent_ = 0;
  has_asked_again_ = false;
  failure_ = IBV_WC_SUCCESS;
  deadline_ = Instant::never();
  waits_until_ = Instant{};
}

void Requester::start(uint32_t first_psn) noexcept {
  next_psn_ = oldest_ = sent_ = first_psn & bth::kMask24;
  retries_left_ = attributes_.retries;
  rnr_left_ = attributes_.rnr_retries;
}

void Requester::fetch(WorkRing& ring) noexcept {
  // PSNs are compared over half their range: a work that is fetched may have as many again.
  constexpr int32_t kFarthest = 1 << 22;
  while (fetched_ - head_ < works_.size() && ring.waiting() != 0 && psn_ahead(next_psn_, oldest_) < kFarthest) {
    SendWork& to = work(fetched_++);
    to.index = ring.taken();
    plan(to, ring.take());
  }
}

// The slot is copied before it is looked at: its program may go on writing there.
void Requester::plan(SendWork& work, const uint8_t* slot) noexcept {
  std::memcpy(&work.slot, slot, sizeof work.slot);
  work.wrong = IBV_WC_SUCCESS;
  const bool is_inline = (work.slot.flags & IBV_SEND_INLINE) != 0;
  uint64_t bytes = is_inline ? work.slot.inline_bytes : 0;
  const bool is_sound = knows(kind_.type, work.slot.opcode) &&
                        (is_inline ? work.slot.inline_bytes <= kind_.sizes.inline_bytes && !work.needs_response()
                                   : work.slot.pieces <= kind_.sizes.send_pieces);
  if (!is_sound) work.wrong = IBV_WC_LOC_QP_OP_ERR;
  if (!is_inline && is_sound) {
    std::memcpy(work.piece.data(), slot + sizeof work.slot, work.slot.pieces * sizeof(MemoryPiece));
    for (uint32_t i = 0; i < work.slot.pieces; ++i) bytes += work.piece[i].length;
  }
  const uint64_t most = kind_.type == IBV_QPT_UD ? mtu() : kLongestMessage;
  if (bytes > most || (work.is_atomic() && bytes != 8)) work.wrong = IBV_WC_LOC_LEN_ERR;
  work.bytes = work.wrong == IBV_WC_SUCCESS ? static_cast<uint32_t>(bytes) : 0;
  work.first_psn = next_psn_;
  work.packets = work.is_atomic() ? 1 : std::max(1U, (work.bytes + mtu() - 1) / mtu());
  next_psn_ = psn_after(next_psn_, work.packets);
}

bool Requester::is_stuck() const noexcept {
  return head_ != fetched_ && head_ == cursor_ && work(head_).wrong != IBV_WC_SUCCESS;
}

bool Requester::may_begin(const SendWork& next) const noexcept {
  const bool is_fenced = (next.slot.flags & IBV_SEND_FENCE) != 0;
  if (!next.needs_response() && !is_fenced) return true;
  uint32_t open = 0;
  for (uint32_t i = head_; i != cursor_; ++i) open += work(i).needs_response();
  if (is_fenced && open != 0) return false;
  return !next.needs_response() || open < attributes_.most_reads;
}

std::optional<RequestPacket> Requester::next(Instant now) noexcept {
  if (cursor_ == fetched_ || now < waits_until_) return std::nullopt;
  const SendWork& at = work(cursor_);
  const uint32_t psn = psn_after(at.first_psn, packet_);
  if (at.wrong != IBV_WC_SUCCESS) return std::nullopt;
  if (kind_.is_reliable() && psn_ahead(psn, oldest_) >= static_cast<int32_t>(kWindow)) return std::nullopt;
  if (!may_begin(at)) return std::nullopt;
  RequestPacket out = packet_of(at, packet_);
  packet_ = at.is_read() ? at.packets : packet_ + 1;
  const uint32_t behind = psn_after(at.first_psn, packet_);
  out.is_again = psn_ahead(sent_, psn) > 0;
  if (psn_ahead(behind, sent_) > 0) sent_ = behind;
  if (packet_ == at.packets) {
    ++cursor_;
    packet_ = 0;
  }
  if (!kind_.is_reliable()) {
    oldest_ = behind;
  } else if (deadline_.is_never()) {
    restart_timer(now);
  }
  return out;
}

RequestPacket Requester::packet_of(const SendWork& at, uint32_t number) const noexcept {
  RequestPacket out{.work = &at, .fields = {}, .offset = number * mtu(), .bytes = 0, .is_again = false};
  RdmaFields& fields = out.fields;
  const bool is_last = number + 1 == at.packets;
  fields.psn = psn_after(at.first_psn, number);
  fields.immediate = at.slot.immediate;
  fields.key = at.slot.remote_key;
  fields.address = at.slot.remote_address;
  fields.dma_bytes = at.bytes;
  if (at.is_read()) {
    fields.opcode = bth::kReadRequest;
    fields.address += out.offset;
    fields.dma_bytes -= out.offset;
    return out;
  }
  if (at.is_atomic()) {
    const bool swaps = at.slot.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    fields.opcode = swaps ? rdma::kCompareSwap : rdma::kFetchAdd;
    fields.swap_or_add = swaps ? at.slot.swap : at.slot.compare_add;
    fields.compare = swaps ? at.slot.compare_add : 0;
    return out;
  }
  out.bytes = std::min(mtu(), at.bytes - out.offset);
  fields.opcode = static_cast<uint8_t>(transport_of(kind_.type) | data_opcode(at, number));
  fields.is_solicited = is_last && (at.slot.flags & IBV_SEND_SOLICITED) != 0;
  fields.asks_for_ack = kind_.is_reliable() && (is_last || fields.psn % kAckEvery == kAckEvery - 1);
  return out;
}

const SendWork* Requester::take_done() noexcept {
  if (head_ == fetched_) return nullptr;
  const SendWork& at = work(head_);
  if (head_ == cursor_ || psn_ahead(oldest_, psn_after(at.first_psn, at.packets)) < 0) return nullptr;
  ++head_;
  return &at;
}

const SendWork* Requester::take_any() noexcept {
  if (head_ == fetched_) return nullptr;
  const SendWork& at = work(head_++);
  cursor_ = fetched_;
  if (head_ == fetched_) oldest_ = sent_ = next_psn_;
  deadline_ = waits_until_ = Instant::never();
  return &at;
}

// All before `upto` has arrived; false if a response on the way there is missing.
bool Requester::advance(uint32_t upto) noexcept {
  for (uint32_t i = head_; i != fetched_; ++i) {
    const SendWork& at = work(i);
    const uint32_t end = psn_after(at.first_psn, at.packets);
    if (psn_ahead(oldest_, end) >= 0) continue;
    if (psn_ahead(upto, oldest_) <= 0) return true;
    if (at.needs_response()) return false;
    oldest_ = psn_ahead(upto, end) >= 0 ? end : upto;
  }
  return true;
}

void Requester::progress(Instant now) noexcept {
  has_asked_again_ = false;
  retries_left_ = attributes_.retries;
  rnr_left_ = attributes_.rnr_retries;
  if (psn_ahead(oldest_, sent_) >= 0) {
    deadline_ = Instant::never();
  } else {
    restart_timer(now);
  }
  // What was acknowledged meanwhile is not sent again.
  if (cursor_ != fetched_ && psn_ahead(psn_after(work(cursor_).first_psn, packet_), oldest_) < 0) go_back(oldest_);
}

void Requester::acknowledged(uint32_t psn, Instant now) noexcept {
  const uint32_t before = oldest_;
  const bool is_whole = advance(psn_after(psn, 1));
  if (oldest_ != before) progress(now);
  if (!is_whole && !has_asked_again_) {
    has_asked_again_ = true;
    go_back(oldest_);
  }
}

const SendWork* Requester::expects_response(uint32_t psn, Instant now) noexcept {
  const uint32_t before = oldest_;
  advance(psn);
  if (oldest_ != before) progress(now);
  const auto holds = [psn](const SendWork& at) {
    return psn_ahead(psn, at.first_psn) >= 0 && psn_ahead(psn, psn_after(at.first_psn, at.packets)) < 0;
  };
  for (uint32_t i = head_; i != fetched_ && oldest_ == psn; ++i) {
    if (holds(work(i))) return work(i).needs_response() ? &work(i) : nullptr;
  }
  if (!has_asked_again_ && psn_ahead(psn, oldest_) > 0) {
    has_asked_again_ = true;
    go_back(oldest_);
  }
  return nullptr;
}

void Requester::responded(uint32_t psn, Instant now) noexcept {
  oldest_ = psn_after(psn, 1);
  progress(now);
}

bool Requester::refused(uint32_t psn, uint8_t syndrome, Instant now) noexcept {
  const uint32_t before = oldest_;
  advance(psn);
  const bool has_progress = oldest_ != before;
  if ((syndrome & rdma::kKindMask) == rdma::kRnr) {
    const uint32_t left = rnr_left_;
    if (has_progress) progress(now);
    if (!has_progress && attributes_.rnr_retries != 7) {
      if (left == 0) {
        failure_ = IBV_WC_RNR_RETRY_EXC_ERR;
        return false;
      }
      rnr_left_ = left - 1;
    }
    go_back(oldest_);
    waits_until_ = now + rnr_wait(syndrome);
    deadline_ = Instant::never();
    return true;
  }
  if (has_progress) progress(now);
  switch (syndrome) {
    case rdma::kSequenceError:
      go_back(oldest_);
      deadline_ = Instant::never();  // until it is sent again
      return true;
    case rdma::kInvalidRequest: failure_ = IBV_WC_REM_INV_REQ_ERR; return false;
    case rdma::kAccessError: failure_ = IBV_WC_REM_ACCESS_ERR; return false;
    default: failure_ = IBV_WC_REM_OP_ERR; return false;
  }
}

bool Requester::expire(Instant now) noexcept {
  if (waits_until_ > Instant{} && waits_until_ <= now) waits_until_ = Instant{};
  if (!has_timed_out(now)) {
    if (deadline_ <= now) deadline_ = Instant::never();
    return true;
  }
  if (retries_left_ == 0) {
    failure_ = IBV_WC_RETRY_EXC_ERR;
    return false;
  }
  --retries_left_;
  has_asked_again_ = false;
  go_back(oldest_);
  deadline_ = Instant::never();
  return true;
}

void Requester::left(Instant now) noexcept {
  --in_nic_;
  if (kind_.is_reliable() && psn_ahead(sent_, oldest_) > 0) restart_timer(now);
}

// The next packet is the one with this PSN; none, if no work has it.
void Requester::go_back(uint32_t psn) noexcept {
  cursor_ = fetched_;
  packet_ = 0;
  for (uint32_t i = head_; i != fetched_; ++i) {
    const SendWork& at = work(i);
    const int32_t number = psn_ahead(psn, at.first_psn);
    if (number < 0 || number >= static_cast<int32_t>(at.packets)) continue;
    cursor_ = i;
    packet_ = static_cast<uint32_t>(number);
    return;
  }
}

void Requester::restart_timer(Instant now) noexcept {
  const uint32_t code = attributes_.timeout & 31;
  deadline_ = code == 0 ? Instant::never() : now + Duration::ns(4'096LL << code);
}

Instant Requester::timer() const noexcept {
  return waits_until_ > Instant{} ? std::min(waits_until_, deadline_) : deadline_;
}

}  // namespace softspine::testbeds
