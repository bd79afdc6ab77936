// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/polarization_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "control/telemetry/svg.hpp"

namespace softspine::analysis {

namespace {

// Colour by load over share: blue at 0, grey at 1, red at 2 and more.
std::string colour_of(double load) {
  const double t = std::clamp(load, 0.0, 2.0);
  const auto mix = [](double from, double to, double part) { return static_cast<int>(from + (to - from) * part); };
  if (t < 1) return fmt::format("rgb({},{},{})", mix(60, 170, t), mix(110, 170, t), mix(220, 170, t));
  return fmt::format("rgb({},{},{})", mix(170, 210, t - 1), mix(170, 40, t - 1), mix(170, 40, t - 1));
}

constexpr double kWidth = 1'200;
constexpr double kLeft = 60;  // of the bars; the scale stands before
constexpr double kRight = 1'190;
constexpr double kLegend = 44;
constexpr double kStrip = 170;
constexpr double kTitle = 26;
constexpr double kBars = 100;
constexpr double kIdle = 6;
constexpr double kDenseNote = 12;  // a line of words above the columns of a dense strip
constexpr size_t kMostBars = 565;  // two pixels each
constexpr size_t kColumns = 280;   // four
constexpr double kLetter = 6.2;    // width of one, at most
constexpr const char* kBandColour = "#d8efd8";
constexpr const char* kIdleColour = "#1040c0";
constexpr control::TextStyle kSmall{.size = 11};

struct Bar {
  double load = 0;  // over its share
  uint64_t flows = 0;
  double expected = 0;
  control::LinkEnd link;
};

std::vector<Bar> bars_of(const Polarization& found, const TierShare& tier) {
  std::vector<Bar> out;
  for (const EcmpGroupLoad& load : tier.groups) {
    const LinkGroup& group = found.choices.groups[load.group];
    const auto flows = static_cast<double>(std::accumulate(load.flows.begin(), load.flows.end(), uint64_t{0}));
    for (size_t i = 0; i < group.links.size(); ++i) {
      const double expected = flows * group.weights[i];
      out.push_back({static_cast<double>(load.flows[i]) / expected, load.flows[i], expected, group.links[i]});
    }
  }
  return out;
}

class Strip {
 public:
  Strip(control::Svg& svg, const control::Fabric& fabric, const std::vector<Bar>& bars, double top)
      : svg_(svg),
        fabric_(fabric),
        bars_(bars),
        floor_(top + kTitle + kBars),
        step_((kRight - kLeft) / static_cast<double>(std::max<size_t>(1, bars.size()))) {
    for (const Bar& bar : bars) highest_ = std::max(highest_, bar.load);
  }

  void draw() {
    draw_band();
    draw_scale();
    for (size_t i = 0; i < bars_.size(); ++i) draw_bar(i);
    draw_idle();
    draw_names();
  }

 private:
  double x_of(size_t bar) const { return kLeft + static_cast<double>(bar) * step_; }
  double y_of(double load) const { return floor_ - load / highest_ * kBars; }

  // Two deviations of a link with the mean of what links expect.
  void draw_band() {
    double expected = 0;
    for (const Bar& bar : bars_) expected += bar.expected / static_cast<double>(bars_.size());
    const double deviations = expected > 0 ? 2 / std::sqrt(expected) : 0;
    const double upper = std::min(1 + deviations, highest_);
    const double lower = std::max(1 - deviations, 0.0);
    svg_.box({kLeft, y_of(upper)}, kRight - kLeft, y_of(lower) - y_of(upper), kBandColour);
  }
  void draw_scale() {
    for (const double load : {1.0, highest_}) {
      svg_.line({kLeft, y_of(load)}, {kRight, y_of(load)}, load == 1 ? "#222222" : "#bbbbbb", 1, "4");
      svg_.text({kLeft - 6, y_of(load) + 4}, fmt::format("{:.1f}", load), {.size = 11, .anchor = "end"});
    }
    svg_.line({kLeft, floor_}, {kRight, floor_}, "#222222", 1);
  }
  void draw_bar(size_t i) {
    const Bar& bar = bars_[i];
    if (bar.flows == 0) return;
    svg_.box({x_of(i), y_of(bar.load)}, std::max(0.4, step_ * 0.9), floor_ - y_of(bar.load), colour_of(bar.load),
             "none", 1, 0,
             fmt::format("{}: {} flows, its share is {:.1f}", fabric_.name_of(bar.link), bar.flows, bar.expected));
  }
  void draw_idle() {
    for (size_t begin = 0; begin < bars_.size(); ++begin) {
      size_t end = begin;
      while (end < bars_.size() && bars_[end].flows == 0) ++end;
      if (end == begin) continue;
      std::string names = fabric_.name_of(bars_[begin].link);
      if (end - begin > 1) names += " … " + fabric_.name_of(bars_[end - 1].link);
      svg_.box({x_of(begin), floor_ + 1}, std::max(1.0, x_of(end) - x_of(begin) - step_ * 0.1), kIdle, kIdleColour,
               "none", 1, 0, names + ": no flow");
      begin = end - 1;
    }
  }
  void draw_names() {
    double free_from = kLeft;
    for (size_t i = 0; i < bars_.size(); ++i) {
      const uint32_t node = bars_[i].link.node;
      if (i > 0 && bars_[i - 1].link.node == node) continue;
      const std::string& name = fabric_.nodes[node].name;
      const double width = static_cast<double>(name.size()) * kLetter;
      if (x_of(i) < free_from || x_of(i) + width > kWidth) continue;
      svg_.text({x_of(i), floor_ + 20}, name, kSmall);
      free_from = x_of(i) + width + kLetter;
    }
  }

  control::Svg& svg_;
  const control::Fabric& fabric_;
  const std::vector<Bar>& bars_;
  double floor_;
  double step_;
  double highest_ = 2;
};

// A tier of so many links that bars would lie upon each other: a column for each switch, or for several that stand side
// by side.
class DenseStrip {
 public:
  DenseStrip(control::Svg& svg, const control::Fabric& fabric, const std::vector<Bar>& bars, double top)
      : svg_(svg), fabric_(fabric), floor_(top + kTitle + kDenseNote + kBars) {
    for (size_t begin = 0; begin < bars.size();) {
      size_t end = begin;
      while (end < bars.size() && bars[end].link.node == bars[begin].link.node) ++end;
      switches_.push_back(std::span{bars}.subspan(begin, end - begin));
      begin = end;
    }
    each_ = (switches_.size() + kColumns - 1) / kColumns;
    step_ = (kRight - kLeft) / static_cast<double>((switches_.size() + each_ - 1) / each_);
  }

  void draw(double idle_by_chance) {
    svg_.text({kLeft, floor_ - kBars - 6},
              "each column: the links of a switch" +
                  (each_ > 1 ? fmt::format(", or of up to {} side by side", each_) : std::string{}) +
                  ", those with the fewest flows at the bottom; dashes: as many have none by chance",
              kSmall);
    for (size_t i = 0; i < switches_.size(); i += each_) draw_column(i);
    svg_.line({kLeft, floor_}, {kRight, floor_}, "#222222", 1);
    const double chance = floor_ - std::clamp(idle_by_chance, 0.0, 1.0) * kBars;
    svg_.line({kLeft, chance}, {kRight, chance}, "#ffffff", 2.5);
    svg_.line({kLeft, chance}, {kRight, chance}, "#222222", 1, "4");
    for (const auto& [share, words] : {std::pair{0.0, "0 %"}, std::pair{1.0, "100 %"}})
      svg_.text({kLeft - 6, floor_ - share * kBars + 4}, words, {.size = 11, .anchor = "end"});
    draw_names();
  }

 private:
  static constexpr size_t kSlices = 20;  // of a column, where its links differ

  double x_of(size_t first) const { return kLeft + static_cast<double>(first / each_) * step_; }
  const std::string& name_of(size_t at) const { return fabric_.nodes[switches_[at].front().link.node].name; }

  void draw_column(size_t first) {
    std::vector<double> loads;
    const size_t last = std::min(first + each_, switches_.size()) - 1;
    for (size_t i = first; i <= last; ++i) {
      for (const Bar& bar : switches_[i]) loads.push_back(bar.load);
    }
    std::ranges::sort(loads);
    const auto idle = static_cast<size_t>(std::ranges::count(loads, 0.0));
    const std::string tip =
        fmt::format("{}{}: {} links, {} without a flow, the fullest has {:.1f} times its share", name_of(first),
                    last > first ? " … " + name_of(last) : "", loads.size(), idle, loads.back());
    const size_t slices = std::min(kSlices, loads.size() - idle);
    if (idle > 0) draw_part(first, 0, idle, loads.size(), kIdleColour, tip);
    for (size_t i = 0; i < slices; ++i) {
      const size_t from = idle + (loads.size() - idle) * i / slices;
      const size_t to = idle + (loads.size() - idle) * (i + 1) / slices;
      draw_part(first, from, to, loads.size(), colour_of(loads[(from + to - 1) / 2]), tip);
    }
  }
  void draw_part(size_t first, size_t from, size_t to, size_t of, const std::string& colour, const std::string& tip) {
    const auto y = [&](size_t at) { return floor_ - kBars * static_cast<double>(at) / static_cast<double>(of); };
    svg_.box({x_of(first), y(to)}, step_ * kFilled, y(from) - y(to) + kOverlap, colour, "none", 1, 0, tip);
  }
  void draw_names() {
    double free_from = kLeft;
    for (size_t i = 0; i < switches_.size(); i += each_) {
      const double width = static_cast<double>(name_of(i).size()) * kLetter;
      if (x_of(i) < free_from || x_of(i) + width > kWidth) continue;
      svg_.text({x_of(i), floor_ + 18}, name_of(i), kSmall);
      free_from = x_of(i) + width + kLetter;
    }
  }

  static constexpr double kFilled = 0.92;  // of a column's width
  static constexpr double kOverlap = 0.5;  // so that no paper is seen between parts
  control::Svg& svg_;
  const control::Fabric& fabric_;
  std::vector<std::span<const Bar>> switches_;
  double floor_;
  double step_ = 0;
  size_t each_ = 1;  // switches of a column
};

void draw_legend(control::Svg& svg, bool has_band) {
  double x = 10;
  const auto entry = [&](const std::string& colour, const char* what, double width) {
    svg.box({x, 12}, 16, 12, colour);
    svg.text({x + 22, 22}, what, kSmall);
    x += width;
  };
  entry(kIdleColour, "no flow", 90);
  entry(colour_of(0.3), "less than its share", 150);
  entry(colour_of(1), "its share of its group's flows", 210);
  entry(colour_of(2), "twice as much and more", 180);
  if (has_band) entry(kBandColour, "where an ideal hash has 19 of 20 links", 0);
}

}  // namespace

std::string polarization_picture(const control::Fabric& fabric, const Polarization& found) {
  control::Svg svg{kWidth, kLegend + static_cast<double>(found.tiers.size()) * kStrip};
  draw_legend(svg, std::ranges::any_of(found.tiers, [](const TierShare& it) { return it.links <= kMostBars; }));
  double top = kLegend;
  for (const TierShare& tier : found.tiers) {
    svg.text({10, top + 12},
             fmt::format(
                 "{}: {}. {} flows on {} links, {} without one (by chance {:.1f}), max/mean {:.2f} (by chance {:.2f})",
                 tier.tier.name, word_of(tier.verdict), tier.flows, tier.links, tier.idle, tier.idle_by_chance,
                 tier.by_flows.max_over_mean, tier.by_flows.by_chance),
             {.is_bold = true});
    const std::vector<Bar> bars = bars_of(found, tier);
    if (bars.size() > kMostBars) {
      DenseStrip(svg, fabric, bars, top).draw(tier.idle_by_chance / static_cast<double>(bars.size()));
    } else {
      Strip(svg, fabric, bars, top).draw();
    }
    top += kStrip;
  }
  return std::move(svg).finish();
}

}  // namespace softspine::analysis
