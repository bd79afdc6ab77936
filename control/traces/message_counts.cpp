// SPDX-License-Identifier: Apache-2.0
#include "control/traces/message_counts.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <set>

namespace softspine::control {
namespace {

constexpr size_t kPairsExplained = 8;
constexpr size_t kTagsExplained = 4;

uint64_t hash_of_tag(uint32_t tag) {
  uint64_t x = tag + 0x9e3779b97f4a7c15ULL;  // splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

std::string counted_of_trace(uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

// What goes from one rank to another with one tag.
struct TagCount {
  uint64_t sends = 0;
  uint64_t receives = 0;
  uint64_t last_send = 0;  // its line
  uint64_t last_receive = 0;
};

Error error_of_pair(const std::string& file, uint32_t from, uint32_t to, const std::string& with,
                    const TagCount& count) {
  const bool is_lost = count.sends > count.receives;
  const uint64_t line = is_lost ? count.last_send : count.last_receive;
  return {file, "", static_cast<int>(std::min<uint64_t>(line, INT_MAX)), 1,
          counted_of_trace(count.sends, "send") + " from rank " + std::to_string(from) + " to rank " +
              std::to_string(to) + with + ", and " + counted_of_trace(count.receives, "receive") +
              (is_lost ? ": nobody receives the rest" : ": nobody sends the rest")};
}

// By tag; all under kAnyTag if one of the receives takes any.
std::map<uint32_t, TagCount> tags_between(const RecordedWork& work, uint32_t from, uint32_t to, bool by_tag) {
  std::map<uint32_t, TagCount> out;
  TraceOperation op;
  for (RecordedStream sender(work, from); sender.next(op);) {
    if (op.kind != OperationKind::kSend || op.peer != to) continue;
    TagCount& count = out[by_tag ? op.tag : kAnyTag];
    ++count.sends;
    count.last_send = op.line;
  }
  for (RecordedStream receiver(work, to); receiver.next(op);) {
    if (op.kind != OperationKind::kReceive || op.peer != from) continue;
    TagCount& count = out[by_tag ? op.tag : kAnyTag];
    ++count.receives;
    count.last_receive = op.line;
  }
  return out;
}

void explain_pair(const RecordedWork& work, const std::string& file, uint32_t from, uint32_t to, bool by_tag,
                  Errors& errors) {
  size_t named = 0;
  for (const auto& [tag, count] : tags_between(work, from, to, by_tag)) {
    if (count.sends == count.receives || named++ == kTagsExplained) continue;
    errors.push_back(error_of_pair(file, from, to, by_tag ? " with tag " + std::to_string(tag) : "", count));
  }
}

}  // namespace

void MessageCounts::send(uint32_t from, uint32_t to, uint32_t tag, uint64_t bytes) {
  Count& count = counts_[uint64_t{from} << 32 | to];
  ++count.sends;
  count.bytes += bytes;
  count.sent_tags += hash_of_tag(tag);
}

void MessageCounts::receive(uint32_t to, uint32_t from, uint32_t tag) {
  if (from == kAnyRank) {
    ++any_source_receives_[to];
    return;
  }
  Count& count = counts_[uint64_t{from} << 32 | to];
  if (tag == kAnyTag) {
    ++count.any_tag_receives;
    return;
  }
  ++count.receives;
  count.received_tags += hash_of_tag(tag);
}

std::vector<TracePair> MessageCounts::pairs() const {
  std::vector<TracePair> out;
  for (const auto& [key, count] : counts_) {
    const auto from = static_cast<uint32_t>(key >> 32);
    const auto to = static_cast<uint32_t>(key);
    if (count.sends > 0 && from != to) out.push_back({from, to, count.sends, count.bytes});
  }
  std::ranges::sort(out, {}, [](const TracePair& it) { return std::pair(it.from, it.to); });
  return out;
}

std::vector<MessageCounts::Key> MessageCounts::by_receiver() const {
  std::vector<Key> out;
  for (const auto& [key, count] : counts_) out.emplace_back(key << 32 | key >> 32, &count);
  std::ranges::sort(out);
  return out;
}

void MessageCounts::check(const RecordedWork& work, const std::string& file, Errors& errors) const {
  struct Sum {
    uint64_t sends = 0;
    uint64_t receives = 0;
  };
  std::map<uint32_t, Sum> open;  // ranks that receive from whomever
  for (const auto& [rank, receives] : any_source_receives_) open[rank].receives = receives;
  size_t explained = 0;
  for (const auto& [key, count] : by_receiver()) {
    const auto to = static_cast<uint32_t>(key >> 32);
    const auto from = static_cast<uint32_t>(key);
    const uint64_t receives = count->receives + count->any_tag_receives;
    const auto any = open.find(to);
    if (any != open.end()) {
      any->second.sends += count->sends;
      any->second.receives += receives;
    }
    const bool is_good = any == open.end() ? count->agrees() : receives <= count->sends;
    if (is_good || explained++ >= kPairsExplained) continue;
    explain_pair(work, file, from, to, any == open.end() && count->any_tag_receives == 0, errors);
  }
  for (const auto& [rank, sum] : open) {
    if (sum.sends == sum.receives) continue;
    errors.push_back({file, "", 0, 0,
                      "rank " + std::to_string(rank) + " is sent " + counted_of_trace(sum.sends, "message") +
                          ", and has " + counted_of_trace(sum.receives, "receive")});
  }
}

}  // namespace softspine::control
