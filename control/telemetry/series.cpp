// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/series.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>

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

void add_number(std::string& out, uint64_t value) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

const std::string& drop_key(size_t reason) {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (int i = 0; i < kDropReasons; ++i) {
      out.push_back("\"" + std::string{dataplane::name_of(static_cast<dataplane::DropReason>(i))} + "\":");
    }
    return out;
  }();
  return all[reason];
}

}  // namespace

// Cells have
//   begin(where, kind, number, changed)   a row begins; false: it is left out
//   of(columns, part)                     its values; a null part has none
//   drops(counters), end()
// and count every column, so that a value is found by its place.

// Counts the columns of all rows.
struct Series::Places {
  size_t places = 0;
  static bool begin(std::string_view, std::string_view, size_t, bool) { return false; }
  template <typename Part>
  static void of(const Columns<Part>&, const Part*) {}
  static void drops(const dataplane::DropCounters&) {}
  static void end() {}
  void skip(size_t columns) { places += columns; }
};

class Series::Writer {
 public:
  Writer(Series& series, std::string& out, dataplane::Instant now)
      : series_(series), out_(out), before_("{\"t_ps\":" + std::to_string(now.count_ps()) + ",\"") {}

  bool begin(std::string_view where, std::string_view kind, size_t number, bool changed) {
    if (!changed) return false;
    start_ = out_.size();
    out_ += before_;
    out_ += where;
    if (!kind.empty()) {
      out_ += ",\"";
      out_ += kind;
      out_ += "\":";
      add_number(out_, number);
    }
    body_ = out_.size();
    return true;
  }
  template <typename Part>
  void of(const Columns<Part>& columns, const Part* part) {
    for (const Column<Part>& column : columns) {
      const size_t place = place_++;
      if (part == nullptr) continue;
      const std::optional<uint64_t> value = column.read(*part);
      if (!value || *value == series_.seen_[place]) continue;
      out_ += column.key;
      add_value(place, *value, column.nature);
    }
  }
  void drops(const dataplane::DropCounters& drops) {
    bool any = false;
    for (size_t i = 0; i < drops.size(); ++i) {
      const size_t place = place_++;
      if (drops[i] == series_.seen_[place]) continue;
      out_ += any ? "," : ",\"drops\":{";
      any = true;
      out_ += drop_key(i);
      add_value(place, drops[i], Nature::kGrows);
    }
    if (any) out_ += '}';
  }
  void end() {
    if (out_.size() == body_) return out_.resize(start_);
    out_ += "}\n";
    ++series_.lines_;
  }
  void skip(size_t columns) { place_ += columns; }

 private:
  void add_value(size_t place, uint64_t value, Nature nature) {
    uint64_t& seen = series_.seen_[place];
    const uint64_t shown = nature == Nature::kGrows ? value - seen : value;
    series_.written_[place] = nature == Nature::kGrows ? series_.written_[place] + shown : shown;
    seen = value;
    add_number(out_, shown);
  }

  Series& series_;
  std::string& out_;
  std::string before_;
  size_t place_ = 0;
  size_t start_ = 0;
  size_t body_ = 0;
};

class Series::Checker {
 public:
  explicit Checker(const Series& series) : series_(series) {}

  bool begin(std::string_view where, std::string_view kind, size_t number, bool) {
    where_ = std::string{where} + (kind.empty() ? "" : fmt::format(", {} {}", kind, number));
    return true;
  }
  template <typename Part>
  void of(const Columns<Part>& columns, const Part* part) {
    for (const Column<Part>& column : columns) {
      compare(part == nullptr ? 0 : column.read(*part).value_or(0), column.key.substr(1), column.nature);
    }
  }
  void drops(const dataplane::DropCounters& drops) {
    for (size_t i = 0; i < drops.size(); ++i) compare(drops[i], "drops " + drop_key(i), Nature::kGrows);
  }
  void end() {}
  void skip(size_t columns) { place_ += columns; }

  std::vector<std::string> wrong;

 private:
  void compare(uint64_t value, const std::string& key, Nature nature) {
    const uint64_t written = series_.written_[place_++];
    if (written == value) return;
    std::string text = where_ + ", " + key;
    std::erase(text, '"');
    text.pop_back();  // :
    wrong.push_back(fmt::format("counters over time, {}: {} {} is not {}, as at the end", text,
                                nature == Nature::kGrows ? "the sum" : "the last value", written, value));
  }

  const Series& series_;
  std::string where_;
  size_t place_ = 0;
};

template <typename Part, typename Table>
Series::Columns<Part> Series::chosen(const Table& table, const CounterPatterns& patterns) const {
  Columns<Part> out;
  for (const auto& counter : table) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    const std::string name{counter.facts.row_name()};
    if (read == nullptr || name.empty() || !is_chosen(name, patterns)) continue;
    out.push_back({*read, ",\"" + name + "\":", counter.facts.nature});
  }
  return out;
}

Series::Series(const FabricSnapshot& shape, const CounterPatterns& patterns)
    : ports_(chosen<PortSnapshot>(switch_counters(), patterns)),
      credits_(chosen<CreditSnapshot>(switch_counters(), patterns)),
      priorities_(chosen<PauseSnapshot>(switch_counters(), patterns)),
      credit_priorities_(chosen<CreditOf>(switch_counters(), patterns)),
      groups_(chosen<GroupSnapshot>(switch_counters(), patterns)),
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
  seen_.resize(size_of(shape));
  written_.resize(seen_.size());
}

size_t Series::size_of(const FabricSnapshot& shape) const {
  Places counter;
  walk(shape, nullptr, counter);
  return counter.places;
}

template <typename Cells>
void Series::walk_port(const PortSnapshot& port, std::string_view name, PortChanges changes, Cells& cells) const {
  const size_t drops = has_drops_ ? kDropReasons : 0;
  if (cells.begin(name, "", 0, changes.port)) {
    cells.of(ports_, &port);
    cells.of(credits_, port.credit ? &*port.credit : nullptr);
    if (has_drops_) cells.drops(port.counters.drops);
    cells.end();
  } else {
    cells.skip(ports_.size() + credits_.size() + drops);
  }
  for (size_t i = 0; i < kPriorities; ++i) {
    if (!cells.begin(name, "priority", i, (changes.priorities >> i & 1) != 0)) {
      cells.skip(priorities_.size() + credit_priorities_.size());
      continue;
    }
    cells.of(priorities_, &port.pauses[i]);
    const CreditSnapshot none;
    const CreditOf credit{port.credit ? *port.credit : none, i};
    cells.of(credit_priorities_, port.credit ? &credit : nullptr);
    cells.end();
  }
  for (size_t i = 0; i < kPriorities; ++i) {
    if (!cells.begin(name, "group", i, (changes.groups >> i & 1) != 0)) {
      cells.skip(groups_.size());
      continue;
    }
    cells.of(groups_, port.buffers ? &port.buffers->groups[i] : nullptr);
    cells.end();
  }
  for (size_t i = 0; i < dataplane::kQueues; ++i) {
    if (!cells.begin(name, "queue", i, (changes.queues >> i & 1) != 0)) {
      cells.skip(queues_.size());
      continue;
    }
    const QueueOf queue{port, i};
    cells.of(queues_, &queue);
    cells.end();
  }
}

template <typename Cells>
void Series::walk(const FabricSnapshot& snapshot, const std::vector<PortChanges>* changes, Cells& cells) const {
  size_t name = 0;
  size_t number = 0;
  size_t switches = 0;
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      const bool knows = changes != nullptr && !changes->empty();
      walk_port(port, names_[name++], knows ? (*changes)[number++] : PortChanges{}, cells);
    }
    for (size_t i = 0; i < pool_counts_[switches]; ++i) {
      if (cells.begin(names_[name++], "", 0, true)) {
        cells.of(pools_, i < node.pools.size() ? &node.pools[i] : nullptr);
        cells.end();
      } else {
        cells.skip(pools_.size());
      }
    }
    ++switches;
  }
  if (host_priorities_.empty()) return;
  for (const HostSnapshot& host : snapshot.hosts) {
    for (const HostPortSnapshot& port : host.ports) {
      const std::string& where = names_[name++];
      for (size_t i = 0; i < kPriorities; ++i) {
        if (cells.begin(where, "priority", i, true)) {
          cells.of(host_priorities_, &port.pause[i]);
          cells.end();
        } else {
          cells.skip(host_priorities_.size());
        }
      }
    }
  }
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
  for (const Column<Part>& column : columns) {
    if (out.back() == '{') {
      out += column.key.substr(1);
    } else {
      out += column.key;
    }
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
