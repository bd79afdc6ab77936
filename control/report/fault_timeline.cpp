// SPDX-License-Identifier: Apache-2.0
#include "control/report/fault_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "control/telemetry/svg.hpp"

namespace softspine::control {

namespace {

using dataplane::Duration;
using dataplane::Instant;

constexpr size_t kRows = 40;
constexpr double kWidth = 1'200;
constexpr double kLeft = 20;
constexpr double kRight = 1'180;
constexpr double kHead = 74;
constexpr double kRow = 84;
constexpr double kBand = 40;  // height of a row's time line
constexpr double kLetter = 11;
constexpr double kWords = 18;  // above it
constexpr const char* kBandColour = "#e4e4e4";
constexpr const char* kLossColour = "#c82828";
constexpr TextStyle kSmall{.size = 11};

struct Mark {
  const char* letter;
  const char* what;
  const char* colour;
  Instant LossWindow::* at;
};
constexpr std::array<Mark, 4> kMarks{{{"D", "first switch knows", "#1040c0", &LossWindow::detected},
                                      {"R", "routes have followed", "#8040a0", &LossWindow::converged},
                                      {"M", "all flows move again", "#c07000", &LossWindow::moving},
                                      {"A", "all as before", "#208040", &LossWindow::recovered}}};

// "1.25 ms"
std::string short_time(double ps) {
  constexpr std::array kUnits{"ps", "ns", "us", "ms", "s"};
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::abs(ps) >= 1000) {
    ps /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", ps, kUnits[unit]);
}

std::string packets_in_words(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " packet" : " packets");
}

class Picture {
 public:
  Picture(const FabricSnapshot& snapshot, const std::string& testbed) : end_(snapshot.instant), testbed_(testbed) {
    for (const FaultSnapshot& fault : snapshot.faults) {
      if (fault.window) rows_.push_back(&fault);
    }
    keep_costliest();
    choose_span();
  }

  std::string draw() {
    const size_t shown = rows_.size();
    Svg svg{kWidth, kHead + static_cast<double>(shown) * kRow + 34};
    draw_head(svg);
    for (size_t i = 0; i < shown; ++i) draw_row(svg, *rows_[i], kHead + static_cast<double>(i) * kRow);
    draw_scale(svg, kHead + static_cast<double>(shown) * kRow);
    return std::move(svg).finish();
  }

 private:
  // Of more faults than there is room for, those that lost most, or made a flow stand still longest; in their order.
  void keep_costliest() {
    if (rows_.size() <= kRows) return;
    left_out_ = rows_.size() - kRows;
    std::vector<size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [this](size_t i) {
      const LossWindow& window = *rows_[i]->window;
      return std::pair{window.lost.packets, longest_stall(window)};
    });
    order.resize(kRows);
    std::ranges::sort(order);
    std::vector<const FaultSnapshot*> kept;
    for (const size_t i : order) kept.push_back(rows_[i]);
    rows_ = std::move(kept);
  }

  // From a little before the first fault to a little after the last thing that is known of any.
  void choose_span() {
    if (rows_.empty()) return;
    Instant first = rows_[0]->window->at;
    Instant last = first;
    for (const FaultSnapshot* fault : rows_) {
      const LossWindow& window = *fault->window;
      first = std::min(first, window.at);
      last = std::max(last, window.lost.packets > 0 ? window.lost.last : window.at);
      for (const Instant at : {window.detected, window.converged, window.ended, window.moving, window.recovered}) {
        if (!at.is_never()) last = std::max(last, at);
      }
    }
    if (last == first) last = end_;
    const double margin = std::max(1.0, static_cast<double>((last - first).count_ps()) * 0.04);
    begin_ps_ = std::max(0.0, static_cast<double>(first.count_ps()) - margin);
    end_ps_ = static_cast<double>(last.count_ps()) + margin;
  }

  double x_of(Instant at) const { return x_of(static_cast<double>(at.count_ps())); }
  double x_of(double ps) const {
    return std::clamp(kLeft + (ps - begin_ps_) / (end_ps_ - begin_ps_) * (kRight - kLeft), kLeft, kRight);
  }

  void draw_head(Svg& svg) const {
    svg.text({kLeft, 24}, testbed_ + ": faults, and what each has cost", {.size = 16, .is_bold = true});
    double x = kLeft;
    const auto entry = [&](const char* colour, const std::string& what) {
      svg.box({x, 42}, 14, 12, colour);
      svg.text({x + 20, 52}, what, kSmall);
      x += 46 + 6.4 * static_cast<double>(what.size());
    };
    entry(kBandColour, "the fault lasts");
    entry(kLossColour, "packets lost by it");
    for (const Mark& mark : kMarks) entry(mark.colour, std::string(mark.letter) + ": " + mark.what);
    if (rows_.empty()) svg.text({kLeft, kHead + 14}, "no fault has struck");
  }

  static Duration longest_stall(const LossWindow& window) {
    Duration out;
    for (const FlowLoss& flow : window.flows) out = std::max(out, flow.stalled);
    return out;
  }
  static std::string words_for(const LossWindow& window) {
    std::string out = packets_in_words(window.lost.packets) + " lost";
    if (window.lost.packets > 0) {
      out += " in " + short_time(static_cast<double>((window.lost.last - window.at).count_ps()));
    }
    const Duration longest = longest_stall(window);
    if (longest.count_ps() > 0) {
      out += fmt::format(", a flow stood still for {}", short_time(static_cast<double>(longest.count_ps())));
    }
    return out;
  }

  void draw_row(Svg& svg, const FaultSnapshot& fault, double top) const {
    const LossWindow& window = *fault.window;
    const double floor = top + kWords + kBand;
    svg.text({kLeft, top + 12}, fault.what, {.size = 12, .is_bold = true});
    svg.text({kRight, top + 12}, words_for(window), {.size = 12, .anchor = "end"});
    const double from = x_of(window.at);
    const double to = window.ended.is_never() ? kRight : x_of(window.ended);
    svg.box({from, top + kWords}, std::max(1.0, to - from), kBand, kBandColour);
    draw_losses(svg, window, floor);
    svg.line({kLeft, floor}, {kRight, floor}, "#888888", 1);
    double free_from = 0;  // a letter beside a near one, not upon it
    for (const Mark& mark : kMarks) {
      const Instant at = window.*mark.at;
      if (at.is_never() || at == window.at) continue;
      const double letter = std::abs(x_of(at) - free_from + kLetter) < kLetter ? free_from : x_of(at);
      free_from = letter + kLetter;
      svg.line({x_of(at), top + kWords}, {x_of(at), floor + 4}, mark.colour, 1.5);
      svg.text({letter, floor + 15}, mark.letter, {.size = 11, .colour = mark.colour, .anchor = "middle"});
    }
  }

  void draw_losses(Svg& svg, const LossWindow& window, double floor) const {
    const LossBins& bins = window.over_time;
    const uint32_t most = *std::ranges::max_element(bins.packets);
    for (size_t i = 0; i < bins.packets.size(); ++i) {
      if (bins.packets[i] == 0) continue;
      const Instant from = window.at + bins.width * static_cast<int64_t>(i);
      const double height = std::max(2.0, kBand * bins.packets[i] / most);
      const double width = std::max(1.5, x_of(from + bins.width) - x_of(from));
      svg.box({x_of(from), floor - height}, width, height, kLossColour, "none", 1, 0,
              packets_in_words(bins.packets[i]) + " in " + short_time(static_cast<double>(bins.width.count_ps())));
    }
  }

  void draw_scale(Svg& svg, double top) const {
    const double step = axis_step(end_ps_ - begin_ps_, 9);
    for (double at = std::ceil(begin_ps_ / step) * step; at <= end_ps_; at += step) {
      svg.line({x_of(at), kHead}, {x_of(at), top}, "#cccccc", 0.7, "3");
      svg.text({x_of(at), top + 14}, short_time(at), {.size = 11, .anchor = "middle"});
    }
    if (left_out_ > 0)
      svg.text({kLeft, top + 30}, fmt::format("and {} more faults, which lost no more than these", left_out_), kSmall);
  }

  Instant end_;
  const std::string& testbed_;
  std::vector<const FaultSnapshot*> rows_;
  size_t left_out_ = 0;
  double begin_ps_ = 0;
  double end_ps_ = 1e9;
};

}  // namespace

std::string fault_timeline(const FabricSnapshot& snapshot, const std::string& testbed) {
  return Picture{snapshot, testbed}.draw();
}

}  // namespace softspine::control
