// SPDX-License-Identifier: Apache-2.0
#include "analysis/page/html_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "control/telemetry/svg.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::page {

namespace {

constexpr double kSteps = 10;

std::string pointer_of(Steps steps) {
  std::string out;
  for (const std::string_view step : steps) {
    out += '/';
    for (const char c : step) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

template <size_t N>
std::string scaled(double value, double step, const std::array<const char*, N>& units) {
  size_t unit = 0;
  while (unit + 1 < N && std::abs(value) >= step) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

}  // namespace

std::string escaped(std::string_view text) {
  return control::xml_escaped(text);
}

std::string value(Steps steps, double exact, const std::string& shown) {
  return fmt::format("<data value=\"{}\" data-report=\"{}\">{}</data>", exact, escaped(pointer_of(steps)),
                     escaped(shown));
}
std::string count_value(Steps steps, int64_t exact) {
  return value(steps, static_cast<double>(exact), count_words(exact));
}
std::string time_value(Steps steps, int64_t exact_ps) {
  return value(steps, static_cast<double>(exact_ps), time_words(exact_ps));
}
std::string rate_value(Steps steps, int64_t exact_bps) {
  return value(steps, static_cast<double>(exact_bps), rate_words(exact_bps));
}
std::string share_value(Steps steps, double exact) {
  return value(steps, exact, share_words(exact));
}

std::string count_words(int64_t count) {
  return control::grouped(static_cast<uint64_t>(std::max<int64_t>(0, count)));
}
std::string size_words(int64_t bytes) {
  return scaled(static_cast<double>(bytes), 1000, std::array{"B", "kB", "MB", "GB", "TB"});
}
std::string time_words(int64_t ps) {
  return scaled(static_cast<double>(ps), 1000, std::array{"ps", "ns", "µs", "ms", "s"});
}
std::string rate_words(int64_t bps) {
  return scaled(static_cast<double>(bps), 1000, std::array{"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"});
}
std::string share_words(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, title, body);
}
std::string paragraph(const std::string& html) {
  return "<p>" + html + "</p>\n";
}

std::string table_row(const std::initializer_list<std::string>& cells) {
  std::string out = "<tr>";
  for (const std::string& cell : cells) out += "<td>" + cell;
  return out + "</tr>\n";
}

std::string table(const std::initializer_list<std::string_view>& heads, const std::string& rows) {
  std::string out = "<div class=\"wide\"><table><tr>";
  for (const std::string_view head : heads) out += fmt::format("<th>{}", head);
  return out + "</tr>\n" + rows + "</table></div>\n";
}

std::string left_out(int64_t all, int64_t shown) {
  return all > shown ? paragraph(fmt::format("And {} more.", count_words(all - shown))) : "";
}

int colour_step(double share) {
  return static_cast<int>(std::clamp(share * kSteps, 0.0, kSteps - 1));
}

}  // namespace softspine::analysis::page
