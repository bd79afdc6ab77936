// SPDX-License-Identifier: Apache-2.0
// An operation: kind, cpu, lines since the one before, amount; of a send or receive peer and tag, both one more than
// they are, 0 for any; then what it needs done, and what it needs started: how many, and how far back each lies.
#include "control/traces/recorded_work.hpp"

#include <algorithm>
#include <utility>

namespace softspine::control {
namespace {

// Small numbers of both signs.
uint64_t folded(uint64_t difference) {
  return difference << 1 ^ (difference >> 63 != 0 ? UINT64_MAX : 0);
}
uint64_t unfolded(uint64_t value) {
  return value >> 1 ^ ((value & 1) != 0 ? UINT64_MAX : 0);
}

}  // namespace

void RecordedWork::begin_rank() {
  ranks_.push_back({.begin = file_.size(), .end = file_.size()});
  last_line_ = 0;
}

void RecordedWork::write(const TraceOperation& op) {
  RecordedRank& rank = ranks_.back();
  const auto put_needs = [&](std::span<const uint64_t> needs) {
    file_.put_number(needs.size());
    for (const uint64_t need : needs) file_.put_number(rank.operations - need);
    totals.needs += needs.size();
  };
  const bool computes = op.kind == OperationKind::kCompute;
  count(op);
  file_.put(static_cast<uint8_t>(op.kind));
  file_.put_number(op.cpu);
  file_.put_number(folded(op.line - std::exchange(last_line_, op.line)));
  file_.put_number(computes ? static_cast<uint64_t>(op.time.count_ps()) : op.bytes);
  if (!computes) {
    file_.put_number(op.peer == kAnyRank ? 0 : uint64_t{op.peer} + 1);
    file_.put_number(op.tag == kAnyTag ? 0 : uint64_t{op.tag} + 1);
  }
  put_needs(op.needs);
  put_needs(op.needs_started);
  ++rank.operations;
  rank.cpus = std::max(rank.cpus, op.cpu + 1);
  rank.end = file_.size();
}

void RecordedWork::count(const TraceOperation& op) {
  totals.cpus = std::max(totals.cpus, op.cpu + 1);
  switch (op.kind) {
    case OperationKind::kSend:
      ++totals.sends;
      totals.to_itself += op.peer == ranks_.size() - 1 ? 1 : 0;
      totals.sent_bytes += op.bytes;
      return;
    case OperationKind::kReceive:
      ++totals.receives;
      totals.wildcards += op.peer == kAnyRank || op.tag == kAnyTag ? 1 : 0;
      return;
    default: {
      const auto ns = static_cast<uint64_t>(op.time.count_ps()) / 1'000;
      ++totals.computes;
      totals.compute_ns += std::min(ns, UINT64_MAX - totals.compute_ns);
    }
  }
}

uint64_t RecordedStream::number() noexcept {
  uint64_t out = 0;
  for (uint32_t shift = 0;; shift += 7) {
    const uint8_t byte = bytes_[position_++];
    out |= uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return out;
  }
}

void RecordedStream::take_needs(std::vector<uint64_t>& out) noexcept {
  out.resize(number());
  for (uint64_t& need : out) need = count_ - number();
}

bool RecordedStream::next(TraceOperation& out) noexcept {
  if (position_ == bytes_.size()) return false;
  out = {};
  out.kind = static_cast<OperationKind>(bytes_[position_++]);
  out.cpu = static_cast<uint32_t>(number());
  out.line = line_ += unfolded(number());
  const uint64_t amount = number();
  if (out.kind == OperationKind::kCompute) {
    out.time = dataplane::Duration::ps(static_cast<int64_t>(amount));
  } else {
    out.bytes = amount;
    const uint64_t peer = number();
    const uint64_t tag = number();
    out.peer = peer == 0 ? kAnyRank : static_cast<uint32_t>(peer - 1);
    out.tag = tag == 0 ? kAnyTag : static_cast<uint32_t>(tag - 1);
  }
  take_needs(needs_);
  take_needs(needs_started_);
  out.needs = needs_;
  out.needs_started = needs_started_;
  ++count_;
  return true;
}

}  // namespace softspine::control
