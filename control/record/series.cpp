// SPDX-License-Identifier: Apache-2.0
#include "control/record/series.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

using dataplane::kDropReasons;
using dataplane::kPriorities;

const std::string kDrops = "drops";

bool fits(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool is_chosen(const std::string& name, const CounterPatterns& patterns) {
  return patterns.empty() || std::ranges::any_of(patterns, [name](const auto& each) { return fits(name, each); });
}

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

const LineKey& drop_key(size_t reason) {
  static const std::vector<LineKey> all = [] {
    std::vector<LineKey> out;
    for (int i = 0; i < kDropReasons; ++i) {
      out.emplace_back("\"" + std::string{dataplane::name_of(static_cast<dataplane::DropReason>(i))} + "\":");
    }
    return out;
  }();
  return all[reason];
}

using Row = SeriesRow;
constexpr std::array kRowWords{"", "priority", "group", "queue"};
constexpr size_t kMostNumbered = kPriorities;
static_assert(kPriorities == dataplane::kQueues);

// ,"queue":3
const LineKey& numbered(Row row, size_t number) {
  static const std::vector<LineKey> all = [] {
    std::vector<LineKey> out;
    for (const std::string_view word : kRowWords) {
      for (size_t i = 0; i < kMostNumbered; ++i) out.emplace_back(fmt::format(",\"{}\":{}", word, i));
    }
    return out;
  }();
  return all[static_cast<size_t>(row) * kMostNumbered + number];
}

}  // namespace

// Cells have
//   begin(where, row, number, changed)    a row begins; false: it is left out
//   of(columns, part)                     its values; a null part has none
//   drops(counters), end()
// and count every column, so that a value is found by its place.

// Counts the columns of all rows.
struct Series::Places {
  size_t places = 0;
  static bool begin(std::string_view, Row, size_t, bool) { return false; }
  template <typename Part>
  static void of(const Columns<Part>&, const Part*) {}
  static void drops(const dataplane::DropCounters&) {}
  static void end() {}
  void skip(size_t columns) { places += columns; }
};

// A line is put together in line_, and begun by its first value: most rows have none.
class Series::Writer {
 public:
  Writer(Series& series, std::string& out, dataplane::Instant now)
      : series_(series),
        line_(series.line_),
        out_(out),
        before_("{\"t_ps\":" + std::to_string(now.count_ps()) + ",\"") {}

  bool begin(std::string_view where, Row row, size_t number, bool changed) {
    where_ = where;
    row_ = row;
    number_ = number;
    return changed;
  }
  template <typename Part>
  void of(const Columns<Part>& columns, const Part* part) {
    if (part == nullptr) return skip(columns.size());
    auto column = columns.all.begin();
    for (const Run<Part>& run : columns.runs) {
      if (run.holder == nullptr) {
        const auto value = column->read(*part);
        if (value && *value != series_.seen_[place_]) add_value(column->key, place_, *value, column->nature);
      } else if (const std::byte* const start = run.holder(*part); start != nullptr) {
        const std::span<const size_t> offsets = run.offsets;
        const uint64_t* const seen = &series_.seen_[place_];
        for (size_t i = 0; i < offsets.size(); ++i) {
          const uint64_t value = MemberRead<Part>::at(start + offsets[i]);
          if (value != seen[i]) add_value(column[i].key, place_ + i, value, column[i].nature);
        }
      }
      column += static_cast<ptrdiff_t>(run.offsets.size());
      place_ += run.offsets.size();
    }
  }
  void drops(const dataplane::DropCounters& drops) {
    const auto seen = series_.seen_.begin() + static_cast<ptrdiff_t>(place_);
    if (std::equal(drops.begin(), drops.end(), seen)) return skip(drops.size());
    std::string_view opening = ",\"drops\":{";
    for (size_t i = 0; i < drops.size(); ++i) {
      const size_t place = place_++;
      if (drops[i] == series_.seen_[place]) continue;
      if (line_.is_empty()) open();
      line_.add(std::exchange(opening, ","));
      add_value(drop_key(i), place, drops[i], Nature::kGrows);
    }
    line_.add("}");
  }
  void end() {
    if (line_.is_empty()) return;
    line_.add("}\n");
    line_.flush(out_);
    ++series_.lines_;
  }
  void skip(size_t columns) { place_ += columns; }

 private:
  void open() {
    line_.add(before_);
    line_.add(where_);
    if (row_ != Row::kWhole) line_.add(numbered(row_, number_));
  }
  void add_value(const LineKey& key, size_t place, uint64_t value, Nature nature) {
    if (line_.is_empty()) open();
    uint64_t& seen = series_.seen_[place];
    const uint64_t shown = nature == Nature::kGrows ? value - seen : value;
    series_.written_[place] = nature == Nature::kGrows ? series_.written_[place] + shown : shown;
    seen = value;
    line_.add(key);
    line_.add(shown);
  }

  Series& series_;
  LineText& line_;
  std::string& out_;
  LineKey before_;
  std::string_view where_;  // of the row
  Row row_ = Row::kWhole;
  size_t number_ = 0;
  size_t place_ = 0;
};

class Series::Checker {
 public:
  explicit Checker(const Series& series) : series_(series) {}

  bool begin(std::string_view where, Row row, size_t number, bool) {
    where_ = where;
    row_ = row;
    number_ = number;
    return true;
  }
  template <typename Part>
  void of(const Columns<Part>& columns, const Part* part) {
    for (const Column<Part>& column : columns.all) {
      const uint64_t value = part == nullptr ? 0 : column.read(*part).value_or(0);
      compare(value, "", column.key.text().substr(1), column.nature);
    }
  }
  void drops(const dataplane::DropCounters& drops) {
    for (size_t i = 0; i < drops.size(); ++i) compare(drops[i], "drops ", drop_key(i).text(), Nature::kGrows);
  }
  void end() {}
  void skip(size_t columns) { place_ += columns; }

  std::vector<std::string> wrong;

 private:
  void compare(uint64_t value, std::string_view section, std::string_view key, Nature nature) {
    const uint64_t written = series_.written_[place_++];
    if (written == value) return;
    const std::string_view word = kRowWords[static_cast<size_t>(row_)];
    std::string text = word.empty() ? fmt::format("{}, {}{}", where_, section, key)
                                    : fmt::format("{}, {} {}, {}{}", where_, word, number_, section, key);
    std::erase(text, '"');
    text.pop_back();  // :
    wrong.push_back(fmt::format("counters over time, {}: {} {} is not {}, as at the end", text,
                                nature == Nature::kGrows ? "the sum" : "the last value", written, value));
  }

  const Series& series_;
  std::string_view where_;
  Row row_ = Row::kWhole;
  size_t number_ = 0;
  size_t place_ = 0;
};

template <typename Part, typename Table>
Series::Columns<Part> Series::chosen(const Table& table, const CounterPatterns& patterns) const {
  Columns<Part> out;
  for (const auto& counter : table) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    const std::string name{counter.facts.row_name()};
    if (read == nullptr || name.empty() || !is_chosen(name, patterns)) continue;
    const auto* member = read->template target<MemberRead<Part>>();
    const auto holder = member == nullptr ? nullptr : member->holder;
    if (holder == nullptr || out.runs.empty() || out.runs.back().holder != holder) out.runs.push_back({holder, {}});
    out.runs.back().offsets.push_back(member == nullptr ? 0 : member->offset);
    out.all.push_back({.read = *read, .key = LineKey{",\"" + name + "\":"}, .nature = counter.facts.nature});
  }
  return out;
}

Series::Series(const FabricSnapshot& shape, const CounterPatterns& patterns)
    : ports_(chosen<PortSnapshot>(switch_counters(), patterns)),
      credits_(chosen<CreditSnapshot>(switch_counters(), patterns)),
      priorities_(chosen<PauseSnapshot>(switch_counters(), patterns)),
      credit_priorities_(chosen<CreditOf>(switch_counters(), patterns)),
      groups_(chosen<PriorityGroupSnapshot>(switch_counters(), patterns)),
      queues_(chosen<QueueOf>(switch_counters(), patterns)),
      pools_(chosen<PoolSnapshot>(switch_counters(), patterns)),
      host_priorities_(chosen<HostPauseSnapshot>(host_counters(), patterns)),
      has_drops_(is_chosen(kDrops, patterns)) {
  const auto add_name = [this](const std::string& node, const std::string& port, const char* kind) {
    names_.push_back(std::string{kind} + "\":" + quoted(node + ":" + port));
  };
  for (const SwitchSnapshot& node : shape.switches) {
    for (const PortSnapshot& port : node.ports) add_name(node.name, port.name, "port");
    for (const PoolSnapshot& pool : node.pools) add_name(node.name, pool.name, "pool");
    pool_counts_.push_back(node.pools.size());
  }
  for (const HostSnapshot& host : shape.hosts) {
    for (const HostPortSnapshot& port : host.ports) add_name(host.name, port.name, "port");
  }
  for (const EdgeSnapshot& edge : shape.edges) add_name(edge.name, edge.port, "port");
  seen_.resize(size_of(shape));
  written_.resize(seen_.size());
  line_ = LineText{longest_line()};
}

// More than any line has: the pieces of all lines.
size_t Series::longest_line() const {
  size_t sum = 100;  // time, row, brackets
  for (const std::string& name : names_) sum = std::max(sum, 100 + name.size());
  const auto add = [&sum](const auto& columns) {
    for (const auto& column : columns.all) sum += column.key.text().size() + LineText::kMostDigits;
  };
  add(ports_);
  add(credits_);
  add(priorities_);
  add(credit_priorities_);
  add(groups_);
  add(queues_);
  add(pools_);
  add(host_priorities_);
  for (size_t i = 0; i < kDropReasons; ++i) sum += drop_key(i).text().size() + LineText::kMostDigits + 1;
  return sum + kDrops.size();
}

size_t Series::size_of(const FabricSnapshot& shape) const {
  Places counter;
  walk(shape, nullptr, counter);
  return counter.places;
}

// Calls see(i) for each row of a port that may have changed.
template <typename Cells, typename See>
void Series::walk_rows(std::string_view name, SeriesRow row, uint8_t changed, size_t columns, Cells& cells, See&& see) {
  size_t next = 0;
  for (uint32_t left = changed; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    cells.skip((i - std::exchange(next, i + 1)) * columns);
    if (!cells.begin(name, row, i, true)) {
      cells.skip(columns);
      continue;
    }
    see(i);
    cells.end();
  }
  cells.skip((kMostNumbered - next) * columns);
}

template <typename Cells>
void Series::walk_port(const PortSnapshot& port, std::string_view name, PortChanges changes, Cells& cells) const {
  const size_t drops = has_drops_ ? kDropReasons : 0;
  if (cells.begin(name, Row::kWhole, 0, changes.port)) {
    cells.of(ports_, &port);
    cells.of(credits_, port.credit ? &*port.credit : nullptr);
    if (has_drops_) cells.drops(port.counters.drops);
    cells.end();
  } else {
    cells.skip(ports_.size() + credits_.size() + drops);
  }
  const size_t of_priority = priorities_.size() + credit_priorities_.size();
  walk_rows(name, Row::kPriority, changes.priorities, of_priority, cells, [&](size_t i) {
    cells.of(priorities_, &port.pauses[i]);
    if (!port.credit) return cells.of(credit_priorities_, static_cast<const CreditOf*>(nullptr));
    const CreditOf credit{*port.credit, i};
    cells.of(credit_priorities_, &credit);
  });
  walk_rows(name, Row::kGroup, changes.groups, groups_.size(), cells,
            [&](size_t i) { cells.of(groups_, port.buffers ? &port.buffers->groups[i] : nullptr); });
  walk_rows(name, Row::kQueue, changes.queues, queues_.size(), cells, [&](size_t i) {
    const QueueOf queue{port, i};
    cells.of(queues_, &queue);
  });
}

template <typename Cells>
void Series::walk(const FabricSnapshot& snapshot, const std::vector<PortChanges>* changes, Cells& cells) const {
  size_t name = 0;
  size_t number = 0;
  size_t switches = 0;
  const auto next_changes = [&] {
    const size_t port = number++;
    return changes != nullptr && port < changes->size() ? (*changes)[port] : PortChanges{};
  };
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) walk_port(port, names_[name++], next_changes(), cells);
    for (size_t i = 0; i < pool_counts_[switches]; ++i) {
      if (cells.begin(names_[name++], Row::kWhole, 0, true)) {
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
    walk_rows(names_[name++], Row::kPriority, next_changes().priorities, host_priorities_.size(), cells,
              [&](size_t i) { cells.of(host_priorities_, &pauses[i]); });
  };
  for (const HostSnapshot& host : snapshot.hosts) {
    for (const HostPortSnapshot& port : host.ports) walk_pauses(port.pause);
  }
  for (const EdgeSnapshot& edge : snapshot.edges) walk_pauses(edge.pause);
}

void Series::add_sample(std::string& out, const FabricSnapshot& now, const std::vector<PortChanges>& changes) {
  Writer writer{*this, out, now.instant};
  walk(now, &changes, writer);
  ++samples_;
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

template <typename Part>
void Series::add_names(std::string& out, const Columns<Part>& columns) {
  for (const Column<Part>& column : columns.all) {
    out += column.key.text().substr(out.back() == '{' ? 1 : 0);
    out += '"';
    out += word_for(column.nature);
    out += '"';
  }
}

void Series::add_head(std::string& out, const std::string& testbed, dataplane::Duration interval) const {
  out += "{\"series\":1,\"testbed\":" + quoted(testbed) +
         ",\"sample_interval_ps\":" + std::to_string(interval.count_ps()) + ",\"counters\":{\"port\":{";
  add_names(out, ports_);
  add_names(out, credits_);
  if (has_drops_) out += out.back() == '{' ? "\"drops\":\"counter\"" : ",\"drops\":\"counter\"";
  out += "},\"priority\":{";
  add_names(out, priorities_);
  add_names(out, credit_priorities_);
  out += "},\"group\":{";
  add_names(out, groups_);
  out += "},\"queue\":{";
  add_names(out, queues_);
  out += "},\"pool\":{";
  add_names(out, pools_);
  out += "},\"host priority\":{";
  add_names(out, host_priorities_);
  out += "}}}\n";
}

void Series::add_end(std::string& out, dataplane::Instant now) const {
  out += fmt::format("{{\"end_ps\":{},\"samples\":{},\"lines\":{}}}\n", now.count_ps(), samples_, lines_);
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
