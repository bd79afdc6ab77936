// SPDX-License-Identifier: Apache-2.0
#include "control/report/busbw_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "control/collectives/bus_bandwidth.hpp"
#include "control/collectives/collective_algorithms.hpp"
#include "control/telemetry/svg.hpp"

namespace softspine::control {

namespace {

constexpr double kPlotWidth = 900;
constexpr double kPlotTop = 64;
constexpr double kPlotHeight = 360;
constexpr double kPlotLeft = 76;
constexpr double kPlotRight = kPlotWidth - 24;
constexpr double kLegendLine = 20;  // height of a line of it
constexpr double kPlotMark = 7;
constexpr int kMostTicks = 14;
constexpr TextStyle kPlotText{.size = 11};
constexpr std::array kCurveColours{"#1040c0", "#c82828", "#208040", "#c07000",
                                   "#8040a0", "#007c8c", "#8a5a2b", "#555555"};

struct Measured {
  const CollectiveSizeSnapshot* size = nullptr;
  double bits_per_second = 0;
};

struct Curve {
  const CollectiveSnapshot* of = nullptr;
  std::vector<Measured> points;  // by size
};

std::vector<Curve> curves_of(const FabricSnapshot& snapshot) {
  std::vector<Curve> out;
  for (const CollectiveSnapshot& collective : snapshot.collectives) {
    Curve& curve = out.emplace_back(&collective);
    for (const CollectiveSizeSnapshot& size : collective.sizes) {
      if (size.done > 0) curve.points.push_back({&size, 8 * bus_bandwidth(size.shape, size.mean)});
    }
    std::ranges::sort(curve.points, {}, [](const Measured& m) { return m.size->shape.bytes; });
  }
  return out;
}

// "16 MiB", "1.5 KiB"
std::string size_words(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

class BusbwPlot {
 public:
  explicit BusbwPlot(std::vector<Curve> curves) : curves_(std::move(curves)) {
    for (const Curve& curve : curves_) {
      for (const Measured& point : curve.points) {
        const double power = std::log2(static_cast<double>(point.size->shape.bytes));
        first_ = has_points_ ? std::min(first_, std::floor(power)) : std::floor(power);
        last_ = has_points_ ? std::max(last_, std::ceil(power)) : std::ceil(power);
        most_ = std::max(most_, point.bits_per_second);
        has_points_ = true;
      }
    }
    if (last_ <= first_) last_ = first_ + 1;
    step_ = axis_step(most_ > 0 ? most_ : 1, 5);
    most_ = step_ * std::max(1.0, std::ceil(most_ / step_));
  }

  std::string draw(const std::string& testbed) {
    Svg svg{kPlotWidth, kPlotTop + kPlotHeight + 44 + kLegendLine * static_cast<double>(curves_.size())};
    svg.text({20, 26}, testbed + ": bus bandwidth of collectives over size", {.size = 16, .is_bold = true});
    svg.text({20, 46}, has_points_ ? "Gb/s, by nccl-tests' definition" : "no collective has ended", kPlotText);
    draw_scales(svg);
    for (size_t i = 0; i < curves_.size(); ++i) draw_curve(svg, i);
    return std::move(svg).finish();
  }

 private:
  double x_of(double bytes) const {
    return kPlotLeft + (kPlotRight - kPlotLeft) * (std::log2(bytes) - first_) / (last_ - first_);
  }
  double y_of(double bits_per_second) const { return kPlotTop + kPlotHeight * (1 - bits_per_second / most_); }

  void draw_scales(Svg& svg) const {
    for (double value = 0; value <= most_ * 1.001; value += step_) {
      svg.line({kPlotLeft, y_of(value)}, {kPlotRight, y_of(value)}, value == 0 ? "#222222" : "#dddddd", 1);
      svg.text({kPlotLeft - 8, y_of(value) + 4}, fmt::format("{:.4g}", value / 1e9), {.size = 11, .anchor = "end"});
    }
    const double every = std::ceil((last_ - first_) / kMostTicks);
    for (double power = first_; has_points_ && power <= last_; power += every) {
      const double bytes = std::exp2(power);
      svg.line({x_of(bytes), kPlotTop + kPlotHeight}, {x_of(bytes), kPlotTop + kPlotHeight + 5}, "#222222", 1);
      svg.text({x_of(bytes), kPlotTop + kPlotHeight + 20}, size_words(bytes), {.size = 11, .anchor = "middle"});
    }
  }

  void draw_curve(Svg& svg, size_t index) const {
    const Curve& curve = curves_[index];
    const char* colour = kCurveColours[index % kCurveColours.size()];
    const double legend = kPlotTop + kPlotHeight + 48 + kLegendLine * static_cast<double>(index);
    const CollectiveShape& shape = curve.of->sizes.front().shape;
    svg.box({kPlotLeft, legend - 9}, 10, 10, colour);
    svg.text({kPlotLeft + 18, legend},
             fmt::format("{}: {} on {} ranks", curve.of->name, word_for(shape.collective), shape.ranks), kPlotText);
    for (size_t i = 0; i < curve.points.size(); ++i) {
      const Point at = point_of(curve.points[i]);
      if (i > 0) svg.line(point_of(curve.points[i - 1]), at, colour, 2);
    }
    for (const Measured& point : curve.points) {
      const Point at = point_of(point);
      const CollectiveShape& of = point.size->shape;
      svg.box({at.x - kPlotMark / 2, at.y - kPlotMark / 2}, kPlotMark, kPlotMark, colour, "none", 1, 0,
              fmt::format("{}: {:.4g} Gb/s, {:.4g} us, {}, {}", size_words(static_cast<double>(of.bytes)),
                          point.bits_per_second / 1e9, static_cast<double>(point.size->mean.count_ps()) / 1e6,
                          algorithm_row(of.algorithm)->word, word_for(of.protocol)));
    }
  }

  Point point_of(const Measured& point) const {
    return {x_of(static_cast<double>(point.size->shape.bytes)), y_of(point.bits_per_second)};
  }

  std::vector<Curve> curves_;
  bool has_points_ = false;
  double first_ = 0;  // powers of two
  double last_ = 0;
  double step_ = 1;
  double most_ = 0;  // bits a second
};

}  // namespace

std::string busbw_picture(const FabricSnapshot& snapshot, const std::string& testbed) {
  return BusbwPlot(curves_of(snapshot)).draw(testbed);
}

}  // namespace softspine::control
