// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/storm/ethtool_pauses.hpp"
#include "analysis/storm/text_lines.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr size_t kMaxPorts = 65'536;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in{line};
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(std::move(word));
  return out;
}

// No value: not a number.
std::optional<uint64_t> number_of(std::string text) {
  std::erase(text, ',');
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_rule(const std::string& word) {
  return word.find_first_not_of('-') == std::string::npos;
}

class Reading {
 public:
  explicit Reading(const std::string& port) : port_(port) {}

  // Returns the error of a line; empty: none.
  std::string take(const std::string& line) {
    const auto words = words_of(line);
    if (words.empty() || is_rule(words[0])) return "";
    if (words.size() >= 3 && words[0] == "Port" && (words[1] == "Tx" || words[1] == "Rx") && words[2] == "PFC0") {
      table_ = words[1] == "Tx" ? Table::kTx : Table::kRx;
      return "";
    }
    if (words.size() >= 5 && words[0] == "Port" && words[1] == "Priority" && words[4] == "Transitions") {
      table_ = Table::kHistory;
      history_us_ = std::ranges::find(words, "MS") == words.end() ? 1 : 1'000;
      return "";
    }
    if (words[0] == "QUEUE") {
      table_ = Table::kWatchdog;
      return "";
    }
    if (words[0].ends_with(':')) return take_named(words);
    if (out_.ports.size() > kMaxPorts) return "more ports than any switch has";
    switch (table_) {
      case Table::kTx:
      case Table::kRx: return take_pfc(words);
      case Table::kWatchdog: return take_watchdog(words);
      case Table::kHistory: return take_history(words);
      case Table::kNone: break;
    }
    return "";  // a prompt, a date, what another command has printed
  }

  CountReading finish() { return std::move(out_); }

 private:
  enum class Table : uint8_t { kNone, kTx, kRx, kWatchdog, kHistory };

  std::string take_pfc(const std::vector<std::string>& words) {
    if (words.size() != 1 + kCountedPriorities) {
      table_ = Table::kNone;
      return "";
    }
    for (size_t i = 0; i < kCountedPriorities; ++i) {
      const auto value = number_of(words[i + 1]);
      if (!value && words[i + 1] != "N/A") return "'" + words[i + 1] + "' is no number";
      PauseCounts& counts = out_.ports[words[0]][i];
      (table_ == Table::kTx ? counts.tx_frames : counts.rx_frames) = value;
    }
    return "";
  }

  std::string take_watchdog(const std::vector<std::string>& words) {
    const size_t colon = words[0].rfind(':');
    const auto queue = colon == std::string::npos ? std::nullopt : number_of(words[0].substr(colon + 1));
    if (!queue || words.size() < 3) {
      table_ = Table::kNone;
      return "";
    }
    const auto detected = number_of(words[2].substr(0, words[2].find('/')));
    if (!detected) return "'" + words[2] + "' is no count of storms";
    out_.watchdog[{words[0].substr(0, colon), static_cast<uint32_t>(*queue)}] = {.is_stormed = words[1] == "stormed",
                                                                                 .detected = *detected};
    return "";
  }

  // ethtool: "tx_prio3_pause_duration: 12"
  std::string take_named(const std::vector<std::string>& words) {
    std::string_view name{words[0]};
    name.remove_suffix(1);
    const auto found = words.size() == 2 ? ethtool_pause(name) : std::nullopt;
    if (!found) return "";
    const auto value = number_of(words[1]);
    if (!value) return "'" + words[1] + "' is no number";
    PauseCounts& counts = out_.ports[port_][found->counted];
    auto& into = counts.*found->member;
    if (found->is_added) {
      into = into.value_or(0) + *value;
    } else if (!found->is_another_name || !into) {
      into = value;
    }
    return "";
  }

  // "Ethernet0  PFC3  6  1,430,570  527,739  03/25/2025, 17:22:37"
  std::string take_history(const std::vector<std::string>& words) {
    const bool is_row = words.size() >= 4 && words[1].size() == 4 && words[1].starts_with("PFC") &&
                        words[1][3] >= '0' && words[1][3] <= '7';
    if (!is_row) {
      table_ = Table::kNone;
      return "";
    }
    PauseCounts& counts = out_.ports[words[0]][static_cast<size_t>(words[1][3] - '0')];
    for (const auto& [word, into, scale] :
         {std::tuple(words[2], &counts.rx_times, uint64_t{1}), {words[3], &counts.rx_us, history_us_}}) {
      const auto value = number_of(word);
      if (!value && word != "N/A") return "'" + word + "' is no number";
      if (value) *into = *value * scale;
    }
    return "";
  }

  std::string port_;
  Table table_ = Table::kNone;
  uint64_t history_us_ = 1;  // of its unit of time
  CountReading out_;
};

// False: it went backwards.
bool subtract(const std::optional<uint64_t>& before, std::optional<uint64_t>& after) {
  if (!before || !after) {
    after.reset();
    return true;
  }
  if (*after < *before) return false;
  *after -= *before;
  return true;
}

}  // namespace

std::string name_of_class(size_t counted) {
  return counted == kWholeLink ? "link-level PAUSE" : fmt::format("priority {}", counted);
}

std::expected<CountReading, std::string> read_counts(const std::string& path, const std::string& port) {
  constexpr uint64_t kMaxCounterBytes = 256 << 20;
  auto lines = TextLines::open(path, "counters", kMaxCounterBytes);
  if (!lines) return std::unexpected(lines.error());
  Reading reading{port};
  std::string line;
  while (lines->next(line)) {
    if (const std::string wrong = reading.take(line); !wrong.empty()) {
      return std::unexpected(fmt::format("{}:{}: {}", path, lines->number(), wrong));
    }
  }
  if (!lines->error().empty()) return std::unexpected(lines->error());
  CountReading out = reading.finish();
  if (out.ports.empty()) {
    return std::unexpected(path +
                           ": no pause counters: neither 'show pfc counters' nor 'ethtool -S' of an mlx5, ice or bnxt "
                           "port");
  }
  return out;
}

std::expected<CountReading, std::string> difference(const CountReading& before, const CountReading& after) {
  CountReading out = after;
  for (const auto& [port, counts] : before.ports) {
    if (!after.ports.contains(port)) return std::unexpected(port + " is in the first reading only");
  }
  for (auto& [port, counts] : out.ports) {
    const auto known = before.ports.find(port);
    if (known == before.ports.end()) return std::unexpected(port + " is in the second reading only");
    for (size_t i = 0; i < kCountedClasses; ++i) {
      const PauseCounts& was = known->second[i];
      PauseCounts& is = counts[i];
      if (!subtract(was.tx_frames, is.tx_frames) || !subtract(was.rx_frames, is.rx_frames) ||
          !subtract(was.rx_times, is.rx_times) || !subtract(was.tx_us, is.tx_us) || !subtract(was.rx_us, is.rx_us)) {
        return std::unexpected(
            fmt::format("counters of {}, {}, went backwards: they were cleared in between, "
                        "or the files are in the wrong order",
                        port, name_of_class(i)));
      }
    }
  }
  for (auto& [queue, counts] : out.watchdog) {
    const auto known = before.watchdog.find(queue);
    const uint64_t was = known == before.watchdog.end() ? 0 : known->second.detected;
    if (counts.detected < was)
      return std::unexpected(fmt::format("storms of {}:{} went backwards", queue.first, queue.second));
    counts.detected -= was;
  }
  return out;
}

}  // namespace softspine::analysis::storm
