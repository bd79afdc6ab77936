// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/trial_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "control/telemetry/svg.hpp"
#include "tools/softspine/reproduce/trial_report.hpp"

namespace softspine::tools {

namespace {

constexpr std::array<std::string_view, 6> kColours{"#3465a4", "#4e9a06", "#c17d11", "#a40000", "#75507b", "#2e3436"};
constexpr double kBar = 12;
constexpr double kGap = 26;   // between groups
constexpr double kLeft = 64;  // of the axis
constexpr double kTop = 64;   // of the plot
constexpr double kHeight = 280;
constexpr double kLine = 18;  // of the legend
constexpr double kMostSteps = 6;

class Picture {
 public:
  explicit Picture(const Trial& trial)
      : trial_(trial),
        theirs_(trial.experiment->published),
        group_(2 * kBar * static_cast<double>(theirs_.rows.size())),
        width_(std::max(760.0, kLeft + (group_ + kGap) * static_cast<double>(theirs_.columns.size()) + 20)),
        svg_(width_, kTop + kHeight + 34 + kLine * static_cast<double>(theirs_.rows.size())) {
    for (const Grid* grid : {&theirs_, &trial.found.most, &trial.found.least}) {
      for (const double value : grid->values) {
        if (std::isnan(value)) continue;
        top_ = std::max(top_, value);
        bottom_ = std::min(bottom_, value);
      }
    }
    if (top_ == bottom_) top_ = bottom_ + 1;
    step_ = control::axis_step(top_ - bottom_, kMostSteps);
    top_ = step_ * std::ceil(top_ / step_);
    bottom_ = step_ * std::floor(bottom_ / step_);
  }

  std::string operator()() && {
    const Experiment& it = *trial_.experiment;
    svg_.text({10, 22}, fmt::format("{}, {}: {}", it.paper, it.figure, it.shows), {.size = 14, .is_bold = true});
    svg_.text({10, 42}, fmt::format("{}; outline: the paper; filled: ours, {}", it.unit, effort_text(trial_)));
    draw_axis();
    for (size_t column = 0; column < theirs_.columns.size(); ++column) draw_group(column);
    draw_legend();
    return std::move(svg_).finish();
  }

 private:
  double height_of(double value) const { return kTop + (top_ - value) / (top_ - bottom_) * kHeight; }

  void draw_axis() {
    for (double i = std::round(bottom_ / step_); i <= std::round(top_ / step_); ++i) {
      const double value = step_ * i;
      svg_.line({kLeft, height_of(value)}, {width_ - 10, height_of(value)}, "#dddddd", 1);
      svg_.text({kLeft - 6, height_of(value) + 4}, fmt::format("{:.6g}", value), {.size = 11, .anchor = "end"});
    }
    svg_.line({kLeft, height_of(0)}, {width_ - 10, height_of(0)}, "#222222", 1);
  }

  void draw_group(size_t column) {
    const double left = kLeft + kGap / 2 + (group_ + kGap) * static_cast<double>(column);
    for (size_t row = 0; row < theirs_.rows.size(); ++row) {
      const double x = left + 2 * kBar * static_cast<double>(row);
      const std::string_view colour = kColours[row % kColours.size()];
      const std::string what = fmt::format("{}, {}", theirs_.rows[row], theirs_.columns[column]);
      draw_bar(x, theirs_.at(row, column), "#ffffff", colour, what + ", the paper");
      draw_bar(x + kBar, trial_.found.mean.at(row, column), colour, colour, what + ", ours");
      draw_spread(x + 1.5 * kBar, trial_.found.least.at(row, column), trial_.found.most.at(row, column));
    }
    svg_.text({left + group_ / 2, kTop + kHeight + 18}, theirs_.columns[column], {.size = 12, .anchor = "middle"});
  }

  void draw_bar(double x, double value, std::string_view fill, std::string_view stroke, const std::string& what) {
    if (std::isnan(value)) return;
    const double upper = height_of(std::max(value, 0.0));
    const double lower = height_of(std::min(value, 0.0));
    svg_.box({x + 1, upper}, kBar - 2, lower - upper, fill, stroke, 1, 0,
             fmt::format("{}: {}", what, number_text(value)));
  }

  void draw_spread(double x, double least, double most) {
    if (std::isnan(least) || least == most) return;
    svg_.line({x, height_of(least)}, {x, height_of(most)}, "#000000", 1);
  }

  void draw_legend() {
    for (size_t row = 0; row < theirs_.rows.size(); ++row) {
      const double y = kTop + kHeight + 32 + kLine * static_cast<double>(row);
      svg_.box({kLeft, y}, 12, 12, kColours[row % kColours.size()]);
      svg_.text({kLeft + 20, y + 11}, theirs_.rows[row]);
    }
  }

  const Trial& trial_;
  const Grid& theirs_;
  double group_;
  double width_;
  control::Svg svg_;
  double top_ = 0;
  double bottom_ = 0;
  double step_ = 1;
};

}  // namespace

std::string trial_picture(const Trial& trial) {
  return Picture{trial}();
}

}  // namespace softspine::tools
