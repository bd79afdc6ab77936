// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "control/telemetry/printable.hpp"

namespace softspine::tools {

using namespace control;

namespace {

constexpr size_t kTitleLines = 2;  // the title and the table's head
constexpr size_t kMostTitle = 64;

const char* const kHelp[] = {
    "Ports, the worst first. Rates are per second of emulated time between two looks.",
    "! paused for half the time, dropping, or down   ~ paused, marking, or 80% full",
    "",
    "h  what hurts: paused or dropping, then the longest paused, then the fullest",
    "p  paused     d  drops     o  occupancy     u  utilisation",
    "v  each queue and priority group, or ports again",
    "/  only names that contain a text     Esc  all again",
    "space  stand still     arrows, PgUp, PgDn, Home  scroll",
    "q  quit     any key  leaves this help",
};

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}
bool contains(const std::string& name, const std::string& part) {
  return !std::ranges::search(name, part, is_same_letter).empty();
}
bool is_wanted(const PortMap& map, const PressureRow& row, const std::string& filter) {
  const MappedPort& port = map.ports[row.port];
  return contains(port.name, filter) || contains(map.ports[port.peer].name, filter);
}

double ms_of(uint64_t ps) {
  return static_cast<double>(ps) * 1e-9;
}

std::string title_of(const PortMap& map, const TopLooks& looks, const TopSettings& settings, const TopRows& shown) {
  const uint64_t span = looks.now.at_ps - std::min(looks.now.at_ps, looks.before.at_ps);
  std::string out = fmt::format("{} {:.3f} ms", printable(map.testbed, kMostTitle), ms_of(looks.now.at_ps));
  out += settings.is_frozen ? "  standing still" : fmt::format("  over {:.3f} ms", ms_of(span));
  out += fmt::format("  by {}  {} {}-{} of {}", word_of(settings.by),
                     settings.kind == RowKind::kPorts ? "ports" : "queues", std::min(settings.first + 1, shown.all),
                     settings.first + shown.rows.size(), shown.all);
  if (!settings.filter.empty()) out += fmt::format("  /{}", settings.filter);
  return out + "  ? help";
}

std::vector<ScreenLine> help_lines() {
  std::vector<ScreenLine> out{{"softspine top", Tone::kHead}};
  for (const char* line : kHelp) out.push_back({line});
  return out;
}

std::vector<ScreenLine> fitted(std::vector<ScreenLine> lines, TerminalSize terminal) {
  if (lines.size() > terminal.rows) lines.resize(terminal.rows);
  for (ScreenLine& line : lines) {
    if (line.text.size() > terminal.columns) line.text.resize(terminal.columns);
  }
  return lines;
}

}  // namespace

const char* word_of(RankBy by) {
  switch (by) {
    case RankBy::kHurt: return "hurt";
    case RankBy::kPaused: return "paused";
    case RankBy::kDropped: return "drops";
    case RankBy::kOccupied: return "occupancy";
    case RankBy::kUtilised: return "utilisation";
  }
  return "";
}

TopRows rows_for(const PortMap& map, const TopLooks& looks, const TopSettings& settings, size_t most) {
  const bool of_ports = settings.kind == RowKind::kPorts;
  TopRows out{.rows =
                  of_ports ? port_rows_of(map, looks.before, looks.now) : lane_rows_of(map, looks.before, looks.now)};
  if (!settings.filter.empty()) {
    std::erase_if(out.rows, [&](const PressureRow& row) { return !is_wanted(map, row, settings.filter); });
  }
  out.all = out.rows.size();
  const size_t first = std::min(settings.first, out.all);
  const size_t count = std::min(most, out.all - first);
  rank(out.rows, settings.by, first + count);
  out.rows.resize(first + count);
  out.rows.erase(out.rows.begin(), out.rows.begin() + static_cast<ptrdiff_t>(first));
  return out;
}

TopPicture top_picture(const PortMap& map, const TopLooks& looks, const TopSettings& settings,
                       const std::string& notice, TerminalSize terminal) {
  if (settings.shows_help) return {.lines = fitted(help_lines(), terminal)};
  const std::string last = settings.is_typing ? "/" + settings.filter + "_" : notice;
  const size_t spent = kTitleLines + (last.empty() ? 0 : 1);
  const TopRows shown = rows_for(map, looks, settings, terminal.rows - std::min(terminal.rows, spent));
  std::vector<ScreenLine> out{{title_of(map, looks, settings, shown), Tone::kNotice}};
  std::ranges::move(pressure_lines(map, shown.rows, settings.kind, terminal.columns), std::back_inserter(out));
  if (!last.empty()) {
    out.resize(std::max<size_t>(std::min(out.size() + 1, terminal.rows), 1));
    out.back() = {last, Tone::kNotice};
  }
  return {.lines = fitted(std::move(out), terminal), .rows = shown.all};
}

}  // namespace softspine::tools
