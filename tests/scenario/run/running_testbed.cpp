// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/run/running_testbed.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "control/report/report.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/running_fabric.hpp"

namespace softspine::testbeds {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Outcome run_whole(const control::Testbed& testbed, bool capture, const std::filesystem::path& folder, bool flat) {
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
  const auto closed = (*fabric)->part<Captures>().close_all();
  EXPECT_TRUE(closed) << closed.error();
  if (capture) {
    out.capture = bytes_of(path);
    std::filesystem::remove(path);
  }
  out.snapshot = (*fabric)->snapshot();
  out.report =
      control::report_json(out.snapshot, {.testbed = testbed.name, .clock = "virtual", .seed = testbed.run.seed});
  const Assembly& assembly = (*fabric)->assembly();
  out.most_packets = assembly.packets_made();
  out.leaked = (*fabric)->drain();
  EXPECT_EQ(out.leaked, 0U);
  EXPECT_EQ(out.report["totals"]["imbalances"], control::Json::array());
  return out;
}

control::Testbed testbed_of(const std::string& text, const control::Overrides& overrides) {
  control::Overrides exact = overrides;
  if (!text.contains("clock_ppm") && !exact.clock_ppm) exact.clock_ppm = 0;
  if (!text.contains("start_jitter") && !exact.start_jitter) exact.start_jitter = control::Share{0};
  auto testbed = control::parse_testbed(text, "test.yaml", exact);
  if (!testbed) {
    for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  return *testbed;
}

Outcome run_text(const std::string& text, const control::Overrides& overrides, bool capture) {
  const control::Testbed testbed = testbed_of(text, overrides);
  if (testing::Test::HasFailure()) return {};
  return run_whole(testbed, capture);
}

const control::HostSnapshot& host_of(const Outcome& out, const std::string& name) {
  return *std::ranges::find(out.snapshot.hosts, name, &control::HostSnapshot::name);
}

uint64_t number(const control::Json& at, const char* key) {
  return at.at(key).get<uint64_t>();
}

std::string without_engine(control::Json report) {
  report.erase("engine");
  return report.dump(1);
}

}  // namespace softspine::testbeds
