// SPDX-License-Identifier: Apache-2.0
// Counters over time and the event log of whole runs: sums against the report, pause times at both ends of a link,
// the same bytes for any number of workers, and no trace of either in the run itself.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "control/report/report.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/prometheus.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;
using dataplane::Instant;

// A host stops for a while, so pauses spread to the core and packets are marked; then a link goes down and up.
constexpr const char* kStorm = R"(
name: storm
run: {duration: 700us}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: in, pattern: incast, from: [h3, h4, h2], to: h1, message: 256KiB, messages: 1000, dscp: 3}
faults:
  - {at: 100us, node: h1, set: storm, priorities: [3], until: 250us}
  - {at: 400us, link: "tor1:Ethernet8", set: down}
  - {at: 500us, link: "tor1:Ethernet8", set: up}
)";

struct Written {
  Outcome outcome;
  std::string series;
  std::string events;
  std::vector<std::string> wrong;
};

Written run_written(const std::string& text, uint32_t workers, Duration interval = Duration::us(10)) {
  Written out;
  const control::Testbed testbed = testbed_of(text, {.workers = workers});
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt});
  if (!fabric) {
    ADD_FAILURE() << fabric.error();
    return out;
  }
  const std::string path = testing::TempDir() + "softspine-series-" + std::to_string(getpid());
  EXPECT_TRUE(
      (*fabric)->part<CounterSeries>().open({.path = path + ".counters", .interval = interval, .counters = {}}));
  EXPECT_TRUE((*fabric)->part<EventLog>().open(path + ".events"));
  EXPECT_TRUE((*fabric)->run());
  out.series = bytes_of(path + ".counters");
  out.events = bytes_of(path + ".events");
  std::filesystem::remove(path + ".counters");
  std::filesystem::remove(path + ".events");
  out.outcome.snapshot = (*fabric)->snapshot();
  out.outcome.report = control::report_json(out.outcome.snapshot, {.testbed = "storm", .clock = "virtual", .seed = 1});
  out.wrong = (*fabric)->part<CounterSeries>().check(out.outcome.snapshot);
  EXPECT_EQ(out.outcome.report["totals"]["imbalances"], Json::array());
  EXPECT_EQ((*fabric)->drain(), 0U);
  EXPECT_TRUE((*fabric)->errors().empty());
  return out;
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

TEST(CounterSeries, AddUpToTheReportLineByLine) {
  const Written run = run_written(kStorm, 1);
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
  const auto lines = lines_of(run.series);
  std::map<std::string, uint64_t> sums;  // read back from the file, by nothing that wrote it
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::string port = lines[i].value("port", lines[i].value("pool", ""));
    for (const char* kind : {"priority", "queue"}) {
      if (!lines[i].contains(kind)) continue;
      const std::string place = "/ports/" + port + "/" + (kind[0] == 'p' ? "priorities/" : "queues/") +
                                std::to_string(lines[i][kind].get<int>()) + "/";
      for (const auto& [key, value] : lines[i].items()) {
        if (value.is_number() && key != "t_ps" && key != kind) sums[place + key] += value.get<uint64_t>();
      }
    }
    const int64_t at = lines[i]["t_ps"];
    EXPECT_EQ(at % 10'000'000, 0) << "an exact multiple of the interval: 700 us is one, too";
  }
  size_t compared = 0;
  for (const auto& [port, kinds] : run.outcome.report["ports"].items()) {
    for (const char* kind : {"priorities", "queues"}) {
      if (!kinds.contains(kind)) continue;
      for (const auto& [number, row] : kinds[kind].items()) {
        for (const auto& [key, value] : row.items()) {
          if (key.ends_with("watermark_bytes")) continue;
          EXPECT_EQ(sums["/ports/" + port + "/" + kind + "/" + number + "/" + key], value) << port << number << key;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 40U);
  EXPECT_EQ(lines.back()["lines"], lines.size() - 2);
}

TEST(CounterSeries, AndEventsHaveTheSameBytesForAnyNumberOfWorkers) {
  const Written one = run_written(kStorm, 1);
  EXPECT_GT(lines_of(one.events).size(), 50U);
  for (const uint32_t workers : {2U, 3U}) {
    const Written more = run_written(kStorm, workers);
    EXPECT_TRUE(one.series == more.series) << workers;
    EXPECT_TRUE(one.events == more.events) << workers;
  }
}

TEST(CounterSeries, LeaveTheRunAsItIs) {
  Json with = run_written(kStorm, 1, Duration::us(1)).outcome.report;
  Json without = run_text(kStorm).report;
  for (Json* each : {&with, &without}) {
    each->erase("engine");
    each->erase("testbed");
    each->erase("events");
  }
  EXPECT_EQ(with.dump(), without.dump());
}

// What one end has asked and what has arrived at the other, of both directions of each link, at every sample: the sums
// up to then differ only while a frame is under way, and at the end not at all.
TEST(PauseTimes, AgreeAtBothEndsToThePicosecond) {
  const Written run = run_written(kStorm, 2);
  const Json& ports = run.outcome.report["ports"];
  const Json& hosts = run.outcome.report["hosts"];
  const auto of = [&](const std::string& end, const char* of_switch, const char* of_host) -> uint64_t {
    if (ports.contains(end))
      return ports[end].value(Json::json_pointer{"/priorities/3/" + std::string{of_switch}}, uint64_t{0});
    const size_t colon = end.find(':');
    const std::string place = "/" + end.substr(0, colon) + "/pause/" + end.substr(colon + 1) + "/3/" + of_host;
    return hosts.value(Json::json_pointer{place}, uint64_t{0});
  };
  size_t paused = 0;
  for (const auto& [from, link] : run.outcome.report["links"].items()) {
    if (link["lost_packets"] != 0) continue;  // a pause frame may be among them
    const uint64_t asked = of(from, "pfc_tx_pause_ps", "tx_pause_ps");
    EXPECT_EQ(asked, of(link["to"], "pfc_rx_pause_ps", "rx_pause_ps")) << from;
    paused += asked > 0 ? 1 : 0;
  }
  EXPECT_GE(paused, 3U) << "the host's link, and those to the senders behind it";
  // The storm's frames: a first one right at 100 us, each lasts 65535 quanta of 5.12 ns; the last lapses by itself.
  EXPECT_GT(of("h1:eth0", "", "tx_pause_ps"), 335'539'200U - 1);
}

TEST(PauseTimes, AreWhatTheFramesSay) {
  // One host pauses for ever and nobody sends: 802.1Qbb's arithmetic only.
  const Written run = run_written(R"(
name: quiet
run: {duration: 500us}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}
roles: {tor: lossless, aggregation: lossless}
faults:
  - {at: 100us, node: h1, set: storm, priorities: [3]}
)",
                                  1);
  // (64 − 4 + 24) × 8 bits… as the frame stands on the wire: 84 bytes at 100G, and 3 m of fibre.
  const int64_t arrival = 100'000'000 + 84 * 80 + 15'152;
  const Json& row = run.outcome.report["ports"]["tor1:Ethernet0"]["priorities"]["3"];
  EXPECT_EQ(row["pfc_rx_pause_ps"], 500'000'000 - arrival);
  EXPECT_EQ(row["paused_ps"], 500'000'000 - arrival - 394 * 5'120) << "after the response time of 802.3";
  EXPECT_EQ(run.outcome.report["hosts"]["h1"]["pause"]["eth0"]["3"]["tx_pause_ps"], 500'000'000 - arrival);
}

TEST(EventLog, TellsTheStoryInOrder) {
  const auto lines = lines_of(run_written(kStorm, 1).events);
  ASSERT_GT(lines.size(), 10U);
  EXPECT_EQ(lines[0]["events"], 1);
  EXPECT_EQ(lines.back()["lines"], lines.size() - 2);
  std::map<std::string, uint64_t> count;
  std::map<std::string, int> raised;  // by port and group: XOFF is raised and cleared in turn
  int64_t last = 0;
  bool told_of_storm = false;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const Json& line = lines[i];
    EXPECT_GE(line["t_ps"].get<int64_t>(), last) << line;
    last = line["t_ps"];
    const std::string event = line["event"];
    ++count[event];
    if (event == "fault" && line["t_ps"] == 100'000'000) told_of_storm = true;
    if (event == "pause_received" && line["port"] == "tor1:Ethernet0") {
      EXPECT_TRUE(told_of_storm);
      EXPECT_GE(last, 100'000'000 + 84 * 80 + 15'152);
    }
    if (event != "xoff_raised" && event != "xoff_cleared") continue;
    int& is_raised = raised[line["port"].get<std::string>() + line["group"].dump()];
    EXPECT_EQ(is_raised, event == "xoff_raised" ? 0 : 1) << line;
    is_raised = event == "xoff_raised" ? 1 : 0;
  }
  EXPECT_GT(count["xoff_raised"], 0U);
  EXPECT_GT(count["xoff_cleared"], 0U);
  EXPECT_GT(count["pause_received"], 0U);
  EXPECT_GT(count["resume_received"], 0U);
  EXPECT_GT(count["pause_lapsed"], 0U) << "the storm falls silent, and its last pause runs out";
  EXPECT_EQ(count["link_down"], 2U) << "at both ends";
  EXPECT_EQ(count["link_up"], 2U);
  EXPECT_GT(count["route_change"], 0U);
  EXPECT_EQ(count["fault"], 4U);
}

// As counted here from the file, in the report, in `show events` and for Prometheus.
TEST(EventLog, IsCountedByKind) {
  const Written run = run_written(kStorm, 2);
  std::map<std::string, uint64_t> found;
  for (const control::EventFacts& each : control::event_facts()) found[std::string{each.name}];
  for (const Json& line : lines_of(run.events)) {
    if (line.contains("event")) ++found.at(line["event"]);
  }
  EXPECT_GT(found["xoff_raised"], 0U);
  EXPECT_GT(found["fault"], 0U);
  EXPECT_EQ((run.outcome.report["events"]["lines"].get<std::map<std::string, uint64_t>>()), found);
  const std::string table = control::events_table(run.outcome.snapshot);
  const std::string metrics = control::prometheus_text(run.outcome.snapshot);
  for (const auto& [event, lines] : found) {
    EXPECT_NE(metrics.find(fmt::format("softspine_events_total{{event=\"{}\"}} {}\n", event, lines)),
              std::string::npos);
    EXPECT_NE(table.find(event), std::string::npos);
  }
  const Outcome without = run_text(kStorm);
  EXPECT_FALSE(without.report.contains("events"));
  EXPECT_EQ(control::prometheus_text(without.snapshot).find("softspine_events"), std::string::npos);
  EXPECT_NE(control::events_table(without.snapshot).find("--events FILE"), std::string::npos);
}

// Two frames, dropped for two reasons 1 µs from each other: neither burst is over at the end.
std::vector<std::string> reasons_of_drops(bool truncated_first) {
  dataplane::TemporaryFiles files;
  const auto frames = [&](const control::Testbed& fabric) {
    std::vector<uint8_t> cut(60, 0);
    std::ranges::copy(fabric.fabric.nodes[0].ports[0].mac.bytes, cut.begin());
    cut[12] = 0x08;
    std::vector<uint8_t> of_version_5 = cut;
    of_version_5[14] = 0x55;
    cut.resize(20);
    cut[14] = 0x45;
    if (!truncated_first) cut.swap(of_version_5);
    return dataplane::pcap_bytes({{0, cut, static_cast<uint32_t>(cut.size())},
                                  {1'000, of_version_5, static_cast<uint32_t>(of_version_5.size())}});
  };
  const auto text = [](const std::string& in) {
    return "name: two\nrun: {duration: 5us}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n"
           "    h1: {kind: host" +
           (in.empty() ? "" : ", edge: {pcap: {in: " + in + "}}") +
           "}\n  links: [{endpoints: [tor1, h1], rate: 100Gbps}]\n";
  };
  std::vector<std::string> out;
  for (const Json& line : lines_of(run_written(text(files.with(frames(testbed_of(text(""))))), 1).events)) {
    if (line.value("event", "") == "drops") out.push_back(line["reason"]);
  }
  return out;
}

TEST(EventLog, HasBurstsThatTheRunEndedInTheOrderOfTheirReasons) {
  const std::vector<std::string> wanted{"truncated", "bad_version"};
  EXPECT_EQ(reasons_of_drops(true), wanted);
  EXPECT_EQ(reasons_of_drops(false), wanted);
}

TEST(EventLog, CountsInItsBurstsEveryDropOfTheReport) {
  const Written run = run_written(R"(
name: drops
run: {duration: 300us}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 3, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 3m}}
workload:
  - {name: in, pattern: incast, from: [h2, h3, h4, h5], to: h1, message: 1MiB, messages: 1000}
)",
                                  2);
  std::map<std::string, uint64_t> dropped;
  int cut_off = 0;
  for (const Json& line : lines_of(run.events)) {
    if (line.value("event", "") != "drops") continue;
    dropped[line["reason"]] += line["packets"].get<uint64_t>();
    EXPECT_LE(line["first_ps"], line["last_ps"]);
    EXPECT_LE(line["t_ps"], 300'000'000) << "also the burst that the end of the run cuts off";
    cut_off += line["t_ps"] == 300'000'000 ? 1 : 0;
  }
  EXPECT_GT(cut_off, 0);
  EXPECT_GT(dropped["queue_full"], 100U);
  for (const auto& [reason, packets] : dropped) EXPECT_EQ(run.outcome.report["totals"]["drops"][reason], packets);
}

// 4,000 frames of 1,500 B, 125 ns apart, from h1, which is outside, to h2 on a star; priority 3.
std::string replayed(const control::Fabric& fabric) {
  constexpr uint32_t kBytes = 1'500;
  std::string frame;
  for (const char* name : {"h2", "h1"}) {
    const auto node = std::ranges::find(fabric.nodes, name, &control::FabricNode::name);
    frame.append(node->ports[0].mac.bytes.begin(), node->ports[0].mac.bytes.end());
  }
  constexpr char kIp[] = "\x08\x00\x45\x0e\x05\xce\0\0\0\0\x40\x11\x61\x0f\x0a\0\0\x01\x0a\0\0\x02";
  frame.append(kIp, sizeof kIp - 1);  // DSCP 3, ECT(0)
  frame.resize(kBytes);
  const uint32_t head[] = {0xa1b23c4d, 2 | 4U << 16, 0, 0, 65'535, 1};
  std::string out(reinterpret_cast<const char*>(head), sizeof head);
  for (uint32_t i = 0; i < 4'000; ++i) {
    const uint32_t record[] = {0, i * 125, kBytes, kBytes};
    out.append(reinterpret_cast<const char*>(record), sizeof record) += frame;
  }
  return out;
}

TEST(CounterSeries, HavePausesOfNicsOutside) {
  const auto in = std::filesystem::path(testing::TempDir()) / fmt::format("softspine-outside-{}.pcap", getpid());
  const std::string text = fmt::format(R"(
name: outside
run: {{duration: 1ms}}
fabric: {{kind: star, hosts: 4, host_link: {{rate: 100Gbps, length: 3m}}}}
profiles: {{default: {{base: sonic-tomahawk-100g-40m}}}}
topology: {{nodes: {{h1: {{edge: {{pcap: {{in: '{}'}}}}}}}}}}
workload: [{{name: in, pattern: incast, from: [h3, h4], to: h2, message: 1MiB, messages: 1000, mtu: 4096, dscp: 3}}]
)",
                                       in.string());
  std::ofstream(in, std::ios::binary) << replayed(testbed_of(text).fabric);
  const Written run = run_written(text, 1);
  std::filesystem::remove(in);
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
  std::map<std::string, uint64_t> sum;
  for (const Json& line : lines_of(run.series)) {
    if (line.value("port", "") != "h1:eth0") continue;
    EXPECT_EQ(line["priority"], 3) << line;
    for (const char* name : {"rx_packets", "rx_pause_ps", "paused_ps"}) sum[name] += line.value(name, uint64_t{0});
  }
  const auto& edges = run.outcome.snapshot.edges;
  ASSERT_EQ(edges.size(), 1U);
  const control::HostPauseSnapshot& pause = edges[0].pause[3];
  EXPECT_GT(pause.rx_frames, 0U) << run.outcome.report["edges"] << run.outcome.report["ports"];
  EXPECT_GT(sum["paused_ps"], 0U);
  EXPECT_EQ(sum["rx_packets"], pause.rx_frames);
  EXPECT_EQ(sum["rx_pause_ps"], static_cast<uint64_t>(pause.rx_requested.count_ps()));
  EXPECT_EQ(sum["paused_ps"], static_cast<uint64_t>(pause.paused.count_ps()));
}

TEST(CounterSeries, TakeNoSampleWhileNothingHappens) {
  const Written run = run_written(R"(
name: idle
run: {duration: 1s}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: first, pattern: pairs, from: [h1], to: [h2], message: 4KiB, messages: 1}
  - {name: later, pattern: pairs, from: [h1], to: [h2], message: 4KiB, messages: 1, start: 900ms}
)",
                                  1);
  const Json end = lines_of(run.series).back();
  EXPECT_LT(end["samples"].get<uint64_t>(), 100U) << "not the 100,000 of every 10 us";
  EXPECT_EQ(run.wrong, std::vector<std::string>{});
}

// Of a series up to an instant: sums of counters, last values of gauges and watermarks, as the report has them.
std::map<std::string, uint64_t> values_at(const std::vector<Json>& lines, int64_t until) {
  std::map<std::string, uint64_t> out;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    if (lines[i]["t_ps"].get<int64_t>() > until) break;
    for (const char* kind : {"priority", "queue"}) {
      const std::string port = lines[i].value("port", "");
      if (!lines[i].contains(kind) || port.starts_with("h")) continue;
      const std::string place =
          port + (kind[0] == 'p' ? "/priorities/" : "/queues/") + std::to_string(lines[i][kind].get<int>()) + "/";
      for (const auto& [key, value] : lines[i].items()) {
        if (key == "t_ps" || key == "port" || key == kind) continue;
        const bool adds_up = lines[0]["counters"][kind][key] == "counter";
        out[place + key] = value.get<uint64_t>() + (adds_up ? out[place + key] : 0);
      }
    }
  }
  return out;
}
std::map<std::string, uint64_t> values_in(const Json& report) {
  std::map<std::string, uint64_t> out;
  for (const auto& [port, kinds] : report["ports"].items()) {
    for (const char* kind : {"priorities", "queues"}) {
      if (!kinds.contains(kind)) continue;
      for (const auto& [number, row] : kinds[kind].items()) {
        for (const auto& [key, value] : row.items()) out[port + "/" + kind + "/" + number + "/" + key] = value;
      }
    }
  }
  return out;
}

// The fabric that is looked at in between, and the same fabric, looked at because its run is over.
TEST(CounterSeries, AtEachInstantAreTheReportOfARunThatEndsThere) {
  const std::vector<Json> lines = lines_of(run_written(kStorm, 1).series);
  for (const int64_t us : {30, 170, 330, 450, 640}) {
    control::Testbed shorter = testbed_of(kStorm);
    shorter.run.duration = Duration::us(us);
    const std::map<std::string, uint64_t> report = values_in(run_whole(shorter).report);
    std::map<std::string, uint64_t> series = values_at(lines, us * 1'000'000);
    // What a report does not have: how long queues are just now, and zeros.
    std::erase_if(series, [](const auto& it) { return it.second == 0 || it.first.ends_with("current_bytes"); });
    EXPECT_EQ(series, report) << us << " us";
    EXPECT_GT(report.size(), 10u) << us << " us";
  }
}

// docs/counters.md: at one instant faults come first. A link goes down and up at both ends in the very instant of its
// fault, and routes follow in it.
TEST(EventLog, HasFaultsBeforeWhatTheyCauseAtTheSameInstant) {
  const auto lines = lines_of(run_written(kStorm, 1).events);
  uint32_t caused = 0;
  for (size_t i = 2; i + 1 < lines.size(); ++i) {
    if (lines[i]["t_ps"] != lines[i - 1]["t_ps"]) continue;
    const bool is_fault = lines[i]["event"] == "fault";
    const bool follows_fault = lines[i - 1]["event"] == "fault";
    EXPECT_TRUE(!is_fault || follows_fault) << lines[i] << " behind " << lines[i - 1];
    caused += lines[i]["event"] == "link_down" || lines[i]["event"] == "link_up" ? 1 : 0;
  }
  EXPECT_EQ(caused, 4u) << "each of both ends, behind its fault or the other end";
}

}  // namespace
}  // namespace softspine::testbeds
