// SPDX-License-Identifier: Apache-2.0
// Counters over time where little happens: samples that nothing but a pause needs, and single counters of all.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;
using dataplane::Instant;

struct Recorded {
  std::vector<Json> lines;
  std::vector<std::string> wrong;
};

// `clear_at`: when watermarks are cleared, if ever.
Recorded record(const std::string& text, Duration interval, const control::CounterPatterns& counters = {},
                std::optional<Duration> clear_at = {}) {
  const control::Testbed testbed = testbed_of(text);
  auto fabric = RunningFabric::make(testbed, {});
  Recorded out;
  if (!fabric) {
    ADD_FAILURE() << fabric.error();
    return out;
  }
  const std::string path = testing::TempDir() + "softspine-quiet-" + std::to_string(getpid());
  EXPECT_TRUE((*fabric)->part<CounterSeries>().open({.path = path, .interval = interval, .counters = counters}));
  if (clear_at) {
    (*fabric)->assembly().engine->at(Instant::at(*clear_at),
                                     [&](Instant) { (*fabric)->part<LiveControl>().clear_watermarks({}); });
  }
  EXPECT_TRUE((*fabric)->run());
  out.wrong = (*fabric)->part<CounterSeries>().check((*fabric)->snapshot());
  std::istringstream in{bytes_of(path)};
  for (std::string line; std::getline(in, line);) out.lines.push_back(Json::parse(line));
  std::filesystem::remove(path);
  EXPECT_EQ((*fabric)->drain(), 0U);
  return out;
}

// Two hosts back to back: h2 is paused from 100 us on, by one frame in 335 us, and nobody sends anything else.
TEST(QuietSeries, GoOnWhileAHostIsPaused) {
  const Recorded run = record(R"(
name: paused
run: {duration: 500us}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 3m}]
faults: [{at: 100us, node: h1, set: storm, priorities: [3]}]
)",
                              Duration::us(10));
  std::vector<int64_t> at;
  int64_t paused = 0;
  for (const Json& line : run.lines) {
    if (line.value("port", "") != "h2:eth0" || !line.contains("rx_pause_ps")) continue;
    at.push_back(line["t_ps"].get<int64_t>() / 1'000'000);
    paused += line["rx_pause_ps"].get<int64_t>();
    EXPECT_TRUE(at.size() == 1 || line["rx_pause_ps"] == 10'000'000) << line;
  }
  ASSERT_EQ(at.size(), 40U) << "at 110, 120 … 500 us";
  for (size_t i = 0; i < at.size(); ++i) EXPECT_EQ(at[i], static_cast<int64_t>(110 + 10 * i));
  EXPECT_EQ(paused, 500'000'000 - (100'000'000 + 84 * 80 + 15'152)) << "from when the first frame is in";
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
}

// A host that stands on credit sends one pause of 335 us, which its switch counts; each sample sees its credit change,
// too.
TEST(QuietSeries, SeePausesBesideCredit) {
  const Recorded run = record(R"(
name: both
run: {duration: 84us}
fabric:
  kind: leaf-spine
  tors: 1
  spines: 0
  hosts_per_tor: 2
  host_link: {rate: 10Gbps, length: 3m, flow_control: credit}
  fabric_link: {rate: 10Gbps, flow_control: credit}
profiles: {default: {base: lossless}}
workload: [{name: w, pattern: pairs, from: [h2], to: [h1], message: 1MiB, messages: 1, mtu: 1024, dscp: 3}]
faults: [{at: 20us, node: h1, set: storm, priorities: [3]}]
)",
                              Duration::us(10));
  uint64_t pauses = 0;
  for (const Json& line : run.lines) {
    if (line.value("port", "") == "tor1:Ethernet0") pauses += line.value("pfc_rx_packets", uint64_t{0});
  }
  EXPECT_EQ(pauses, 1U);
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
}

// A file's two frames, 900 ms from each other: no sample of the 90,000 between them.
TEST(QuietSeries, RestWhereOnlyAFileIsOutside) {
  dataplane::TemporaryFiles files;
  std::vector<uint8_t> frame(60, 0xFF);
  const std::string in = files.with(dataplane::pcap_bytes({{0, frame, 60}, {900'000'000, frame, 60}}));
  const Recorded run = record(fmt::format(R"(
name: file
run: {{duration: 1s}}
fabric: {{kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2, host_link: {{rate: 100Gbps}}, fabric_link: {{rate: 100Gbps}}}}
topology: {{nodes: {{h1: {{edge: {{pcap: {{in: {}}}}}}}}}}}
)",
                                          in),
                              Duration::us(10));
  ASSERT_FALSE(run.lines.empty());
  EXPECT_LT(run.lines.back()["samples"].get<uint64_t>(), 20U);
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
}

constexpr const char* kOnePacketWaits = R"(
name: waits
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload: [{name: w, pattern: pairs, from: [h2], to: [h1], message: 1024B, messages: 1, mtu: 1024, dscp: 3, start: 150us}]
faults: [{at: 100us, node: h1, set: storm, priorities: [3], until: 250us}]
)";

// One packet waits: 1,098 bytes in its queue, six cells of 208 bytes in what its group has of its own. It has left when
// watermarks are cleared.
TEST(QuietSeries, SayWhatIsHeldAndThatWatermarksWereCleared) {
  const Recorded run = record(kOnePacketWaits, Duration::us(200), {}, Duration::us(790));
  const auto values = [&](const char* kind, const char* key) {
    std::vector<std::pair<int64_t, uint64_t>> out;  // us, value
    for (const Json& line : run.lines) {
      if (line.contains(kind) && line.contains("t_ps") && line.contains(key))
        out.emplace_back(line["t_ps"].get<int64_t>() / 1'000'000, line[key].get<uint64_t>());
    }
    return out;
  };
  using Values = std::vector<std::pair<int64_t, uint64_t>>;
  EXPECT_EQ(values("queue", "current_bytes"), (Values{{200, 1'098}, {600, 0}}));
  EXPECT_EQ(values("queue", "watermark_bytes"), (Values{{200, 1'098}, {800, 0}}));
  EXPECT_EQ(values("group", "reserved_bytes"), (Values{{200, 6 * 208}, {600, 0}}));
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
}

// Each counter alone: what it says adds up to the end's, and it says what it says among all others.
TEST(QuietSeries, OfOneCounterSayWhatItSaysAmongAll) {
  const auto key_of = [](const Json& line) {
    return line["t_ps"].dump() + line.value("port", line.value("pool", "")) + line.value("queue", Json{}).dump() +
           line.value("group", Json{}).dump() + line.value("priority", Json{}).dump();
  };
  const Recorded all = record(kOnePacketWaits, Duration::us(50));
  size_t values = 0;
  for (const std::string& name : control::series_names()) {
    const Recorded alone = record(kOnePacketWaits, Duration::us(50), {name});
    EXPECT_EQ(alone.wrong, std::vector<std::string>{}) << name;
    std::map<std::string, Json> of_all;
    for (const Json& line : all.lines) {
      if (line.contains("t_ps") && line.contains(name)) of_all[key_of(line)] = line[name];
    }
    std::map<std::string, Json> of_one;
    for (const Json& line : alone.lines) {
      if (line.contains("t_ps") && line.contains(name)) of_one[key_of(line)] = line[name];
    }
    EXPECT_EQ(of_one, of_all) << name;
    values += of_one.size();
  }
  EXPECT_GT(values, 20U);
}

}  // namespace
}  // namespace softspine::testbeds
