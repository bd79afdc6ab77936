// SPDX-License-Identifier: Apache-2.0
#include "control/record/trace_packets.hpp"

#include <array>

namespace softspine::control {

using dataplane::Instant;

namespace {

constexpr std::array<std::string_view, 6> kCategoryWords{"paused", "pauses", "event", "drops", "marks", "step"};
constexpr std::array<std::string_view, 12> kKeyWords{"duration_ps", "packets", "reason", "priorities",
                                                     "group",       "what",    "queue",  "peer",
                                                     "channel",     "message", "bytes",  "alone_ps"};
static_assert(kCategoryWords.size() == static_cast<size_t>(TraceCategory::kStep) + 1);
static_assert(kKeyWords.size() == static_cast<size_t>(TraceKey::kAlonePs) + 1);

// The published numbers of the fields that are written.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kTimestamp = 8;
constexpr uint32_t kSequence = 10;
constexpr uint32_t kTrackEvent = 11;
constexpr uint32_t kInternedData = 12;
constexpr uint32_t kSequenceFlags = 13;
constexpr uint32_t kTrackDescriptor = 60;
constexpr uint32_t kFirstOnSequence = 87;
}  // namespace packet
namespace interned {
constexpr uint32_t kCategories = 1;
constexpr uint32_t kEventNames = 2;
constexpr uint32_t kArgumentNames = 3;
constexpr uint32_t kIid = 1;
constexpr uint32_t kName = 2;
}  // namespace interned
namespace descriptor {
constexpr uint32_t kUuid = 1;
constexpr uint32_t kName = 2;
constexpr uint32_t kParent = 5;
constexpr uint32_t kCounter = 8;
constexpr uint32_t kChildOrdering = 11;
constexpr uint32_t kCounterUnit = 3;
}  // namespace descriptor
namespace event {
constexpr uint32_t kCategoryIids = 3;
constexpr uint32_t kArguments = 4;
constexpr uint32_t kType = 9;
constexpr uint32_t kNameIid = 10;
constexpr uint32_t kTrack = 11;
constexpr uint32_t kCounterValue = 30;
constexpr uint32_t kFlows = 47;
constexpr uint32_t kArgumentNameIid = 1;
constexpr uint32_t kArgumentNumber = 3;
constexpr uint32_t kArgumentText = 6;
}  // namespace event

constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kNeedsState = 2;
constexpr uint64_t kByName = 1;  // the order of children
constexpr uint64_t kSizeInBytes = 3;
constexpr uint64_t kSliceBegin = 1;
constexpr uint64_t kSliceEnd = 2;
constexpr uint64_t kInstantType = 3;
constexpr uint64_t kCounterType = 4;
constexpr uint64_t kOnlySequence = 1;
constexpr int64_t kPsPerNanosecond = 1'000;

// Number 0 stands for none.
template <typename Word>
uint64_t iid_of(Word word) {
  return static_cast<uint64_t>(word) + 1;
}

void add_word(uint32_t field, uint64_t iid, std::string_view word, ProtoText& out) {
  ProtoText entry;
  entry.number(interned::kIid, iid);
  entry.text(interned::kName, word);
  out.message(field, entry);
}

}  // namespace

void TracePackets::begin() {
  ProtoText words;
  for (size_t i = 0; i < kCategoryWords.size(); ++i)
    add_word(interned::kCategories, iid_of(i), kCategoryWords[i], words);
  for (size_t i = 0; i < kKeyWords.size(); ++i) add_word(interned::kArgumentNames, iid_of(i), kKeyWords[i], words);
  packet_.clear();
  packet_.number(packet::kSequence, kOnlySequence);
  packet_.message(packet::kInternedData, words);
  packet_.number(packet::kSequenceFlags, kStateCleared);
  packet_.number(packet::kFirstOnSequence, 1);
  put_packet();
}

void TracePackets::track(uint64_t uuid, uint64_t parent, std::string_view name, TrackKind kind) {
  part_.clear();
  part_.number(descriptor::kUuid, uuid);
  part_.text(descriptor::kName, name);
  if (parent != 0) part_.number(descriptor::kParent, parent);
  if (kind == TrackKind::kSorted) part_.number(descriptor::kChildOrdering, kByName);
  if (kind == TrackKind::kBytes) {
    event_.clear();
    event_.number(descriptor::kCounterUnit, kSizeInBytes);
    part_.message(descriptor::kCounter, event_);
  }
  packet_.clear();
  packet_.number(packet::kSequence, kOnlySequence);
  packet_.message(packet::kTrackDescriptor, part_);
  put_packet();
}

uint64_t TracePackets::name(const std::string& text) {
  const auto [at, is_new] = names_.try_emplace(text, names_.size() + 1);
  if (is_new) add_word(interned::kEventNames, at->second, text, fresh_);
  return at->second;
}

void TracePackets::slice(const TraceHead& head, Instant from, Instant to, TraceArguments arguments) {
  put_head(head, kSliceBegin, arguments);
  put_event(from);
  event_.clear();
  event_.number(event::kType, kSliceEnd);
  event_.number(event::kTrack, head.track);
  put_event(to);
}

void TracePackets::instant(const TraceHead& head, Instant at, TraceArguments arguments) {
  put_head(head, kInstantType, arguments);
  put_event(at);
}

void TracePackets::counter(uint64_t track, Instant at, uint64_t value) {
  event_.clear();
  event_.number(event::kType, kCounterType);
  event_.number(event::kTrack, track);
  event_.number(event::kCounterValue, value);
  put_event(at);
}

void TracePackets::put_head(const TraceHead& head, uint64_t type, TraceArguments arguments) {
  event_.clear();
  event_.number(event::kType, type);
  event_.number(event::kTrack, head.track);
  event_.number(event::kCategoryIids, iid_of(head.category));
  event_.number(event::kNameIid, head.name);
  if (head.flow != 0) event_.fixed64(event::kFlows, head.flow);
  for (const TraceArgument& each : arguments) {
    part_.clear();
    part_.number(event::kArgumentNameIid, iid_of(each.key));
    each.text.empty() ? part_.number(event::kArgumentNumber, each.number) : part_.text(event::kArgumentText, each.text);
    event_.message(event::kArguments, part_);
  }
}

void TracePackets::put_event(Instant at) {
  packet_.clear();
  packet_.number(packet::kTimestamp, static_cast<uint64_t>(at.count_ps() / kPsPerNanosecond));
  packet_.number(packet::kSequence, kOnlySequence);
  packet_.message(packet::kTrackEvent, event_);
  if (!fresh_.empty()) packet_.message(packet::kInternedData, fresh_);
  fresh_.clear();
  packet_.number(packet::kSequenceFlags, kNeedsState);
  put_packet();
}

void TracePackets::put_packet() {
  event_.clear();
  event_.message(trace::kPacket, packet_);
  out_ += event_.bytes();
}

}  // namespace softspine::control
