// SPDX-License-Identifier: Apache-2.0
// Counters over time: what stands on a line, and that every sum that is wrong is found.
#include "control/record/series.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "control/telemetry/json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;
using dataplane::Duration;
using dataplane::Instant;
using tests::small_fabric;

std::vector<Json> samples_in(const std::string& text) {
  std::vector<Json> out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

FabricSnapshot empty_fabric() {
  FabricSnapshot out = small_fabric();
  for (SwitchSnapshot& node : out.switches) {
    for (PortSnapshot& port : node.ports) port = {.name = port.name};
  }
  for (HostSnapshot& host : out.hosts) {
    for (HostPortSnapshot& port : host.ports) port = {.name = port.name};
  }
  return out;
}

FabricSnapshot later(const std::function<void(FabricSnapshot&)>& change) {
  FabricSnapshot out = small_fabric();
  change(out);
  return out;
}

TEST(Series, HasWhatChangedSinceTheLastSample) {
  Series series{empty_fabric(), {"pfc_rx_packets", "tx_packets", "current_bytes"}};
  std::string text;
  series.add_sample(text, small_fabric(), {});
  const FabricSnapshot next = later([](FabricSnapshot& fabric) {
    fabric.instant = Instant::at(Duration::us(20));
    fabric.switches[0].ports[0].pauses[3].rx_frames += 2;
    fabric.switches[0].ports[1].counters.queues[3].current_bytes = 0;
  });
  std::string more;
  series.add_sample(more, next, {});
  EXPECT_EQ(samples_in(more),
            (std::vector<Json>{
                {{"t_ps", 20'000'000}, {"port", "tor1:Ethernet0"}, {"priority", 3}, {"pfc_rx_packets", 2}},
                {{"t_ps", 20'000'000}, {"port", "tor1:Ethernet4"}, {"queue", 3}, {"current_bytes", 0}},
            }));
  EXPECT_EQ(samples_in(text).size(), series.lines() - 2);
  EXPECT_TRUE(series.check(next).empty());
}

TEST(Series, HasDropsByReason) {
  Series series{empty_fabric(), {"drops"}};
  std::string text;
  series.add_sample(text, small_fabric(), {});
  EXPECT_EQ(samples_in(text),
            (std::vector<Json>{{{"t_ps", 10'000'000},
                                {"port", "tor1:Ethernet0"},
                                {"drops", {{"pfc_consumed", 1}, {"no_route", 1}, {"queue_full", 15}}}}}));
}

TEST(Series, LeavesOutWhatTheCallerKnowsToBeUnchanged) {
  Series series{empty_fabric(), {}};
  std::string text;
  size_t ports = 0;
  for (const SwitchSnapshot& node : small_fabric().switches) ports += node.ports.size();
  std::vector<PortChanges> changes(ports, {.port = false, .priorities = 0, .groups = 0, .queues = 0});
  changes[1].queues = 1 << 3;
  series.add_sample(text, small_fabric(), changes);
  const auto lines = samples_in(text);
  for (const Json& line : lines) {
    const std::string port = line["port"];
    EXPECT_TRUE(port == "tor1:Ethernet4" || port.starts_with("h")) << line;  // of hosts nothing is known
  }
  EXPECT_FALSE(lines.empty());
}

TEST(Series, ReadsOfAPortOnlyTheNumbersThatHaveChangedOfHostsToo) {
  Series series{empty_fabric(), {}};
  std::string text;
  series.add_sample(text, small_fabric(), {});
  const FabricSnapshot next = later([](FabricSnapshot& fabric) {
    fabric.instant = Instant::at(Duration::us(20));
    fabric.switches[0].ports[1].counters.queues[3].packets += 5;
    fabric.hosts[0].ports[0].pause[3].tx_frames += 2;
  });
  size_t ports = 0;
  for (const SwitchSnapshot& node : next.switches) ports += node.ports.size();
  std::vector<PortChanges> changes(ports + next.hosts.size(),
                                   {.port = false, .priorities = 0, .groups = 0, .queues = 0});
  changes[1].queues = 1 << 3;
  changes[ports].priorities = 1 << 3;  // of the first host
  std::string more;
  series.add_sample(more, next, changes);
  EXPECT_EQ(samples_in(more), (std::vector<Json>{
                                  {{"t_ps", 20'000'000}, {"port", "tor1:Ethernet4"}, {"queue", 3}, {"packets", 5}},
                                  {{"t_ps", 20'000'000}, {"port", "h1:eth0"}, {"priority", 3}, {"tx_packets", 2}},
                              }));
  EXPECT_TRUE(series.check(next).empty());
}

struct WrongSum {
  const char* place;
  std::function<void(FabricSnapshot&)> change;
};

// The end differs from what was sampled, in one place each.
TEST(Series, NamesEverySumThatIsNotTheTotal) {
  const std::vector<WrongSum> slips{
      {"tor1:Ethernet0, rx_packets", [](FabricSnapshot& f) { ++f.switches[0].ports[0].counters.rx_packets; }},
      {"tor1:Ethernet0, priority 3, pfc_tx_pause_ps",
       [](FabricSnapshot& f) { f.switches[0].ports[0].pauses[3].tx_requested += Duration::ps(1); }},
      {"tor1:Ethernet4, queue 3, watermark_bytes",
       [](FabricSnapshot& f) { --f.switches[0].ports[1].counters.queues[3].watermark_bytes; }},
      {"core2:Ethernet4, queue 3, packets",
       [](FabricSnapshot& f) { ++f.switches[3].ports[1].counters.queues[3].packets; }},
      {"tor1:Ethernet0, drops queue_full",
       [](FabricSnapshot& f) { --f.switches[0].ports[0].counters.drops[static_cast<size_t>(DropReason::kQueueFull)]; }},
      {"h1:eth0, priority 3, tx_packets", [](FabricSnapshot& f) { ++f.hosts[0].ports[0].pause[3].tx_frames; }},
  };
  Series series{empty_fabric(), {}};
  std::string text;
  series.add_sample(text, small_fabric(), {});
  EXPECT_EQ(series.check(small_fabric()), std::vector<std::string>{});
  for (const WrongSum& slip : slips) {
    const auto wrong = series.check(later(slip.change));
    ASSERT_EQ(wrong.size(), 1u) << slip.place;
    EXPECT_NE(wrong[0].find(slip.place), std::string::npos) << wrong[0];
  }
}

TEST(Series, FindsASampleThatWasLost) {
  Series series{empty_fabric(), {}};
  std::string text;
  series.add_sample(text, small_fabric(), {});
  std::vector<PortChanges> none(20, {.port = false, .priorities = 0, .groups = 0, .queues = 0});
  const FabricSnapshot end = later([](FabricSnapshot& f) { ++f.switches[1].ports[0].counters.tx_packets; });
  series.add_sample(text, end, none);  // says that nothing has changed
  EXPECT_EQ(series.check(end).size(), 1u);
}

TEST(Series, NamesItsCountersInTheHeadAndKnowsTheirPatterns) {
  const Series series{empty_fabric(), {"pfc_*", "watermark_bytes"}};
  std::string text;
  series.add_head(text, "a \"name\"", Duration::us(10));
  const Json head = samples_in(text).at(0);
  EXPECT_EQ(head["testbed"], "a \"name\"");
  EXPECT_EQ(head["sample_interval_ps"], 10'000'000);
  EXPECT_EQ(head["counters"]["priority"]["pfc_tx_pause_ps"], "counter");
  EXPECT_EQ(head["counters"]["queue"], (Json{{"watermark_bytes", "watermark"}}));
  EXPECT_TRUE(head["counters"]["port"].empty());
  EXPECT_TRUE(names_a_series("pfc_*"));
  EXPECT_TRUE(names_a_series("drops"));
  EXPECT_FALSE(names_a_series("pfc"));
  EXPECT_FALSE(names_a_series(""));
}

}  // namespace
}  // namespace softspine::control
