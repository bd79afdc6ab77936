// SPDX-License-Identifier: Apache-2.0
// Operations of one rank that are not done, and which of them may go on.
//
//   fits(op)       there is a place for it, and a note for each of its needs that is not done; what it needs of other
//                  lines has been opened
//   open(op)       the next of its line: 0, 1, 2 …; its needs are noted at the operations that they name
//   free           all that it needs is done
//   start(place)   it has started: see(place) of each operation that is free by that, since it needs no more of it
//   close(place)   it is done: likewise
//   ready          places whose turn has come, the smallest number first: put_ready(), take_ready()
//
// A need that is not open is done. An operation that is `after_all` counts those of its line before it that are open.
// Memory: a line's `places` operations and kNotes notes a place, allocated at the start. An operation that does not fit
// waits until others of its line are done.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "control/traffic/graph.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

struct OpenOperation {
  // kHeld: it needs others. kFree: its turn comes. kStepping: a send whose step takes its time. kStepped: it waits for
  // the one before it on its connection, clear-to-send or room. kPosting: it waits for none of these. kUnderWay: with
  // the proxy, in the fabric, or taking its time.
  enum class State : uint8_t { kHeld, kFree, kStepping, kStepped, kPosting, kUnderWay };

  control::OperationKind kind = control::OperationKind::kCompute;
  State state = State::kHeld;
  bool is_after_all = false;
  bool has_started = false;
  uint64_t number = 0;
  uint64_t bytes = 0;
  dataplane::Duration time;
  dataplane::Instant started;
  dataplane::Instant posted;  // a send: asked of the proxy
  uint64_t message = 0;       // its number on its connection
  uint32_t connection = 0;
  uint32_t queue_pair = 0;        // of its connection, by which a whole message is sent
  uint32_t parts = 0;             // of its message that are not complete
  uint32_t next_part = 0;         // to be posted
  uint32_t next = 0;              // in a list of its connection
  uint32_t needs = 0;             // not done
  uint32_t first_note = 0;        // of who needs it done
  uint32_t first_start_note = 0;  // of who needs it started
  uint32_t next_in_row = 0;
};

class OperationWindow {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kNotes = 4;

  explicit OperationWindow(uint32_t places) : OperationWindow(std::span(&places, 1)) {}
  // By line.
  explicit OperationWindow(std::span<const uint32_t> places_of_lines) {
    for (const uint32_t places : places_of_lines) {
      SOFTSPINE_CHECK(places > 0, places, lines_.size());
      lines_.push_back({.free_places = places, .free_notes = kNotes * places});
      places_.resize(places_.size() + places);
    }
    const uint32_t places = this->places();
    rows_.assign(std::bit_ceil(places), kNone);
    notes_.resize(size_t{kNotes} * places);
    ready_.reserve(places);
    waiting_for_all_.reserve(places);
    for (uint32_t i = 0; i < places; ++i) places_[i].next = i + 1 < places ? i + 1 : kNone;
    for (uint32_t i = 0; i < notes_.size(); ++i) notes_[i].next = i + 1 < notes_.size() ? i + 1 : kNone;
  }

  uint32_t size() const { return size_; }
  uint32_t places() const { return static_cast<uint32_t>(places_.size()); }
  OpenOperation& operator[](uint32_t place) { return places_[place]; }
  const OpenOperation& operator[](uint32_t place) const { return places_[place]; }

  bool fits(const control::Operation& op, std::span<const uint64_t> needs_started = {}) const {
    const Line& line = lines_[op.line];
    if (line.free_places == 0 || !std::ranges::all_of(op.needs, [this](uint64_t need) { return was_opened(need); }))
      return false;
    if (op.needs.size() + needs_started.size() <= line.free_notes) return true;
    const auto is_open = [this](uint64_t need) { return find(need) != kNone; };
    return std::ranges::count_if(op.needs, is_open) + std::ranges::count_if(needs_started, is_open) <= line.free_notes;
  }
  // It fits. Returns its place.
  uint32_t open(const control::Operation& op, std::span<const uint64_t> needs_started = {}) noexcept {
    const uint32_t place = free_place_;
    OpenOperation& it = places_[place];
    Line& line = lines_[op.line];
    free_place_ = it.next;
    it = {.kind = op.kind,
          .number = control::number_in(op.line, line.opened),
          .bytes = op.bytes,
          .time = op.time,
          .next = kNone,
          .first_note = kNone,
          .first_start_note = kNone};
    for (const uint64_t need : op.needs) {
      SOFTSPINE_CHECK(was_opened(need), need, it.number);
      if (const uint32_t of = find(need); of != kNone) note(places_[of].first_note, place);
    }
    for (const uint64_t need : needs_started) {
      const uint32_t of = find(need);
      if (of != kNone && !places_[of].has_started) note(places_[of].first_start_note, place);
    }
    if (op.after_all && line.open > 0) {
      it.is_after_all = true;
      it.needs += line.open;
      waiting_for_all_.push_back(place);
    }
    ++line.opened;
    ++line.open;
    --line.free_places;
    it.next_in_row = std::exchange(row_of(it.number), place);
    ++size_;
    return place;
  }
  template <typename See>
  void start(uint32_t place, See&& see) noexcept {
    places_[place].has_started = true;
    free_those(places_[place].first_start_note, see);
  }
  template <typename See>
  void close(uint32_t place, See&& see) noexcept {
    const uint64_t number = places_[place].number;
    leave_row(place);
    free_those(places_[place].first_note, see);
    places_[place].next = std::exchange(free_place_, place);
    --size_;
    Line& line = lines_[control::line_of(number)];
    --line.open;
    ++line.free_places;
    for (const uint32_t who : waiting_for_all_) {
      const bool is_behind =
          places_[who].number > number && control::line_of(places_[who].number) == control::line_of(number);
      if (is_behind && --places_[who].needs == 0) see(who);
    }
    std::erase_if(waiting_for_all_, [this](uint32_t who) { return places_[who].needs == 0; });
  }

  void put_ready(uint32_t place) noexcept {
    ready_.emplace_back(places_[place].number, place);
    std::ranges::push_heap(ready_, std::greater{});
  }
  bool has_ready() const { return !ready_.empty(); }
  uint32_t take_ready() noexcept {
    std::ranges::pop_heap(ready_, std::greater{});
    const uint32_t place = ready_.back().second;
    ready_.pop_back();
    return place;
  }

  // see(operation), in no order.
  template <typename See>
  void for_each(See&& see) const {
    for (uint32_t row : rows_) {
      for (; row != kNone; row = places_[row].next_in_row) see(places_[row]);
    }
  }
  // Its place; kNone: it is done, or not open yet.
  uint32_t find(uint64_t number) const {
    uint32_t place = rows_[number & (rows_.size() - 1)];
    while (place != kNone && places_[place].number != number) place = places_[place].next_in_row;
    return place;
  }

 private:
  struct Note {
    uint32_t who = kNone;
    uint32_t next = kNone;
  };
  struct Line {
    uint64_t opened = 0;
    uint32_t open = 0;
    uint32_t free_places = 0;
    uint32_t free_notes = 0;
  };

  bool was_opened(uint64_t number) const { return control::index_of(number) < lines_[control::line_of(number)].opened; }
  uint32_t& free_notes_of(uint32_t who) { return lines_[control::line_of(places_[who].number)].free_notes; }

  void note(uint32_t& first, uint32_t who) noexcept {
    const uint32_t n = free_note_;
    free_note_ = notes_[n].next;
    --free_notes_of(who);
    notes_[n] = {who, std::exchange(first, n)};
    ++places_[who].needs;
  }
  template <typename See>
  void free_those(uint32_t first, See&& see) noexcept {
    for (uint32_t n = first; n != kNone;) {
      const Note done = notes_[n];
      notes_[n].next = std::exchange(free_note_, n);
      ++free_notes_of(done.who);
      if (--places_[done.who].needs == 0) see(done.who);
      n = done.next;
    }
  }
  uint32_t& row_of(uint64_t number) { return rows_[number & (rows_.size() - 1)]; }
  void leave_row(uint32_t place) noexcept {
    uint32_t* at = &row_of(places_[place].number);
    while (*at != place) at = &places_[*at].next_in_row;
    *at = places_[place].next_in_row;
  }

  std::vector<OpenOperation> places_;
  std::vector<uint32_t> rows_;  // by number, modulo their count: a power of two
  std::vector<Note> notes_;
  std::vector<uint32_t> waiting_for_all_;
  std::vector<std::pair<uint64_t, uint32_t>> ready_;  // number, place
  std::vector<Line> lines_;
  uint32_t size_ = 0;
  uint32_t free_place_ = 0;
  uint32_t free_note_ = 0;
};

// A list of open operations, through their `next`.
struct OperationLine {
  uint32_t first = OperationWindow::kNone;
  uint32_t last = OperationWindow::kNone;

  bool empty() const { return first == OperationWindow::kNone; }
  void push(OperationWindow& window, uint32_t place) {
    window[place].next = OperationWindow::kNone;
    empty() ? first = place : window[last].next = place;
    last = place;
  }
  uint32_t pop(const OperationWindow& window) { return std::exchange(first, window[first].next); }
  // The one with that message's number. It is in the line, near the front: queue pairs hardly overtake each other.
  uint32_t find(const OperationWindow& window, uint64_t message) const {
    uint32_t place = first;
    while (window[place].message != message) place = window[place].next;
    return place;
  }
  void remove(OperationWindow& window, uint32_t place) {
    uint32_t before = OperationWindow::kNone;
    for (uint32_t at = first; at != place; at = window[at].next) before = at;
    (before == OperationWindow::kNone ? first : window[before].next) = window[place].next;
    if (last == place) last = before;
  }
};

}  // namespace softspine::testbeds
