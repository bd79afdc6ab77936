// SPDX-License-Identifier: Apache-2.0
// Each field of a report has one sentence, and each sentence is a field's.
#include "control/report/report_fields.hpp"

#include <gtest/gtest.h>

#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "control/report/counters_reference.hpp"
#include "control/report/report.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using Steps = std::vector<std::string>;

Steps steps_of(const std::string& path) {
  Steps out;
  for (const auto part : path | std::views::split('.')) out.emplace_back(part.begin(), part.end());
  return out;
}

bool is_of(const Steps& way, const Steps& form) {
  return std::ranges::equal(
      way, form, [](const std::string& step, const std::string& word) { return word == "*" || step == word; });
}

// Names may hold dots, so the way is kept step by step.
void collect(std::vector<Steps>& out, Steps& way, const Json& value) {
  if (!value.is_structured() || value.empty()) {
    out.push_back(way);
    return;
  }
  size_t place = 0;
  for (const auto& [key, inner] : value.items()) {
    way.push_back(value.is_array() ? std::to_string(place++) : key);
    collect(out, way, inner);
    way.pop_back();
  }
}

// What is zero has no row in a report.
void count_everything(PortSnapshot& port) {
  port.counters.drops.fill(1);
  port.counters.queues[3] = {.packets = 1,
                             .bytes = 1,
                             .dropped_packets = 1,
                             .dropped_bytes = 1,
                             .ecn_marked_packets = 1,
                             .watermark_bytes = 1};
  const auto time = dataplane::Duration::ps(1);
  port.pauses[3] = {.rx_frames = 1,
                    .tx_frames = 1,
                    .on_to_off = 1,
                    .time = time,
                    .rx_requested = time,
                    .tx_requested = time,
                    .storms = 1,
                    .restored = 1};
  port.credit = {.rx_frames = 1, .tx_frames = 1};
  port.credit->waited.fill(time);
  port.buffers.emplace();
  port.buffers->groups[3] = {
      .shared_watermark_bytes = 1, .headroom_watermark_bytes = 1, .packets = 1, .counters = {.dropped_packets = 1}};
  port.buffers->queues[3].shared_watermark_bytes = 1;
}

// With one of everything that a report may have.
Json whole_report() {
  using dataplane::Instant;
  FabricSnapshot fabric = tests::small_fabric();
  fabric.hosts[0].ports[0].pause[3].tx_frames = 1;
  fabric.hosts[0].ports.push_back(fabric.hosts[0].ports[0]);  // a bond's two are shown by themselves
  fabric.hosts[0].ports.back().name = "eth1";
  fabric.flows[1].stalled = "no link";
  fabric.flows[1].listed = true;
  fabric.edges[0].pause[3].rx_frames = 1;
  fabric.edges[0].statistics["rx_missed"] = 1;
  count_everything(fabric.switches[0].ports[0]);
  fabric.switches[0].pools.push_back({.name = "pool", .watermark_bytes = 1, .headroom_watermark_bytes = 1});
  fabric.switches[0].buffer_imbalances = "a cell is missing";
  const std::vector<LagMemberSnapshot> members{
      {.port = "Ethernet0", .is_member = true, .tx_packets = 1, .tx_bytes = 64}};
  fabric.lags.push_back({.name = "PortChannel1",
                         .mode = "static",
                         .ends = {{.node = "tor1", .members = members}, {.node = "core1", .members = members}}});
  LossWindow window;
  window.over_time.add(dataplane::Duration::us(3));
  window.lost.add(Instant{}, 100);
  window.reasons.push_back({"link_down", window.lost});
  window.flows.push_back({.flow = 0, .packets = 1, .bytes = 100});
  fabric.faults.push_back({.at = Instant{}, .what = "a link goes down", .number = 0, .window = window});
  fabric.loss_account = {.unexplained = {{"queue_full", window.lost}}, .lost_of_flow = {0, 0, 0}};
  fabric.deadlocks.push_back({.found = Instant{}, .circle = "tor1, core1"});
  fabric.engineering.emplace();
  fabric.events = EventLogSnapshot{.lines = std::vector<uint64_t>(event_facts().size(), 1)};
  fabric.stacks.push_back({.name = "rack1", .members = {{{.name = "tor1"}, {.name = "tor2"}}}});
  fabric.collectives.push_back({.name = "grads",
                                .sizes = {{.shape = {.bytes = 8}, .done = 1, .mean = dataplane::Duration::us(1)}},
                                .waiting = {{.rank = 1, .host = "h2", .what = "a message"}}});
  fabric.trainings.push_back({.name = "gpt",
                              .kinds = {GroupKind::kTensor},
                              .steps = {{}},
                              .longest_wait = {.host = "h2", .layer = "attention"},
                              .waiting = {{.rank = 1, .host = "h2", .what = "a message"}}});
  fabric.traces.push_back(
      {.name = "llama", .ranks = {{.host = "h1"}}, .waiting = {{.rank = 0, .host = "h1", .what = "a message"}}});
  fabric.engine.meeting.emplace();
  fabric.errors.push_back({.who = "vm1", .what = "its interface was deleted", .count = 1});
  return report_json(fabric, {.testbed = "small", .clock = "virtual", .seed = 7});
}

std::map<std::string, size_t> sentences() {
  std::map<std::string, size_t> out;
  for (const ReportField& field : report_fields()) ++out[field.path];
  for (const Json& row : counters_reference()) {
    if (row.contains("report")) ++out[row["report"].get<std::string>()];
  }
  return out;
}

TEST(ReportFields, HaveOneSentenceEach) {
  std::map<std::string, size_t> seen;
  for (const auto& [path, count] : sentences()) {
    EXPECT_EQ(count, 1u) << path;
    seen[path] = 0;
  }
  std::vector<Steps> ways;
  Steps way;
  collect(ways, way, whole_report());
  for (const Steps& each : ways) {
    size_t known = 0;
    for (auto& [path, count] : seen) {
      if (!is_of(each, steps_of(path))) continue;
      ++known;
      ++count;
    }
    EXPECT_EQ(known, 1u) << testing::PrintToString(each);
  }
  for (const auto& [path, count] : seen) EXPECT_GT(count, 0u) << path << " is in no report";
}

TEST(ReportFields, EndAsSentencesDo) {
  for (const ReportField& field : report_fields()) {
    EXPECT_TRUE(field.help.ends_with('.') && field.help.size() > 10) << field.path;
    EXPECT_EQ(field.path.ends_with("_ps"), field.is == "ps") << field.path;
    EXPECT_EQ(field.path.ends_with("_bps"), field.is == "bit/s") << field.path;
  }
}

}  // namespace
}  // namespace softspine::control
