// SPDX-License-Identifier: Apache-2.0
// A trial with a made-up figure: two testbeds, whose results follow from their text.
#include "tools/softspine/reproduce/paper_trial.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/scenario/run/running_testbed.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {
namespace {

using testing::HasSubstr;

std::string text_of(uint64_t kib, uint64_t seed) {
  return fmt::format(
      "name: tiny\n"
      "run: {{clock: virtual, duration: 1ms, seed: {0}}}\n"
      "fabric: {{kind: star, hosts: 2, host_link: {{rate: 100Gbps, length: 3m}}}}\n"
      "workload: [{{name: it, pattern: pairs, from: [h1], to: [h2], message: {1}KiB}}]\n",
      seed, kib * seed);
}

std::vector<Plan> tiny_plans(TrialSize, uint64_t seed) {
  return {{"one", text_of(1, seed)}, {"ten", text_of(10, seed)}};
}

std::vector<Plan> wrong_plans(TrialSize, uint64_t) {
  return {{"wrong", "name: it\nspeed: 3\n"}};
}

void tiny_read(const control::Json& report, size_t plan, Grid& out) {
  out.at(plan, 0) = number_of(report, {"flows", "it", "received_bytes"}) / 1'024;
}

bool is_ten_times(const Figures& found, const Grid&) {
  return found.mean.at(1, 0) == 10 * found.mean.at(0, 0);
}
bool is_twenty_times(const Figures& found, const Grid&) {
  return found.mean.at(1, 0) == 20 * found.mean.at(0, 0);
}

Experiment tiny() {
  return {.name = "tiny",
          .published = {.rows = {"one", "ten"}, .columns = {"KiB"}, .values = {1, 10}},
          .seeds = 3,
          .plans = tiny_plans,
          .read = tiny_read,
          .claims = {{"ten times", is_ten_times, ""}, {"twenty times", is_twenty_times, "it is ten"}}};
}

std::expected<std::optional<control::Json>, std::string> run_it(const control::Testbed& testbed) {
  return testbeds::run_whole(testbed).report;
}

const TellRuns kSilent = [](uint32_t, uint32_t) {};

TEST(PaperTrial, RunsEachTestbedWithEachSeedAndJudges) {
  const Experiment it = tiny();
  std::vector<uint64_t> seeds;
  uint32_t told = 0;
  const auto run = [&](const control::Testbed& testbed) {
    seeds.push_back(testbed.run.seed);
    EXPECT_EQ(testbed.run.workers, 2U);
    return run_it(testbed);
  };
  const auto trial = try_out(it, {.workers = 2}, run, [&](uint32_t done, uint32_t all) {
    EXPECT_EQ(done, told++);
    EXPECT_EQ(all, 6U);
  });
  ASSERT_TRUE(trial) << trial.error();
  EXPECT_EQ(seeds, (std::vector<uint64_t>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(trial->seeds, 3U);
  EXPECT_EQ(trial->runs, 6U);
  EXPECT_DOUBLE_EQ(trial->found.mean.at(0, 0), 2);
  EXPECT_DOUBLE_EQ(trial->found.deviation.at(0, 0), 1);
  EXPECT_DOUBLE_EQ(trial->found.most.at(1, 0), 30);
  EXPECT_TRUE(trial->claims[0].held);
  EXPECT_FALSE(trial->claims[1].held);
  EXPECT_FALSE(trial->holds());
}

TEST(PaperTrial, GivesPercentsOfTheBestIfAsked) {
  Experiment it = tiny();
  it.is_of_best = true;
  const auto trial = try_out(it, {.seeds = 2}, run_it, kSilent);
  ASSERT_TRUE(trial) << trial.error();
  EXPECT_DOUBLE_EQ(trial->found.mean.at(1, 0), 100);
  EXPECT_DOUBLE_EQ(trial->found.mean.at(0, 0), 10);
  EXPECT_DOUBLE_EQ(trial->found.most.at(1, 0), 100 * 20 / 15.0);
}

TEST(PaperTrial, KeepsWhatItHasFoundWhenItIsInterrupted) {
  const Experiment it = tiny();
  int runs = 0;
  const auto run = [&](const control::Testbed& testbed) -> decltype(run_it(testbed)) {
    if (++runs == 4) return std::nullopt;
    return run_it(testbed);
  };
  const auto trial = try_out(it, {}, run, kSilent);
  ASSERT_TRUE(trial) << trial.error();
  EXPECT_TRUE(trial->was_interrupted);
  EXPECT_EQ(trial->seeds, 1U);
  EXPECT_EQ(trial->runs, 3U);
  EXPECT_DOUBLE_EQ(trial->found.mean.at(1, 0), 10);
  EXPECT_FALSE(trial->holds());
}

TEST(PaperTrial, NamesTheTestbedThatCannotRun) {
  const Experiment it = tiny();
  const auto fails = [](const control::Testbed&) -> decltype(run_it({})) { return std::unexpected("no memory"); };
  const auto trial = try_out(it, {}, fails, kSilent);
  ASSERT_FALSE(trial);
  EXPECT_EQ(trial.error(), "one, seed 1: no memory");
  Experiment wrong = tiny();
  wrong.plans = wrong_plans;
  const auto refused = try_out(wrong, {}, run_it, kSilent);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("nothing to build"));
}

TEST(PaperTrial, KeepsTheTestbedsOfItsFirstSeed) {
  const auto folder = std::filesystem::path(testing::TempDir()) / fmt::format("softspine-kept-{}", getpid());
  std::filesystem::create_directory(folder);
  const Experiment it = tiny();
  const auto trial = try_out(it, {.seeds = 2, .keep = folder.string()}, run_it, kSilent);
  ASSERT_TRUE(trial) << trial.error();
  EXPECT_EQ(testbeds::bytes_of(folder / "tiny-one.yaml"), text_of(1, 1));
  EXPECT_EQ(testbeds::bytes_of(folder / "tiny-ten.yaml"), text_of(10, 1));
  std::filesystem::remove_all(folder);
  const auto lost = try_out(it, {.keep = folder.string()}, run_it, kSilent);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error(), HasSubstr("cannot write"));
}

}  // namespace
}  // namespace softspine::tools
