// SPDX-License-Identifier: Apache-2.0
// Runs a testbed from its text, whole, and keeps what came of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "control/expect/judge.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/report.hpp"
#include "testbeds/run/running_fabric.hpp"

namespace softspine::testbeds {

struct Outcome {
  control::FabricSnapshot snapshot;
  control::Json report;
  std::string capture;  // the file's bytes, if it was asked for
  uint64_t leaked = 0;
  uint64_t most_packets = 0;  // under way at once, and in workers' caches
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Outcome run_whole(const control::Testbed& testbed, bool capture = false,
                         const std::filesystem::path& folder = {}, bool flat = false) {
  FabricOptions options{.run_folder = folder, .capture = std::nullopt, .flat = flat};
  const auto path = std::filesystem::path(testing::TempDir()) / ("softspine-" + std::to_string(getpid()) + ".pcapng");
  if (capture) options.capture = CaptureRequest{.path = path.string(), .ports = {}};
  auto fabric = RunningFabric::make(testbed, options);
  Outcome out;
  if (!fabric) {
    ADD_FAILURE() << fabric.error();
    return out;
  }
  const auto ran = (*fabric)->run();
  EXPECT_TRUE(ran) << ran.error();
  const auto closed = (*fabric)->close_capture();
  EXPECT_TRUE(closed) << closed.error();
  if (capture) {
    out.capture = bytes_of(path);
    std::filesystem::remove(path);
  }
  out.snapshot = (*fabric)->snapshot();
  out.report =
      control::report_json(out.snapshot, {.testbed = testbed.name, .clock = "virtual", .seed = testbed.run.seed});
  const Assembly& assembly = (*fabric)->assembly();
  out.most_packets = assembly.header_pool->made() + assembly.frame_pool->made();
  out.leaked = (*fabric)->drain();
  // The invariants of every run: nothing is counted twice or lost, and every packet came back to its pool.
  EXPECT_EQ(out.leaked, 0U);
  EXPECT_EQ(out.report["totals"]["imbalances"], control::Json::array());
  return out;
}

inline control::Testbed testbed_of(const std::string& text, const control::Overrides& overrides = {}) {
  auto testbed = control::parse_testbed(text, "test.yaml", overrides);
  if (!testbed) {
    for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  return *testbed;
}

inline Outcome run_text(const std::string& text, const control::Overrides& overrides = {}, bool capture = false) {
  const control::Testbed testbed = testbed_of(text, overrides);
  if (testing::Test::HasFailure()) return {};
  return run_whole(testbed, capture);
}

}  // namespace softspine::testbeds
