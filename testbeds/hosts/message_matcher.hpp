// SPDX-License-Identifier: Apache-2.0
// MPI's matching at one rank: which message a receive takes.
//
//   post     a receive: the oldest message that fits and that no other has taken; if there is none it waits
//   arrive   a message: the receive that has waited longest and that it fits; if there is none it is kept
//   fits     source and tag are equal, or the receive takes any
//
// Messages are as old as their arrival, receives as their posting. So messages of one source are taken in their order.
// Both are found by source and tag, in lines that keep their age; a receive that takes any looks at all messages.
// Memory: `places` receives, allocated at the start; messages as many as come before their receives.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/traces/trace_work.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

class MessageMatcher {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Message {
    uint32_t source = 0;
    uint32_t tag = 0;
    uint64_t bytes = 0;
  };

  explicit MessageMatcher(uint32_t places)
      : mask_(std::bit_ceil(places) - 1), receives_(places), receive_lines_(mask_ + 1), message_lines_(mask_ + 1) {}

  // `place`: of the receive, of which no other waits. Source and tag may be any.
  std::optional<Message> post(uint32_t place, uint32_t source, uint32_t tag) noexcept {
    const uint32_t found = find_message(source, tag);
    if (found != kNone) return take_message(found);
    receives_[place] = {source, tag, posted_++, kNone};
    push(receive_lines_[line_of(source, tag)], receives_, place);
    wildcards_ += is_any(source, tag) ? 1 : 0;
    return std::nullopt;
  }
  // Its receive's place; kNone: it is kept.
  uint32_t arrive(const Message& message) noexcept {
    const uint32_t place = find_receive(message);
    if (place == kNone) {
      keep(message);
      return kNone;
    }
    const Receive& it = receives_[place];
    wildcards_ -= is_any(it.source, it.tag) ? 1 : 0;
    remove(receive_lines_[line_of(it.source, it.tag)], receives_, place);
    return place;
  }
  // Messages that are kept.
  uint64_t kept() const { return kept_; }

 private:
  struct Receive {
    uint32_t source = 0;
    uint32_t tag = 0;
    uint64_t number = 0;  // of its posting
    uint32_t next = kNone;
  };
  struct Kept {
    Message message;
    uint32_t next = kNone;   // in its line
    uint32_t older = kNone;  // of all
    uint32_t younger = kNone;
  };
  struct Line {
    uint32_t first = kNone;
    uint32_t last = kNone;
  };

  static bool is_any(uint32_t source, uint32_t tag) { return source == control::kAnyRank || tag == control::kAnyTag; }
  size_t line_of(uint32_t source, uint32_t tag) const {
    const uint64_t mixed = (uint64_t{source} << 32 | tag) * 0x9e3779b97f4a7c15ULL;
    return static_cast<size_t>(mixed >> 32) & mask_;
  }
  template <typename Items>
  static void push(Line& line, Items& items, uint32_t at) noexcept {
    items[at].next = kNone;
    (line.first == kNone ? line.first : items[line.last].next) = at;
    line.last = at;
  }
  template <typename Items>
  static void remove(Line& line, Items& items, uint32_t at) noexcept {
    uint32_t before = kNone;
    for (uint32_t i = line.first; i != at; i = items[i].next) before = i;
    (before == kNone ? line.first : items[before].next) = items[at].next;
    if (line.last == at) line.last = before;
  }

  uint32_t first_receive(uint32_t source, uint32_t tag) const noexcept {
    uint32_t at = receive_lines_[line_of(source, tag)].first;
    while (at != kNone && (receives_[at].source != source || receives_[at].tag != tag)) at = receives_[at].next;
    return at;
  }
  uint32_t find_receive(const Message& message) const noexcept {
    uint32_t best = first_receive(message.source, message.tag);
    if (wildcards_ == 0) return best;
    const uint32_t others[]{first_receive(control::kAnyRank, message.tag),
                            first_receive(message.source, control::kAnyTag),
                            first_receive(control::kAnyRank, control::kAnyTag)};
    for (const uint32_t each : others) {
      if (each != kNone && (best == kNone || receives_[each].number < receives_[best].number)) best = each;
    }
    return best;
  }
  uint32_t find_message(uint32_t source, uint32_t tag) const noexcept {
    const auto fits = [&](const Message& it) {
      return (source == control::kAnyRank || it.source == source) && (tag == control::kAnyTag || it.tag == tag);
    };
    const bool any = is_any(source, tag);
    uint32_t at = any ? oldest_ : message_lines_[line_of(source, tag)].first;
    while (at != kNone && !fits(messages_[at].message)) at = any ? messages_[at].younger : messages_[at].next;
    return at;
  }

  void keep(const Message& message) noexcept {
    uint32_t at = free_;
    if (at == kNone) {
      at = static_cast<uint32_t>(messages_.size());
      messages_.emplace_back();
    } else {
      free_ = messages_[at].next;
    }
    messages_[at] = {.message = message, .older = youngest_};
    (youngest_ == kNone ? oldest_ : messages_[youngest_].younger) = at;
    youngest_ = at;
    push(message_lines_[line_of(message.source, message.tag)], messages_, at);
    ++kept_;
  }
  Message take_message(uint32_t at) noexcept {
    Kept& it = messages_[at];
    remove(message_lines_[line_of(it.message.source, it.message.tag)], messages_, at);
    (it.older == kNone ? oldest_ : messages_[it.older].younger) = it.younger;
    (it.younger == kNone ? youngest_ : messages_[it.younger].older) = it.older;
    it.next = free_;
    free_ = at;
    --kept_;
    return it.message;
  }

  size_t mask_;
  std::vector<Receive> receives_;  // by place
  std::vector<Line> receive_lines_;
  std::vector<Line> message_lines_;
  std::vector<Kept> messages_;
  uint64_t posted_ = 0;
  uint64_t wildcards_ = 0;  // receives that wait and take any
  uint64_t kept_ = 0;
  uint32_t oldest_ = kNone;
  uint32_t youngest_ = kNone;
  uint32_t free_ = kNone;
};

}  // namespace softspine::testbeds
