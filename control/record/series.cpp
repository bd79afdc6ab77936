// SPDX-License-Identifier: Apache-2.0
#include "control/record/series.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

namespace softspine::control {

namespace {

using dataplane::kDropReasons;

const std::string kDrops = "drops";

bool fits(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool is_chosen(const std::string& name, const CounterPatterns& patterns) {
  return patterns.empty() || std::ranges::any_of(patterns, [name](const auto& each) { return fits(name, each); });
}

using Row = SeriesRow;
constexpr std::array kRowWords{"", "priority", "group", "queue"};

}  // namespace

// Cells have
//   begin(place, row, number, changed)    a row begins; false: it is left out
//   of(columns, part)                     its values; a null part has none
//   drops(counters), end()
// and count every column, so that a value is found by its place.

// Counts the columns of all rows.
struct Series::Places {
  size_t places = 0;
  static bool begin(size_t, Row, size_t, bool) { return false; }
  template <typename Part>
  static void of(const Columns<Part>&, const Part*) {}
  static void drops(const dataplane::DropCounters&) {}
  static void end() {}
  void skip(size_t columns) { places += columns; }
};

// A row is begun by its first cell: most have none.
class Series::Finder {
 public:
  explicit Finder(Series& series) : series_(series) { series.rows_.clear(); }

  size_t cells() const { return cells_; }

  bool begin(size_t place, Row row, size_t number, bool changed) {
    row_ = {.place = static_cast<uint32_t>(place), .of = row, .number = static_cast<uint8_t>(number), .cells = 0};
    first_ = cells_;
    return changed;
  }
  template <typename Part>
  void of(const Columns<Part>& columns, const Part* part) {
    if (part == nullptr) return skip(columns.size());
    auto column = columns.all.begin();
    uint32_t number = columns.first;
    for (const Run<Part>& run : columns.runs) {
      if (run.holder == nullptr) {
        const auto value = column->read(*part);
        if (value && *value != series_.seen_[place_]) add(number, place_, *value, column->nature);
      } else if (const std::byte* const start = run.holder(*part); start != nullptr) {
        const std::span<const size_t> offsets = run.offsets;
        const uint64_t* const seen = &series_.seen_[place_];
        for (size_t i = 0; i < offsets.size(); ++i) {
          const uint64_t value = MemberRead<Part>::at(start + offsets[i]);
          if (value != seen[i]) add(number + static_cast<uint32_t>(i), place_ + i, value, column[i].nature);
        }
      }
      column += static_cast<ptrdiff_t>(run.offsets.size());
      number += static_cast<uint32_t>(run.offsets.size());
      place_ += run.offsets.size();
    }
  }
  void drops(const dataplane::DropCounters& drops) {
    const auto seen = series_.seen_.begin() + static_cast<ptrdiff_t>(place_);
    if (std::equal(drops.begin(), drops.end(), seen)) return skip(drops.size());
    for (size_t i = 0; i < drops.size(); ++i) {
      const size_t place = place_++;
      if (drops[i] == series_.seen_[place]) continue;
      add(series_.first_drop_ + static_cast<uint32_t>(i), place, drops[i], Nature::kGrows);
    }
  }
  void end() {
    if (cells_ == first_) return;
    row_.cells = static_cast<uint32_t>(cells_ - first_);
    series_.rows_.push_back(row_);
  }
  void skip(size_t columns) { place_ += columns; }

 private:
  void add(uint32_t column, size_t place, uint64_t value, Nature nature) {
    if (cells_ == series_.cells_.size()) series_.cells_.resize(2 * cells_ + series_.columns_.size());
    uint64_t& seen = series_.seen_[place];
    const uint64_t shown = nature == Nature::kGrows ? value - seen : value;
    series_.handed_[place] = nature == Nature::kGrows ? series_.handed_[place] + shown : shown;
    seen = value;
    series_.cells_[cells_++] = {column, shown};
  }

  Series& series_;
  ChangedRow row_{};
  size_t first_ = 0;  // of the row's cells
  size_t cells_ = 0;
  size_t place_ = 0;
};

class Series::Checker {
 public:
  explicit Checker(const Series& series) : series_(series) {}

  bool begin(size_t place, Row row, size_t number, bool) {
    where_ = &series_.places_[place];
    row_ = row;
    number_ = number;
    return true;
  }
  template <typename Part>
  void of(const Columns<Part>& columns, const Part* part) {
    size_t number = columns.first;
    for (const Column<Part>& column : columns.all) {
      compare(part == nullptr ? 0 : column.read(*part).value_or(0), number++);
    }
  }
  void drops(const dataplane::DropCounters& drops) {
    for (size_t i = 0; i < drops.size(); ++i) compare(drops[i], series_.first_drop_ + i);
  }
  void end() {}
  void skip(size_t columns) { place_ += columns; }

  std::vector<std::string> wrong;

 private:
  void compare(uint64_t value, size_t number) {
    const uint64_t handed = series_.handed_[place_++];
    if (handed == value) return;
    const SeriesColumn& column = series_.columns_[number];
    const std::string_view word = kRowWords[static_cast<size_t>(row_)];
    wrong.push_back(fmt::format("counters over time, {}:{}, {}{}{}: {} {} is not {}, as at the end",
                                where_->is_pool ? "pool" : "port", where_->name,
                                word.empty() ? "" : fmt::format("{} {}, ", word, number_),
                                column.section == SeriesSection::kDrops ? "drops " : "", column.name,
                                column.nature == Nature::kGrows ? "the sum" : "the last value", handed, value));
  }

  const Series& series_;
  const SeriesPlace* where_ = nullptr;
  Row row_ = Row::kWhole;
  size_t number_ = 0;
  size_t place_ = 0;
};

template <typename Part, typename Table>
Series::Columns<Part> Series::chosen(const Table& table, const CounterPatterns& patterns, SeriesSection section) {
  Columns<Part> out;
  out.first = static_cast<uint32_t>(columns_.size());
  for (const auto& counter : table) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    std::string name{counter.facts.row_name()};
    if (read == nullptr || name.empty() || !is_chosen(name, patterns)) continue;
    const auto* member = read->template target<MemberRead<Part>>();
    const auto holder = member == nullptr ? nullptr : member->holder;
    if (holder == nullptr || out.runs.empty() || out.runs.back().holder != holder) out.runs.push_back({holder, {}});
    out.runs.back().offsets.push_back(member == nullptr ? 0 : member->offset);
    out.all.push_back({.read = *read, .nature = counter.facts.nature});
    columns_.push_back({section, std::move(name), counter.facts.nature});
  }
  return out;
}

Series::Series(const FabricSnapshot& shape, const CounterPatterns& patterns)
    : ports_(chosen<PortSnapshot>(switch_counters(), patterns, SeriesSection::kPort)),
      credits_(chosen<CreditSnapshot>(switch_counters(), patterns, SeriesSection::kPort)),
      priorities_(chosen<PauseSnapshot>(switch_counters(), patterns, SeriesSection::kPriority)),
      credit_priorities_(chosen<CreditOf>(switch_counters(), patterns, SeriesSection::kPriority)),
      groups_(chosen<PriorityGroupSnapshot>(switch_counters(), patterns, SeriesSection::kGroup)),
      queues_(chosen<QueueOf>(switch_counters(), patterns, SeriesSection::kQueue)),
      pools_(chosen<PoolSnapshot>(switch_counters(), patterns, SeriesSection::kPool)),
      host_priorities_(chosen<HostPauseSnapshot>(host_counters(), patterns, SeriesSection::kHostPriority)),
      has_drops_(is_chosen(kDrops, patterns)),
      first_drop_(static_cast<uint32_t>(columns_.size())) {
  for (int i = 0; i < kDropReasons && has_drops_; ++i) {
    columns_.push_back({SeriesSection::kDrops, std::string{dataplane::name_of(static_cast<dataplane::DropReason>(i))}});
  }
  const auto add_place = [this](const std::string& node, const std::string& port, bool is_pool = false) {
    places_.push_back({is_pool, node + ":" + port});
  };
  for (const SwitchSnapshot& node : shape.switches) {
    for (const PortSnapshot& port : node.ports) add_place(node.name, port.name);
    for (const PoolSnapshot& pool : node.pools) add_place(node.name, pool.name, true);
    pool_counts_.push_back(node.pools.size());
  }
  for (const HostSnapshot& host : shape.hosts) {
    for (const HostPortSnapshot& port : host.ports) add_place(host.name, port.name);
  }
  for (const EdgeSnapshot& edge : shape.edges) add_place(edge.name, edge.port);
  seen_.resize(size_of(shape));
  handed_.resize(seen_.size());
}

size_t Series::size_of(const FabricSnapshot& shape) const {
  Places counter;
  walk(shape, nullptr, counter);
  return counter.places;
}

// Calls see(i) for each row of a port that may have changed.
template <typename Cells, typename See>
void Series::walk_rows(size_t place, SeriesRow row, uint8_t changed, size_t columns, Cells& cells, See&& see) {
  size_t next = 0;
  for (uint32_t left = changed; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    cells.skip((i - std::exchange(next, i + 1)) * columns);
    if (!cells.begin(place, row, i, true)) {
      cells.skip(columns);
      continue;
    }
    see(i);
    cells.end();
  }
  cells.skip((kRowNumbers - next) * columns);
}

template <typename Cells>
void Series::walk_port(const PortSnapshot& port, size_t place, PortChanges changes, Cells& cells) const {
  const size_t drops = has_drops_ ? kDropReasons : 0;
  if (cells.begin(place, Row::kWhole, 0, changes.port)) {
    cells.of(ports_, &port);
    cells.of(credits_, port.credit ? &*port.credit : nullptr);
    if (has_drops_) cells.drops(port.counters.drops);
    cells.end();
  } else {
    cells.skip(ports_.size() + credits_.size() + drops);
  }
  const size_t of_priority = priorities_.size() + credit_priorities_.size();
  walk_rows(place, Row::kPriority, changes.priorities, of_priority, cells, [&](size_t i) {
    cells.of(priorities_, &port.pauses[i]);
    if (!port.credit) return cells.of(credit_priorities_, static_cast<const CreditOf*>(nullptr));
    const CreditOf credit{*port.credit, i};
    cells.of(credit_priorities_, &credit);
  });
  walk_rows(place, Row::kGroup, changes.groups, groups_.size(), cells,
            [&](size_t i) { cells.of(groups_, port.buffers ? &port.buffers->groups[i] : nullptr); });
  walk_rows(place, Row::kQueue, changes.queues, queues_.size(), cells, [&](size_t i) {
    const QueueOf queue{port, i};
    cells.of(queues_, &queue);
  });
}

template <typename Cells>
void Series::walk(const FabricSnapshot& snapshot, const std::vector<PortChanges>* changes, Cells& cells) const {
  size_t place = 0;
  size_t number = 0;
  size_t switches = 0;
  const auto next_changes = [&] {
    const size_t port = number++;
    return changes != nullptr && port < changes->size() ? (*changes)[port] : PortChanges{};
  };
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) walk_port(port, place++, next_changes(), cells);
    for (size_t i = 0; i < pool_counts_[switches]; ++i) {
      if (cells.begin(place++, Row::kWhole, 0, true)) {
        cells.of(pools_, i < node.pools.size() ? &node.pools[i] : nullptr);
        cells.end();
      } else {
        cells.skip(pools_.size());
      }
    }
    ++switches;
  }
  if (host_priorities_.empty()) return;
  const auto walk_pauses = [&](const HostPauses& pauses) {
    walk_rows(place++, Row::kPriority, next_changes().priorities, host_priorities_.size(), cells,
              [&](size_t i) { cells.of(host_priorities_, &pauses[i]); });
  };
  for (const HostSnapshot& host : snapshot.hosts) {
    for (const HostPortSnapshot& port : host.ports) walk_pauses(port.pause);
  }
  for (const EdgeSnapshot& edge : snapshot.edges) walk_pauses(edge.pause);
}

SeriesSample Series::sample(const FabricSnapshot& now, const std::vector<PortChanges>& changes) {
  Finder finder{*this};
  walk(now, &changes, finder);
  return {.at = now.instant, .rows = rows_, .cells = std::span{cells_}.first(finder.cells())};
}

SeriesShape Series::shape(const std::string& testbed, dataplane::Duration interval) const {
  return {.testbed = testbed, .interval = interval, .columns = columns_, .places = places_};
}

Series::Needs Series::needs() const {
  return {.ports = has_drops_ || !ports_.empty() || !credits_.empty(),
          .priorities = !priorities_.empty() || !credit_priorities_.empty(),
          .groups = !groups_.empty(),
          .queues = !queues_.empty(),
          .pools = !pools_.empty(),
          .hosts = !host_priorities_.empty()};
}

std::vector<std::string> Series::check(const FabricSnapshot& end) const {
  Checker checker{*this};
  walk(end, nullptr, checker);
  return std::move(checker.wrong);
}

std::vector<std::string> series_names() {
  std::vector<std::string> out;
  const auto add = [&out](std::string name) {
    if (!name.empty() && std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  };
  for (const SwitchCounter& counter : switch_counters()) {
    if (!std::holds_alternative<Read<SwitchSnapshot>>(counter.read)) add(std::string{counter.facts.row_name()});
  }
  for (const HostCounter& counter : host_counters()) {
    if (std::holds_alternative<Read<HostPauseSnapshot>>(counter.read)) add(std::string{counter.facts.row_name()});
  }
  add(kDrops);
  return out;
}

bool names_a_series(const std::string& pattern) {
  return std::ranges::any_of(series_names(), [&](const std::string& name) { return fits(name, pattern); });
}

}  // namespace softspine::control
