// SPDX-License-Identifier: Apache-2.0
#include "control/report/step_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "control/report/step_text.hpp"
#include "control/telemetry/svg.hpp"

namespace softspine::control {

namespace {

using dataplane::Duration;
using dataplane::Instant;

constexpr size_t kRankRows = 64;
constexpr size_t kCauseLines = 6;
constexpr double kStepWidth = 1'300;
constexpr double kBarsLeft = 130;
constexpr double kBarsRight = 1'280;
constexpr double kStepHead = 70;
constexpr double kBarRow = 26;
constexpr double kBarHeight = 20;
constexpr double kTextLine = 16;
constexpr TextStyle kStepSmall{.size = 11};
// By kind, each with its own strip of the row.
constexpr std::array kStepColours{"#1040c0", "#8040a0", "#58a868", "#c82828"};

struct Bars {
  const JobSteps* job = nullptr;
  std::vector<const RankSteps*> ranks;
  const RankSteps* longest = nullptr;  // who waited longest; null: nobody did
};

Bars bars_of(const JobSteps& job) {
  Bars out{.job = &job, .ranks = ranks_to_draw(job, kRankRows)};
  const auto length = [](const RankSteps& rank) { return rank.longest[0].to - rank.longest[0].from; };
  for (const RankSteps& rank : job.ranks) {
    if (rank.longest.empty()) continue;
    if (out.longest == nullptr || length(rank) > length(*out.longest)) out.longest = &rank;
  }
  return out;
}

class StepPicture {
 public:
  StepPicture(const StepsSnapshot& steps, const std::string& testbed) : testbed_(testbed) {
    for (const JobSteps& job : steps.jobs) {
      jobs_.push_back(bars_of(job));
      for (const RankSteps& rank : job.ranks) see_times_of(rank);
      height_ += height_of(jobs_.back());
    }
    if (to_ <= from_) to_ = from_ + Duration::ns(1);
  }

  std::string draw() const {
    Svg svg{kStepWidth, height_ + 24};
    draw_head(svg);
    double top = kStepHead;
    for (const Bars& bars : jobs_) {
      draw_job(svg, bars, top);
      top += height_of(bars);
    }
    if (jobs_.empty()) svg.text({20, kStepHead}, "there are no collectives and no trainings");
    draw_ends(svg, top);
    return std::move(svg).finish();
  }

 private:
  static double height_of(const Bars& bars) {
    const auto rows = static_cast<double>(bars.ranks.size());
    const auto lines = static_cast<double>(std::min(bars.job->causes.size(), kCauseLines) + 2);
    return 24 + rows * kBarRow + lines * kTextLine + 16;
  }
  void see_times_of(const RankSteps& rank) {
    for (const auto& spans : rank.spans) {
      if (spans.empty()) continue;
      from_ = is_empty_ ? spans.front().from : std::min(from_, spans.front().from);
      to_ = std::max(to_, spans.back().to);
      is_empty_ = false;
    }
  }
  double x_of(Instant at) const {
    const auto whole = static_cast<double>((to_ - from_).count_ps());
    return kBarsLeft + static_cast<double>((at - from_).count_ps()) / whole * (kBarsRight - kBarsLeft);
  }

  void draw_head(Svg& svg) const {
    svg.text({20, 24}, testbed_ + ": what ranks did, and what they waited for", {.size = 16, .is_bold = true});
    double x = 20;
    for (size_t kind = 0; kind < kStepWords.size(); ++kind) {
      svg.box({x, 40}, 14, 12, kStepColours[kind]);
      svg.text({x + 20, 50}, kStepWords[kind], kStepSmall);
      x += 96;
    }
  }

  void draw_job(Svg& svg, const Bars& bars, double top) const {
    svg.text({20, top + 12}, (bars.job->is_training ? "training " : "collective ") + bars.job->name,
             {.size = 13, .is_bold = true});
    double y = top + 24;
    for (const RankSteps* rank : bars.ranks) {
      draw_rank(svg, *rank, rank == bars.longest, y);
      y += kBarRow;
    }
    if (bars.longest != nullptr) {
      const StepWait& wait = bars.longest->longest[0];
      svg.text({20, y + 12},
               fmt::format("{} waited longest, {} for {}: {}", bars.longest->host, time_in_words(wait.to - wait.from),
                           wait.peer_host, reason_text(wait.reason)),
               {.size = 12, .colour = kStepColours[3]});
    }
    y += kTextLine;
    for (size_t i = 0; i < std::min(bars.job->causes.size(), kCauseLines); ++i) {
      const CauseOfWaits& it = bars.job->causes[i];
      y += kTextLine;
      svg.text(
          {36, y},
          fmt::format("{} of waits: {} {}{}", time_in_words(it.waited), kWaitCauseWords[static_cast<size_t>(it.cause)],
                      it.what, it.root.empty() ? "" : ", by " + it.root),
          kStepSmall);
    }
    if (bars.job->ranks.size() > bars.ranks.size())
      svg.text({36, y + kTextLine},
               fmt::format("and {} ranks that waited less", bars.job->ranks.size() - bars.ranks.size()), kStepSmall);
  }

  void draw_rank(Svg& svg, const RankSteps& rank, bool is_longest, double y) const {
    svg.text({20, y + 14}, fmt::format("{} {}", rank.rank, rank.host), kStepSmall);
    const double strip = kBarHeight / static_cast<double>(kStepWords.size());
    for (size_t kind = 0; kind < kStepWords.size(); ++kind) {
      for (const StepSpan& span : rank.spans[kind]) {
        const double width = std::max(0.5, x_of(span.to) - x_of(span.from));
        svg.box({x_of(span.from), y + strip * static_cast<double>(kind)}, width, strip, kStepColours[kind], "none", 1,
                0, fmt::format("{} {}", kStepWords[kind], time_in_words(span.busy)));
      }
    }
    if (!is_longest) return;
    const StepWait& wait = rank.longest[0];
    svg.box({x_of(wait.from), y - 1}, std::max(1.0, x_of(wait.to) - x_of(wait.from)), kBarHeight + 2, "none",
            kStepColours[3], 1.5, 0, reason_text(wait.reason));
  }

  void draw_ends(Svg& svg, double top) const {
    svg.line({kBarsLeft, top}, {kBarsRight, top}, "#888888", 1);
    svg.text({kBarsLeft, top + 14}, time_in_words(from_ - Instant{}), kStepSmall);
    svg.text({kBarsRight, top + 14}, time_in_words(to_ - Instant{}), {.size = 11, .anchor = "end"});
  }

  const std::string& testbed_;
  std::vector<Bars> jobs_;
  double height_ = kStepHead;
  bool is_empty_ = true;
  Instant from_;
  Instant to_;
};

}  // namespace

std::string step_picture(const StepsSnapshot& steps, const std::string& testbed) {
  return StepPicture{steps, testbed}.draw();
}

}  // namespace softspine::control
