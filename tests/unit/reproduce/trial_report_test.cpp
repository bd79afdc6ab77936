// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/trial_report.hpp"

#include <gmock/gmock.h>

#include "control/telemetry/json.hpp"
#include "tools/softspine/reproduce/trial_picture.hpp"

namespace softspine::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

bool first_is_above_two(const Figures& found, const Grid&) {
  return found.mean.at(0, 0) > 2;
}

const Experiment& made_up() {
  static const Experiment it{.name = "made-up",
                             .paper = "A & B",
                             .figure = "Figure 0",
                             .shows = "nothing",
                             .unit = "GB/s",
                             .how_read = "invented",
                             .published = {.rows = {"one", "two"}, .columns = {"<x>"}, .values = {4, 0}},
                             .plans = nullptr,
                             .read = nullptr,
                             .claims = {{"one is more than 2", first_is_above_two, "it has to be so"}},
                             .assumed = {"All of it."}};
  return it;
}

Trial trial_of(double first) {
  Samples samples{made_up().published};
  for (const double plus : {-1.0, 1.0}) {
    Grid found = made_up().published;
    found.values = {first + plus, kNoNumber};
    samples.add(std::move(found));
  }
  Trial out{.experiment = &made_up(), .found = samples.figures(), .seeds = 2, .runs = 6, .seconds = 61.4};
  out.claims.push_back({&made_up().claims[0], first_is_above_two(out.found, made_up().published)});
  return out;
}

TEST(PaperTrialText, HasOursBesideThePapers) {
  const std::string text = trial_text(trial_of(5));
  EXPECT_THAT(text, HasSubstr("made-up: A & B, Figure 0: nothing"));
  EXPECT_THAT(text, HasSubstr("2 seeds, 6 runs, 61 s, small"));
  EXPECT_THAT(text, HasSubstr("one   <x>   4.00  5.00       1.41   4.00  6.00   1.25"));
  EXPECT_THAT(text, HasSubstr("two   <x>   0.00     -          -      -     -      -"));
  EXPECT_THAT(text, HasSubstr("Shape: 1 of 1 claims hold"));
  EXPECT_THAT(text, HasSubstr("  - All of it."));
  EXPECT_THAT(text, Not(HasSubstr("it has to be so")));
}

TEST(PaperTrialText, GivesTheReasonOfAClaimThatDoesNotHold) {
  const std::string text = trial_text(trial_of(1));
  EXPECT_THAT(text, HasSubstr("Shape: 0 of 1 claims hold"));
  EXPECT_THAT(text, HasSubstr("  NOT    one is more than 2\n         since it has to be so\n"));
}

TEST(PaperTrialText, SaysThatItWasInterrupted) {
  Trial trial = trial_of(5);
  EXPECT_TRUE(trial.holds());
  trial.was_interrupted = true;
  EXPECT_FALSE(trial.holds());
  EXPECT_THAT(trial_text(trial), HasSubstr("Interrupted: 2 seeds"));
}

TEST(PaperTrialJson, HasNullWhereThereIsNoNumber) {
  const control::Json json = trial_json(trial_of(5));
  EXPECT_EQ(json["cells"][0]["ratio"], 1.25);
  EXPECT_TRUE(json["cells"][1]["ours"].is_null());
  EXPECT_TRUE(json["cells"][1]["ratio"].is_null());
  EXPECT_EQ(json["claims"][0]["holds"], true);
  EXPECT_EQ(json["size"], "small");
  EXPECT_EQ(json["holds"], true);
}

TEST(PaperTrialPicture, HasABarForEachNumberAndALineForASpread) {
  const std::string svg = trial_picture(trial_of(5));
  EXPECT_THAT(svg, HasSubstr("<title>one, &lt;x&gt;, the paper: 4.00</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>one, &lt;x&gt;, ours: 5.00</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("two, &lt;x&gt;, ours")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  // From 0 to 6 in steps of 1 on 344 to 64: 4 is at 157.3, 5 at 110.7, 6 at 64.0. The pair of bars begins at 77.
  EXPECT_THAT(svg, HasSubstr("<rect x=\"78.0\" y=\"157.3\" width=\"10.0\" height=\"186.7\""));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"90.0\" y=\"110.7\" width=\"10.0\" height=\"233.3\""));
  EXPECT_THAT(svg, HasSubstr("x1=\"95.0\" y1=\"157.3\" x2=\"95.0\" y2=\"64.0\""));
  EXPECT_THAT(svg, HasSubstr(">6</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">7</text>")));
}

TEST(PaperTrialPicture, HasLossesBelowItsZero) {
  const std::string svg = trial_picture(trial_of(-4.5));
  // From 4 down to -6 in steps of 2: 0 is at 176.0, -4.5 at 302.0.
  EXPECT_THAT(svg, HasSubstr("<rect x=\"90.0\" y=\"176.0\" width=\"10.0\" height=\"126.0\""));
  EXPECT_THAT(svg, HasSubstr(">-6</text>"));
  EXPECT_THAT(svg, HasSubstr(">0</text>"));
}

TEST(PaperTrialPage, EscapesWhatItNames) {
  const std::string page = trials_page({trial_of(1)});
  EXPECT_THAT(page, HasSubstr("A &amp; B, Figure 0"));
  EXPECT_THAT(page, HasSubstr("<td>&lt;x&gt;"));
  EXPECT_THAT(page, HasSubstr("<li class=\"not\">does not hold: one is more than 2, since it has to be so</li>"));
  EXPECT_THAT(page, Not(HasSubstr("http-equiv")));
}

TEST(PaperNumbers, HaveTheDigitsThatMatter) {
  EXPECT_EQ(number_text(3.456), "3.46");
  EXPECT_EQ(number_text(-93.75), "-93.8");
  EXPECT_EQ(number_text(1234.5), "1234");
  EXPECT_EQ(number_text(kNoNumber), "-");
  EXPECT_EQ(ratio_text(1, 0), "-");
  EXPECT_EQ(ratio_text(kNoNumber, 2), "-");
  EXPECT_EQ(ratio_text(3, 2), "1.50");
}

TEST(PaperList, HasALineForEachExperiment) {
  EXPECT_THAT(experiment_list({made_up()}), HasSubstr("made-up     A & B  Figure 0"));
  EXPECT_EQ(experiments_json({made_up()})[0]["claims"][0], "one is more than 2");
}

}  // namespace
}  // namespace softspine::tools
