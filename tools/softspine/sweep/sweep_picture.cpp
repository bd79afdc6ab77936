// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "control/format/quantity.hpp"
#include "control/telemetry/svg.hpp"

namespace softspine::tools {

using control::Point;
using control::Svg;
using control::TextStyle;

namespace {

constexpr double kSweepWidth = 900;
constexpr double kSweepTop = 64;
constexpr double kSweepHeight = 360;
constexpr double kSweepLeft = 92;
constexpr double kSweepRight = kSweepWidth - 24;
constexpr double kSweepBottom = kSweepTop + kSweepHeight;
constexpr double kSweepLegendLine = 20;
constexpr double kMostSweepSteps = 6;
constexpr size_t kMostNamedPlaces = 24;  // below the plot
constexpr double kBoxShare = 0.5;        // of the room that a box has
constexpr TextStyle kSweepText{.size = 11};
// Told apart in the dark and by the colour-blind (Okabe and Ito).
constexpr std::array kSweepColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#e69f00", "#56b4e9", "#000000", "#999999"};

// "4", "64KiB", "10us", "40%": as a number that grows as the quantity does; nothing for a word.
std::optional<double> number_of_word(const std::string& word) {
  double plain = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), plain);
  if (error == std::errc{} && end == word.data() + word.size()) return plain;
  for (const control::QuantityKind* kind :
       {&control::kBytesQuantity, &control::kDurationQuantity, &control::kRateQuantity, &control::kLengthQuantity,
        &control::kShareQuantity}) {
    if (const auto value = control::parse_quantity(word, *kind)) return static_cast<double>(*value);
  }
  return std::nullopt;
}

struct Sample {
  std::vector<size_t> places;
  std::vector<double> numbers;  // sorted; of the repeated axis, else one
};

class SweepPicture {
 public:
  SweepPicture(const SweepResult& result, const SweepPictureWish& wish, SweepColumn column)
      : result_(result), over_(wish.over), column_(std::move(column)) {
    take_samples();
    for (size_t i = 0; i < axes().size(); ++i) {
      if (i != over_ && axes()[i].values.size() > 1) shown_.push_back(i);
    }
  }

  std::expected<std::string, std::string> draw(std::optional<SweepPictureKind> wished) {
    if (samples_.empty()) return std::unexpected(fmt::format("no run has a number in {}", column_.name));
    const SweepPictureKind kind = wished.value_or(usual_kind());
    if (kind == SweepPictureKind::kHeat) return shown_.size() == 2 ? draw_heat() : two_axes_missing();
    if (kind == SweepPictureKind::kBoxes) return draw_boxes();
    if (!has_numbers()) return std::unexpected("lines need a path whose values are numbers, before all others");
    return draw_lines();
  }

 private:
  const std::vector<Axis>& axes() const { return result_.combinations.axes(); }

  std::expected<std::string, std::string> two_axes_missing() const {
    return std::unexpected(fmt::format("a heat map needs two paths that vary, and here {} {}", shown_.size(),
                                       shown_.size() == 1 ? "does" : "do"));
  }

  bool has_numbers() const {
    return !shown_.empty() && std::ranges::all_of(axes()[shown_[0]].values,
                                                  [](const auto& word) { return number_of_word(word).has_value(); });
  }
  SweepPictureKind usual_kind() const { return has_numbers() ? SweepPictureKind::kLines : SweepPictureKind::kBoxes; }

  void take_samples() {
    std::map<std::vector<size_t>, std::vector<double>> by_places;
    for (size_t i = 0; i < result_.rows.size(); ++i) {
      const control::Json value = result_.value(result_.rows[i], column_.name);
      if (!value.is_number()) continue;
      std::vector<size_t> places = result_.combinations.places(i);
      if (over_) places[*over_] = 0;
      by_places[places].push_back(value.get<double>());
    }
    for (auto& [places, numbers] : by_places) {
      std::ranges::sort(numbers);
      samples_.push_back({places, std::move(numbers)});
    }
  }

  void head(Svg& svg, std::string_view what) const {
    svg.text({20, 26}, fmt::format("{}: {}", std::filesystem::path(result_.testbed).stem().string(), column_.name),
             {.size = 16, .is_bold = true});
    std::string below{what};
    if (over_) below += fmt::format(", over {} values of {}", axes()[*over_].values.size(), axes()[*over_].path);
    svg.text({20, 46}, below, kSweepText);
  }

  // The values' axis, from a round number to a round number.
  void scale_to(double least, double most) {
    if (least > 0 && least < 0.7 * most) least = 0;
    if (most <= least) most = least + std::max(std::abs(least), 1.0);
    const double step = control::axis_step(most - least, kMostSweepSteps);
    low_ = step * std::floor(least / step);
    high_ = step * std::ceil(most / step);
    step_ = step;
  }
  double y_of(double value) const { return kSweepBottom - kSweepHeight * (value - low_) / (high_ - low_); }
  void draw_scale(Svg& svg) const {
    for (double i = std::round(low_ / step_); i <= std::round(high_ / step_); ++i) {
      const double value = i * step_;
      svg.line({kSweepLeft, y_of(value)}, {kSweepRight, y_of(value)}, i == 0 ? "#222222" : "#dddddd", 1);
      svg.text({kSweepLeft - 8, y_of(value) + 4}, quantity_text(column_.key, value), {.size = 11, .anchor = "end"});
    }
  }

  // What a sample's values of some axes are: "qps 4, seed 2".
  std::string words_of(const Sample& sample, size_t from) const {
    const std::vector<std::string> names = result_.combinations.names();
    std::string out;
    for (size_t i = from; i < shown_.size(); ++i) {
      const size_t axis = shown_[i];
      out += (out.empty() ? "" : ", ") + names[axis] + " " + axes()[axis].values[sample.places[axis]];
    }
    return out;
  }

  std::string draw_lines() {
    std::map<std::vector<size_t>, std::vector<const Sample*>> lines;
    double least = std::numeric_limits<double>::max();
    double most = std::numeric_limits<double>::lowest();
    for (const Sample& sample : samples_) {
      std::vector<size_t> key = sample.places;
      key[shown_[0]] = 0;
      lines[key].push_back(&sample);
      const SweepSpread spread = spread_of(sample.numbers);
      least = std::min(least, spread.mean - spread.confidence);
      most = std::max(most, spread.mean + spread.confidence);
    }
    scale_to(least, most);
    const bool has_legend = shown_.size() > 1;
    Svg svg{kSweepWidth, kSweepBottom + 52 + (has_legend ? kSweepLegendLine * static_cast<double>(lines.size()) : 0)};
    head(svg, over_ ? "mean and its 95 % confidence interval" : "one run each");
    draw_scale(svg);
    place_numbers(svg);
    size_t index = 0;
    for (const auto& [key, samples] : lines) {
      const char* const colour = kSweepColours[index % kSweepColours.size()];
      draw_line(svg, samples, colour);
      const double y = kSweepBottom + 58 + kSweepLegendLine * static_cast<double>(index);
      if (has_legend) {
        svg.box({kSweepLeft, y - 9}, 10, 10, colour);
        svg.text({kSweepLeft + 18, y}, words_of(*samples.front(), 1), kSweepText);
      }
      ++index;
    }
    return std::move(svg).finish();
  }

  // Of the axis below: logarithmic if the largest is 16 times the least.
  void place_numbers(Svg& svg) {
    const Axis& axis = axes()[shown_[0]];
    std::vector<double> numbers;
    for (const std::string& word : axis.values) numbers.push_back(*number_of_word(word));
    const auto [least, most] = std::ranges::minmax(numbers);
    const bool is_log = least > 0 && most / least >= 16;
    const auto at = [&](double value) { return is_log ? std::log(value) : value; };
    const double span = most > least ? at(most) - at(least) : 1;
    for (const double number : numbers)
      x_.push_back(kSweepLeft + 20 + (kSweepRight - kSweepLeft - 40) * (at(number) - at(least)) / span);
    const size_t every = (numbers.size() + kMostNamedPlaces / 2 - 1) / (kMostNamedPlaces / 2);
    for (size_t i = 0; i < numbers.size(); i += every) {
      svg.line({x_[i], kSweepBottom}, {x_[i], kSweepBottom + 5}, "#222222", 1);
      svg.text({x_[i], kSweepBottom + 18}, axis.values[i], {.size = 11, .anchor = "middle"});
    }
    svg.text({(kSweepLeft + kSweepRight) / 2, kSweepBottom + 36}, axis.path, {.size = 12, .anchor = "middle"});
  }

  void draw_line(Svg& svg, std::vector<const Sample*> samples, const char* colour) const {
    const auto x = [&](const Sample& sample) { return x_[sample.places[shown_[0]]]; };
    std::ranges::sort(samples, {}, [&](const Sample* sample) { return x(*sample); });
    std::optional<Point> before;
    for (const Sample* sample : samples) {
      const SweepSpread spread = spread_of(sample->numbers);
      const Point here{x(*sample), y_of(spread.mean)};
      if (before) svg.line(*before, here, colour, 2);
      if (spread.confidence > 0)
        svg.line({here.x, y_of(spread.mean - spread.confidence)}, {here.x, y_of(spread.mean + spread.confidence)},
                 colour, 1.5);
      svg.box({here.x - 3.5, here.y - 3.5}, 7, 7, colour, "none", 1, 0,
              fmt::format("{}: {}", words_of(*sample, 0), quantity_text(column_.key, spread.mean)));
      before = here;
    }
  }

  std::string draw_boxes() {
    scale_to(std::ranges::min(samples_, {}, [](const Sample& s) { return s.numbers.front(); }).numbers.front(),
             std::ranges::max(samples_, {}, [](const Sample& s) { return s.numbers.back(); }).numbers.back());
    const double room = (kSweepRight - kSweepLeft) / static_cast<double>(samples_.size());
    const bool is_named = samples_.size() <= kMostNamedPlaces;
    Svg svg{kSweepWidth, kSweepBottom + 40 + (is_named ? kSweepLegendLine * static_cast<double>(samples_.size()) : 0)};
    head(svg, "least, quartiles, median, most");
    draw_scale(svg);
    for (size_t i = 0; i < samples_.size(); ++i) {
      const double middle = kSweepLeft + room * (static_cast<double>(i) + 0.5);
      draw_box(svg, samples_[i], middle, room * kBoxShare);
      if (!is_named) continue;
      svg.text({middle, kSweepBottom + 18}, std::to_string(i + 1), {.size = 11, .anchor = "middle"});
      svg.text({kSweepLeft, kSweepBottom + 44 + kSweepLegendLine * static_cast<double>(i)},
               fmt::format("{}: {}", i + 1, words_of(samples_[i], 0)), kSweepText);
    }
    return std::move(svg).finish();
  }

  void draw_box(Svg& svg, const Sample& sample, double middle, double width) const {
    const std::vector<double>& all = sample.numbers;
    const auto at = [&](double share) {
      const double place = share * static_cast<double>(all.size() - 1);
      const auto below = static_cast<size_t>(place);
      const size_t above = std::min(below + 1, all.size() - 1);
      return all[below] + (all[above] - all[below]) * (place - static_cast<double>(below));
    };
    const char* const colour = kSweepColours[0];
    svg.line({middle, y_of(all.front())}, {middle, y_of(all.back())}, colour, 1.5);
    svg.box(
        {middle - width / 2, y_of(at(0.75))}, width, std::max(1.0, y_of(at(0.25)) - y_of(at(0.75))), "#cfe3f1", colour,
        1.5, 0,
        fmt::format("{}: {} to {}, median {}, of {} runs", words_of(sample, 0), quantity_text(column_.key, all.front()),
                    quantity_text(column_.key, all.back()), quantity_text(column_.key, at(0.5)), all.size()));
    svg.line({middle - width / 2, y_of(at(0.5))}, {middle + width / 2, y_of(at(0.5))}, "#d55e00", 2);
  }

  std::string draw_heat() const {
    const Axis& across = axes()[shown_[0]];
    const Axis& down = axes()[shown_[1]];
    double least = std::numeric_limits<double>::max();
    double most = std::numeric_limits<double>::lowest();
    for (const Sample& sample : samples_) {
      least = std::min(least, spread_of(sample.numbers).mean);
      most = std::max(most, spread_of(sample.numbers).mean);
    }
    const double height = std::clamp(kSweepHeight / static_cast<double>(down.values.size()), 4.0, 60.0);
    const double width = (kSweepRight - kSweepLeft - 40) / static_cast<double>(across.values.size());
    const double bottom = kSweepTop + height * static_cast<double>(down.values.size());
    Svg svg{kSweepWidth, bottom + 52};
    head(svg, over_ ? "mean" : "one run each");
    for (const Sample& sample : samples_) {
      const double mean = spread_of(sample.numbers).mean;
      const double share = most > least ? (mean - least) / (most - least) : 0;
      const Point corner{kSweepLeft + 40 + width * static_cast<double>(sample.places[shown_[0]]),
                         kSweepTop + height * static_cast<double>(sample.places[shown_[1]])};
      const std::string value = quantity_text(column_.key, mean);
      svg.box(corner, width, height, heat_colour(share), "#ffffff", 1, 0,
              fmt::format("{}: {}", words_of(sample, 0), value));
      if (width > 60 && height >= 16)
        svg.text({corner.x + width / 2, corner.y + height / 2 + 4}, value,
                 {.size = 11, .colour = share > 0.55 ? "#ffffff" : "#222222", .anchor = "middle"});
    }
    name_heat(svg, across, down, {width, height}, bottom);
    return std::move(svg).finish();
  }

  void name_heat(Svg& svg, const Axis& across, const Axis& down, Point cell, double bottom) const {
    // Names keep their distance.
    const auto every = [](double room, double least) {
      return std::max<size_t>(1, static_cast<size_t>(std::ceil(least / room)));
    };
    for (size_t i = 0; i < across.values.size(); i += every(cell.x, 40))
      svg.text({kSweepLeft + 40 + cell.x * (static_cast<double>(i) + 0.5), bottom + 18}, across.values[i],
               {.size = 11, .anchor = "middle"});
    for (size_t i = 0; i < down.values.size(); i += every(cell.y, 14))
      svg.text({kSweepLeft + 32, kSweepTop + cell.y * (static_cast<double>(i) + 0.5) + 4}, down.values[i],
               {.size = 11, .anchor = "end"});
    svg.text({(kSweepLeft + kSweepRight) / 2, bottom + 38},
             fmt::format("across: {}   down: {}", across.path, down.path), {.size = 12, .anchor = "middle"});
  }

  // From light to dark blue: also without colours.
  static std::string heat_colour(double share) {
    const auto mix = [share](double light, double dark) { return static_cast<int>(light + (dark - light) * share); };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(0xe8, 0x08), mix(0xf1, 0x30), mix(0xfa, 0x6b));
  }

  const SweepResult& result_;
  std::optional<size_t> over_;
  SweepColumn column_;
  std::vector<Sample> samples_;
  std::vector<size_t> shown_;  // axes that vary, but the repeated one
  std::vector<double> x_;      // by place on the first of them
  double low_ = 0;
  double high_ = 1;
  double step_ = 1;
};

}  // namespace

std::expected<std::string, std::string> sweep_picture(const SweepResult& result, const SweepPictureWish& wish) {
  const std::vector<SweepColumn> columns = result.columns();
  if (columns.empty()) return std::unexpected("no run has what --collect names");
  const auto column =
      wish.column.empty() ? columns.begin() : std::ranges::find(columns, wish.column, &SweepColumn::name);
  if (column == columns.end()) {
    std::string known;
    for (const SweepColumn& each : columns) known += (known.empty() ? "" : ", ") + each.name;
    return std::unexpected(fmt::format("there is no column {}: there are {}", wish.column, known));
  }
  return SweepPicture(result, wish, *column).draw(wish.kind);
}

}  // namespace softspine::tools
