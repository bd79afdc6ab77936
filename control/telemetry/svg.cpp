// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace softspine::control {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr double kHeadLength = 9;
constexpr double kHeadHalfWidth = 4.5;

// How long the UTF-8 sequence at the front is; 0 if it is none that XML may hold.
size_t sequence_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= ' ' || first == '\t' || first == '\n' ? 1 : 0;
  const size_t length = first >= 0xf0 && first < 0xf5   ? 4
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xc2 && first < 0xe0 ? 2
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t code = first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3f);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_no_character = (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff || code > 0x10ffff;
  return is_overlong || is_no_character ? 0 : length;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_bytes(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(sequence.size());
    if (length == 0) {
      out += kReplacement;
    } else if (sequence == "&") {
      out += "&amp;";
    } else if (sequence == "<") {
      out += "&lt;";
    } else if (sequence == ">") {
      out += "&gt;";
    } else if (sequence == "\"") {
      out += "&quot;";
    } else {
      out += sequence;
    }
  }
  return out;
}

Svg::Svg(double width, double height) {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"DejaVu Sans, Verdana, sans-serif\">\n",
      width, height);
  box({0, 0}, width, height, "#ffffff");
}

void Svg::tip(std::string_view text) {
  if (!text.empty()) out_ += fmt::format("<title>{}</title>", xml_escaped(text));
}

void Svg::box(Point corner, double width, double height, std::string_view fill, std::string_view stroke,
              double stroke_width, double radius, std::string_view tip_text) {
  fmt::format_to(
      std::back_inserter(out_),
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" stroke=\"{}\" "
      "stroke-width=\"{}\">",
      corner.x, corner.y, width, height, radius, fill, stroke, stroke_width);
  tip(tip_text);
  out_ += "</rect>\n";
}

void Svg::line(Point a, Point b, std::string_view colour, double width, std::string_view dashes) {
  fmt::format_to(
      std::back_inserter(out_),
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", a.x, a.y,
      b.x, b.y, colour, width, dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

void Svg::arrow(Point a, Point b, std::string_view colour, double width, double bend, std::string_view tip_text) {
  const double length = std::max(1.0, std::hypot(b.x - a.x, b.y - a.y));
  const Point left{(b.y - a.y) / length, -(b.x - a.x) / length};
  const Point middle{(a.x + b.x) / 2 + left.x * 2 * bend, (a.y + b.y) / 2 + left.y * 2 * bend};
  const double last = std::max(1.0, std::hypot(b.x - middle.x, b.y - middle.y));
  const Point way{(b.x - middle.x) / last, (b.y - middle.y) / last};
  const double head = kHeadLength + width;
  const double half = kHeadHalfWidth + width / 2;
  const Point neck{b.x - way.x * head, b.y - way.y * head};
  fmt::format_to(std::back_inserter(out_),
                 "<g><path d=\"M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
                 "stroke-width=\"{:.1f}\"/><path d=\"M{:.1f} {:.1f} L{:.1f} {:.1f} L{:.1f} {:.1f} Z\" fill=\"{}\"/>",
                 a.x, a.y, middle.x, middle.y, neck.x, neck.y, colour, width, b.x, b.y, neck.x - way.y * half,
                 neck.y + way.x * half, neck.x + way.y * half, neck.y - way.x * half, colour);
  tip(tip_text);
  out_ += "</g>\n";
}

void Svg::text(Point at, std::string_view text, const TextStyle& style) {
  fmt::format_to(std::back_inserter(out_),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" fill=\"{}\"{} text-anchor=\"{}\">{}</text>\n",
                 at.x, at.y, style.size, style.colour, style.is_bold ? " font-weight=\"bold\"" : "", style.anchor,
                 xml_escaped(text));
}

std::string Svg::finish() && {
  out_ += "</svg>\n";
  return std::move(out_);
}

double axis_step(double span, double most) {
  const double decade = std::pow(10, std::floor(std::log10(span / most)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (span / (times * decade) <= most) return times * decade;
  }
  return 10 * decade;
}

}  // namespace softspine::control
