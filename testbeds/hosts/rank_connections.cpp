// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/rank_connections.hpp"

namespace softspine::testbeds {
namespace {

uint64_t key_of(uint32_t peer, uint32_t channel) {
  return uint64_t{peer} << 32 | channel;
}

}  // namespace

RankConnections::RankConnections(const std::vector<RankConnection>& connections, QueuePairScaling scaling)
    : scaling_(scaling) {
  for (const RankConnection& each : connections) {
    const uint32_t index = count();
    SOFTSPINE_CHECK(each.depth > 0 && each.clear_depth > 0, each.depth, each.clear_depth);
    Connection& it = connections_.emplace_back();
    it.peer = each.peer;
    it.channel = each.channel;
    it.depth = each.depth;
    it.clear_flow = each.clear_flow;
    it.clear_depth = each.clear_depth;
    it.is_scale_up = each.is_scale_up;
    it.asks_for_clear = each.clear_sink != RankConnection::kNone;
    it.arrived.resize(each.sinks.size());
    for (uint32_t i = 0; i < each.flows.size(); ++i) {
      it.out.push_back({.flow = each.flows[i]});
      enter(flows_, each.flows[i], {Role::kData, index, i});
    }
    for (uint32_t i = 0; i < each.sinks.size(); ++i) enter(sinks_, each.sinks[i], {Role::kData, index, i});
    if (it.clear_flow != RankConnection::kNone) enter(flows_, it.clear_flow, {Role::kClear, index, 0});
    if (it.asks_for_clear) enter(sinks_, each.clear_sink, {Role::kClear, index, 0});
    most_parts_ = std::max({most_parts_, parts_out(it), parts_in(it)});
    by_peer_.emplace_back(key_of(each.peer, each.channel), index);
  }
  std::ranges::sort(by_peer_);
  for (size_t i = 1; i < by_peer_.size(); ++i)
    SOFTSPINE_CHECK(by_peer_[i - 1].first != by_peer_[i].first, by_peer_[i].first >> 32, by_peer_[i].second);
}

void RankConnections::enter(std::vector<End>& ends, uint32_t number, const End& end) {
  if (number >= ends.size()) ends.resize(size_t{number} + 1);
  SOFTSPINE_CHECK(ends[number].role == Role::kForeign, number, end.connection);
  ends[number] = end;
}

uint32_t RankConnections::find(uint32_t peer, uint32_t channel) const {
  const uint64_t key = key_of(peer, channel);
  const auto at = std::ranges::lower_bound(by_peer_, key, {}, &std::pair<uint64_t, uint32_t>::first);
  SOFTSPINE_CHECK(at != by_peer_.end() && at->first == key, peer, channel);
  return at->second;
}

bool RankConnections::has_room(const Connection& it, uint64_t message) const {
  const auto has_place = [&](const QueuePair& each) { return each.under_way < it.depth; };
  switch (scaling_) {
    case QueuePairScaling::kSplit: return std::ranges::all_of(it.out, has_place);
    case QueuePairScaling::kLeastOutstanding: return std::ranges::any_of(it.out, has_place);
    default: return has_place(it.out[message % it.out.size()]);
  }
}

uint32_t RankConnections::choose(const Connection& it, uint64_t message) const {
  if (scaling_ != QueuePairScaling::kLeastOutstanding) return static_cast<uint32_t>(message % it.out.size());
  uint32_t chosen = 0;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < it.out.size(); ++i) {
    if (it.out[i].under_way == it.depth || it.out[i].outstanding_bytes >= least) continue;
    chosen = i;
    least = it.out[i].outstanding_bytes;
  }
  return chosen;
}

void RankConnections::begin_part(Connection& it, const OpenOperation& op, uint32_t part) const {
  QueuePair& by = it.out[queue_pair_out(op, part)];
  ++by.under_way;
  by.outstanding_bytes += bytes_out(it, op, part);
}

void RankConnections::end_part(Connection& it, const OpenOperation& op, uint32_t part) const {
  QueuePair& by = it.out[queue_pair_out(op, part)];
  --by.under_way;
  by.outstanding_bytes -= bytes_out(it, op, part);
}

uint64_t RankConnections::arrive(Connection& it, uint32_t queue_pair, uint64_t number, uint32_t immediate) const {
  it.arrived[queue_pair] = number + 1;
  if (!are_numbered(it)) return splits() ? number : number * it.arrived.size() + queue_pair;
  // A message comes once: this one is not before arrived_up_to, and not 2^32 behind it.
  const uint64_t message = it.arrived_up_to + static_cast<uint32_t>(immediate - it.arrived_up_to);
  arrive_numbered(it, message);
  return message;
}

void RankConnections::arrive_numbered(Connection& it, uint64_t message) {
  if (message != it.arrived_up_to) {
    it.early.insert(std::ranges::lower_bound(it.early, message), message);
    return;
  }
  auto next = it.early.begin();
  for (++it.arrived_up_to; next != it.early.end() && *next == it.arrived_up_to; ++next) ++it.arrived_up_to;
  it.early.erase(it.early.begin(), next);
}

uint32_t RankConnections::arrived_parts(const Connection& it, uint64_t message) const {
  if (are_numbered(it)) return message < it.arrived_up_to || std::ranges::binary_search(it.early, message) ? 1 : 0;
  if (!splits()) return it.arrived[message % it.arrived.size()] > message / it.arrived.size() ? 1 : 0;
  return static_cast<uint32_t>(std::ranges::count_if(it.arrived, [&](uint64_t count) { return count > message; }));
}

uint64_t RankConnections::unclaimed(const Connection& it) const {
  const uint64_t pairs = it.arrived.size();
  if (are_numbered(it)) {
    const auto asked_for = std::ranges::lower_bound(it.early, it.receives_started) - it.early.begin();
    return it.arrived_up_to - std::min(it.arrived_up_to, it.receives_started) + it.early.size() -
           static_cast<uint64_t>(asked_for);
  }
  uint64_t all = 0;
  for (uint64_t i = 0; i < pairs; ++i) {
    const uint64_t asked_for = splits() ? it.receives_started : (it.receives_started + pairs - 1 - i) / pairs;
    const uint64_t beyond = it.arrived[i] - std::min(it.arrived[i], asked_for);
    all = splits() ? std::max(all, beyond) : all + beyond;
  }
  return all;
}

}  // namespace softspine::testbeds
