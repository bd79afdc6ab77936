// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/pressure_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "control/telemetry/printable.hpp"

namespace softspine::tools {

using control::PortMap;
using control::PressureRow;

namespace {

constexpr double kPausedMuch = 0.5;
constexpr double kNearlyFull = 0.8;
constexpr size_t kLeastName = 10;
constexpr size_t kMostName = 40;
constexpr size_t kMark = 1;  // before the name

// A column beside the port's name; the first ones survive on a narrow terminal.
struct Column {
  const char* head;
  size_t width;
  std::string (*text)(const PortMap& map, const PressureRow& row);
  bool of_ports = true;
  bool of_lanes = true;
};

std::string filled(std::optional<double> fill) {
  return fill ? percent_text(*fill) : "-";
}

const Column kColumns[] = {
    {"PAUSED", 6, [](const PortMap&, const PressureRow& row) { return row.up ? percent_text(row.paused) : "down"; }},
    {"DROP/s", 6, [](const PortMap&, const PressureRow& row) { return short_number(row.drops_per_s); }},
    {"FULL", 5, [](const PortMap&, const PressureRow& row) { return filled(std::max(row.queue_fill, row.group_fill)); },
     true, false},
    {"Q", 1, [](const PortMap&, const PressureRow& row) { return std::to_string(row.lane); }},
    {"Q.FULL", 6, [](const PortMap&, const PressureRow& row) { return filled(row.queue_fill); }, false},
    {"PG.FULL", 7, [](const PortMap&, const PressureRow& row) { return filled(row.group_fill); }, false},
    {"MARK/s", 6, [](const PortMap&, const PressureRow& row) { return short_number(row.marks_per_s); }},
    {"OUT", 5, [](const PortMap&, const PressureRow& row) { return percent_text(row.out); }, true, false},
    {"IN", 5, [](const PortMap&, const PressureRow& row) { return percent_text(row.in); }, true, false},
    {"XOFF", 4, [](const PortMap&, const PressureRow& row) { return std::string{row.stopping ? "sent" : "-"}; }},
    {"QUEUE(B)", 8,
     [](const PortMap&, const PressureRow& row) { return short_number(static_cast<double>(row.queue_bytes)); }},
    {"PG(B)", 6,
     [](const PortMap&, const PressureRow& row) { return short_number(static_cast<double>(row.group_bytes)); }},
    {"PAUSED(ms)", 10,
     [](const PortMap&, const PressureRow& row) {
       return fmt::format("{:.3f}", static_cast<double>(row.paused_ps) * 1e-9);
     }},
    {"RATE(b/s)", 9,
     [](const PortMap& map, const PressureRow& row) {
       return short_number(static_cast<double>(map.ports[row.port].rate_bps));
     }},
    {"PEER", 24,
     [](const PortMap& map, const PressureRow& row) {
       return control::printable(map.ports[map.ports[row.port].peer].name, kMostName);
     }},
};

char mark_of(Tone tone) {
  return tone == Tone::kHurts ? '!' : tone == Tone::kWarns ? '~' : ' ';
}

// The columns that a terminal of that width has room for, beside names of that width.
std::vector<const Column*> columns_for(RowKind kind, size_t width, size_t name) {
  std::vector<const Column*> out;
  size_t used = kMark + name;
  for (const Column& column : kColumns) {
    if (!(kind == RowKind::kPorts ? column.of_ports : column.of_lanes)) continue;
    used += 1 + column.width;
    if (width != 0 && used > width) break;
    out.push_back(&column);
  }
  return out;
}

size_t name_width(const PortMap& map, std::span<const PressureRow> rows, size_t width) {
  size_t longest = kLeastName;
  for (const PressureRow& row : rows) longest = std::max(longest, map.ports[row.port].name.size());
  longest = std::min(longest, kMostName);
  // PAUSED alone is worth more than the ends of long names.
  const size_t first = kMark + 1 + kColumns[0].width;
  return width == 0 ? longest : std::min(longest, std::max(width, first + kLeastName) - first);
}

std::string cut(std::string text, size_t width) {
  if (width != 0 && text.size() > width) text.resize(width);
  return text;
}

}  // namespace

std::string percent_text(double share) {
  const double percent = share * 100;
  return percent > 0 && percent < 9.95 ? fmt::format("{:.1f}%", percent) : fmt::format("{:.0f}%", percent);
}

std::string short_number(double number) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < std::size(kUnits); ++unit) number /= 1000;
  const bool has_point = number > 0 && number < 9.95 && (unit > 0 || number != std::floor(number));
  return fmt::format("{:.{}f}{}", number, has_point ? 1 : 0, kUnits[unit]);
}

Tone tone_of(const PressureRow& row) {
  if (!row.up || row.paused >= kPausedMuch || row.drops_per_s > 0) return Tone::kHurts;
  const bool is_warned = row.paused > 0 || row.marks_per_s > 0 || row.fill() >= kNearlyFull;
  return is_warned ? Tone::kWarns : Tone::kPlain;
}

std::vector<ScreenLine> pressure_lines(const PortMap& map, const std::vector<PressureRow>& rows, RowKind kind,
                                       size_t width) {
  const size_t name = name_width(map, rows, width);
  const std::vector<const Column*> columns = columns_for(kind, width, name);
  std::vector<ScreenLine> out{{fmt::format(" {:<{}}", "PORT", name), Tone::kHead}};
  for (const Column* column : columns) out[0].text += fmt::format(" {:>{}}", column->head, column->width);
  for (const PressureRow& row : rows) {
    const Tone tone = tone_of(row);
    const std::string shown = cut(control::printable(map.ports[row.port].name, kMostName), name);
    std::string text = fmt::format("{}{:<{}}", mark_of(tone), shown, name);
    for (const Column* column : columns) text += fmt::format(" {:>{}}", column->text(map, row), column->width);
    out.push_back({std::move(text), tone});
  }
  for (ScreenLine& line : out) line.text = cut(std::move(line.text), width);
  return out;
}

}  // namespace softspine::tools
