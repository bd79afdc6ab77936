// SPDX-License-Identifier: Apache-2.0
// A picture as SVG text: boxes, lines, arrows, words. All pictures of softspine are drawn by it (`storm`,
// `polarization`).
// Coordinates are in pixels, y downwards. Shapes that are drawn first lie below. Text is escaped, and what is not UTF-8
// in it replaced, so that any name gives a well-formed file.
#pragma once

#include <string>
#include <string_view>

namespace softspine::control {

struct Point {
  double x = 0;
  double y = 0;
};

struct TextStyle {
  double size = 13;
  std::string_view colour = "#222222";
  bool is_bold = false;
  std::string_view anchor = "start";  // start, middle, end
};

class Svg {
 public:
  Svg(double width, double height);

  void box(Point corner, double width, double height, std::string_view fill, std::string_view stroke = "none",
           double stroke_width = 1, double radius = 0, std::string_view tip = {});
  void line(Point a, Point b, std::string_view colour, double width, std::string_view dashes = {});
  // From a to b; `bend` pixels to the left of the straight way.
  void arrow(Point a, Point b, std::string_view colour, double width, double bend = 0, std::string_view tip = {});
  void text(Point at, std::string_view text, const TextStyle& style = {});

  // The whole file.
  std::string finish() &&;

 private:
  void tip(std::string_view text);
  std::string out_;
};

std::string xml_escaped(std::string_view text);

// 1, 2 or 5 times a power of ten, for the marks of an axis: the least that parts `span`, above 0, into at most `most`.
double axis_step(double span, double most);

}  // namespace softspine::control
