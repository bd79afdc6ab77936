// SPDX-License-Identifier: Apache-2.0
// Trainings of a testbed, whole: from the file to the report. Where nothing competes their times are closed forms; they
// are never shorter than those of a reference that knows compute and bandwidth alone.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/harness/seed.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr double kRate = 100e9 / 8;  // bytes a second
constexpr double kFrame = 4'178;     // on the wire, of 4,096 bytes of payload

std::string star(uint32_t hosts, const std::string& training, const std::string& nodes = "") {
  return fmt::format(
      "name: t\nrun: {{duration: 400ms}}\nfabric: {{kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: {}, "
      "host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}\n"
      "roles: {{tor: lossless}}\n{}training:\n  - {{name: g, algorithm: ring, protocol: simple, {}}}\n",
      hosts, nodes, training);
}

double seconds(const Json& at, const char* key) {
  return static_cast<double>(number(at, key)) / 1e12;
}

// Of a ring's AllReduce of n MiB on n ranks.
double ring_time(uint32_t n) {
  return 2.0 * (n - 1) * 256 * kFrame / kRate;
}

TEST(Training, OfOneLayerTakesItsComputeAndItsRing) {
  for (const uint32_t n : {2U, 4U, 8U}) {
    const Outcome out = run_text(
        star(n, fmt::format("tensor_parallel: {}, iterations: 2, layers: [{{name: l, forward: {{compute: 1ms, op: "
                            "all_reduce, size: {}MiB}}, update: 7us}}]",
                            n, n)));
    const Json& g = out.report["training"]["g"];
    EXPECT_EQ(g["steps_done"], 2);
    EXPECT_EQ(g["ranks_done"], n);
    EXPECT_NEAR(seconds(g, "step_ps") / (1e-3 + 7e-6 + ring_time(n)), 1, 0.005) << n;
    EXPECT_EQ(number(g["mean"], "compute_ps"), 1'007'000'000u);
    EXPECT_NEAR(seconds(g["mean"]["groups"]["tensor"], "exposed_ps") / ring_time(n), 1, 0.01) << n;
    EXPECT_EQ(number(g["mean"]["groups"]["tensor"], "sent_bytes"), uint64_t{2} * (n - 1) << 20);
    EXPECT_EQ(number(out.report["flows"]["g"], "received_bytes"), uint64_t{4} * n * (n - 1) << 20);
  }
}

constexpr const char* kTwoGroups =
    "tensor_parallel: 2, iterations: 2, channels: 2, compute_scale: {}%, layers: [{{name: a, times: 3, "
    "forward: {{compute: 400us, op: all_reduce, size: 1MiB}}, input_gradient: {{compute: 400us, op: all_reduce, "
    "size: 1MiB}}, weight_gradient: {{compute: 300us, op: all_reduce, size: 2MiB}}, update: 10us}}]";

TEST(Training, IsLongerByWhatItsComputeIsWhereNothingElseChanges) {
  const auto step_of = [](uint32_t percent) {
    const std::string layers = fmt::format(
        "tensor_parallel: 4, compute_scale: {}%, layers: [{{name: a, forward: {{compute: 400us, op: all_reduce, size: "
        "1MiB}}}}]",
        percent);
    return number(run_text(star(4, layers)).report["training"]["g"], "step_ps");
  };
  EXPECT_EQ(step_of(250) - step_of(100), 600'000'000u);
}

// The others wait for the slow one in every step, and do not compute longer for that.
TEST(Training, WaitsForTheOneSlowGpu) {
  const auto run_with = [](const std::string& scale, const std::string& nodes) {
    return run_text(star(4,
                         "tensor_parallel: 4, iterations: 3, layers: [{name: a, forward: {compute: 400us, op: "
                         "all_reduce, size: 1MiB}}]" +
                             scale,
                         nodes));
  };
  const Outcome one = run_with("", "topology: {nodes: {h3: {compute_scale: 250%}}}\n");
  const Json& slow = one.report["training"]["g"];
  EXPECT_EQ(number(slow["mean"], "compute_ps"), 550'000'000U) << "(3 * 400 us + 1 ms) / 4";
  EXPECT_EQ(slow["least_exposed"]["host"], "h3");
  const Outcome all = run_with(", compute_scale: 250%", "");
  const Json& each = all.report["training"]["g"];
  EXPECT_EQ(number(each["mean"], "compute_ps"), 1'000'000'000u);
  EXPECT_NEAR(seconds(slow, "step_ps") / seconds(each, "step_ps"), 1, 0.005);
}

TEST(Training, HidesGradientsBehindTheBackwardPass) {
  const auto run = [](uint32_t percent) { return run_text(star(8, fmt::format(fmt::runtime(kTwoGroups), percent))); };
  const Outcome slow = run(100);
  const Json& hidden = slow.report["training"]["g"]["mean"]["groups"]["data"];
  // The last of three layers' gradients alone has nothing to hide behind.
  EXPECT_GT(number(hidden, "overlapped_ps"), number(hidden, "exposed_ps"));
  const Outcome quick = run(1);
  const Json& shown = quick.report["training"]["g"]["mean"]["groups"]["data"];
  EXPECT_GT(number(shown, "exposed_ps"), number(hidden, "exposed_ps"));
}

TEST(Training, HasPartsThatMakeItsSteps) {
  const Outcome out = run_text(star(8, fmt::format(fmt::runtime(kTwoGroups), 50)));
  const Json& g = out.report["training"]["g"];
  const uint64_t step_ps = number(g, "step_ps");
  for (const Json& step : g["steps"]) {
    EXPECT_LE(number(step, "time_min_ps"), number(step, "time_ps"));
    EXPECT_LE(number(step, "time_ps"), number(step, "time_max_ps"));
  }
  EXPECT_NEAR(static_cast<double>(number(g["mean"], "compute_ps") + number(g["mean"], "exposed_ps")),
              static_cast<double>(step_ps), 8);
  EXPECT_GE(number(g["slowest"], "compute_ps") + number(g["slowest"], "exposed_ps") + 4, step_ps);
  EXPECT_LE(number(g["least_exposed"], "exposed_ps"), number(g["mean"], "exposed_ps"));
  EXPECT_EQ(g["longest_wait"]["layer"], "a");
}

TEST(Training, NamesWhoWaitsForWhomIfItDoesNotEnd) {
  const Outcome out =
      run_text(star(4, fmt::format(fmt::runtime(kTwoGroups), 100)) + "faults: [{at: 500us, node: h2, set: down}]\n");
  const Json& g = out.report["training"]["g"];
  EXPECT_EQ(g["steps_done"], 0);
  EXPECT_TRUE(g["step_ps"].is_null());
  EXPECT_TRUE(g["mean"]["compute_ps"].is_null());
  EXPECT_TRUE(g["slowest"]["host"].is_null());
  ASSERT_FALSE(g["waiting"].empty());
  const auto says = [](const Json& each) {
    return each["for"].get<std::string>().find("of its group tensor") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(g["waiting"], says));
}

TEST(Training, OfServersIsTheSameForAnyNumberOfWorkers) {
  const std::string text = star(8, fmt::format(fmt::runtime(kTwoGroups), 20),
                                "topology: {nodes: {h1: {server: a}, h2: {server: a}, h5: {server: b}, h6: {server: "
                                "b}}}\n");
  const Outcome one = run_text(text, {.workers = 1});
  const Outcome two = run_text(text, {.workers = 2});
  EXPECT_EQ(one.report["training"]["g"]["ranks_done"], 8);
  EXPECT_EQ(without_engine(one.report), without_engine(two.report));
}

struct DrawnLayer {
  uint64_t us[3];
  uint64_t kib[3];  // forward, input gradient: tensor group; weight gradient: data group
};

// By the definition of a step, with what a link carries at most.
double critical_path(const std::vector<DrawnLayer>& layers, uint32_t tensor, uint32_t data) {
  const auto ring = [](uint64_t kib, uint32_t n) {
    return n < 2 ? 0 : 2.0 * (n - 1) / n * static_cast<double>(kib) * 1024 / kRate;
  };
  double now = 0;
  double gradients = 0;
  for (const DrawnLayer& layer : layers) now += static_cast<double>(layer.us[0]) / 1e6 + ring(layer.kib[0], tensor);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    now += static_cast<double>(layer->us[1]) / 1e6 + ring(layer->kib[1], tensor);
    now += static_cast<double>(layer->us[2]) / 1e6;
    gradients = std::max(gradients, now) + ring(layer->kib[2], data);
  }
  return std::max(now, gradients);
}

std::string text_of(const std::vector<DrawnLayer>& layers, uint32_t tensor) {
  constexpr const char* kPhases[]{"forward", "input_gradient", "weight_gradient"};
  std::string out;
  for (const DrawnLayer& layer : layers) {
    out += std::string(out.empty() ? "" : ", ") + "{name: l";
    for (size_t i = 0; i < 3; ++i) {
      out += fmt::format(", {}: {{compute: {}us", kPhases[i], layer.us[i]);
      if (layer.kib[i] > 0) out += fmt::format(", op: all_reduce, size: {}KiB", layer.kib[i]);
      out += "}";
    }
    out += "}";
  }
  return fmt::format("tensor_parallel: {}, channels: 2, layers: [{}]", tensor, out);
}

TEST(Training, IsNeverShorterThanItsCriticalPath) {
  const uint32_t rounds = tests::to_draw(12);
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint64_t seed = tests::seed() * 1'000 + round;
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<DrawnLayer> layers(1 + random() % 3);
    for (DrawnLayer& layer : layers) {
      for (uint64_t& us : layer.us) us = random() % 200;
      for (uint64_t& kib : layer.kib) kib = random() % 4 == 0 ? 0 : 1 + random() % 2'000;
    }
    layers[0].kib[2] = 100;
    const uint32_t tensor = 1U << random() % 3;
    const Outcome out = run_text(star(8, text_of(layers, tensor)));
    const Json& g = out.report["training"]["g"];
    ASSERT_EQ(g["steps_done"], 1);
    const double path = critical_path(layers, tensor, 8 / tensor);
    EXPECT_GE(seconds(g["steps"]["0"], "time_min_ps"), path);
    // Messages of few bytes are latency, and the two groups share links.
    EXPECT_LE(seconds(g["steps"]["0"], "time_max_ps"), 3 * path + 1e-3);
  }
}

}  // namespace
}  // namespace softspine::testbeds
