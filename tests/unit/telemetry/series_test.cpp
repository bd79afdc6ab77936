// SPDX-License-Identifier: Apache-2.0
// Counters over time: what is handed out and stands on a line, and that every sum that is wrong is found.
#include "control/record/series.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "control/record/json_lines.hpp"
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

// A series and its text.
class Written {
 public:
  explicit Written(const CounterPatterns& patterns) : series_(empty_fabric(), patterns) {}
  std::vector<Json> sample(const FabricSnapshot& now, const std::vector<PortChanges>& changes = {}) {
    std::string out;
    text_.add_sample(out, series_.sample(now, changes));
    return samples_in(out);
  }
  Json head() const {
    std::string out;
    text_.add_head(out);
    return samples_in(out).at(0);
  }
  Json end(Instant now) const {
    std::string out;
    text_.add_end(out, now);
    return samples_in(out).at(0);
  }
  std::vector<std::string> check(const FabricSnapshot& end) const { return series_.check(end); }

 private:
  Series series_;
  SeriesText text_{series_.shape("a \"name\"", Duration::us(10))};
};

TEST(Series, HasWhatChangedSinceTheLastSample) {
  Written series{{"pfc_rx_packets", "tx_packets", "current_bytes"}};
  const auto first = series.sample(small_fabric());
  const FabricSnapshot next = later([](FabricSnapshot& fabric) {
    fabric.instant = Instant::at(Duration::us(20));
    fabric.switches[0].ports[0].pauses[3].rx_frames += 2;
    fabric.switches[0].ports[1].counters.queues[3].current_bytes = 0;
  });
  EXPECT_EQ(series.sample(next),
            (std::vector<Json>{
                {{"t_ps", 20'000'000}, {"port", "tor1:Ethernet0"}, {"priority", 3}, {"pfc_rx_packets", 2}},
                {{"t_ps", 20'000'000}, {"port", "tor1:Ethernet4"}, {"queue", 3}, {"current_bytes", 0}},
            }));
  EXPECT_EQ(series.end(Instant::at(Duration::us(30))),
            (Json{{"end_ps", 30'000'000}, {"samples", 2}, {"lines", first.size() + 2}}));
  EXPECT_TRUE(series.check(next).empty());
}

TEST(Series, HasDropsByReason) {
  Written series{{"drops"}};
  EXPECT_EQ(series.sample(small_fabric()),
            (std::vector<Json>{{{"t_ps", 10'000'000},
                                {"port", "tor1:Ethernet0"},
                                {"drops", {{"pfc_consumed", 1}, {"no_route", 1}, {"queue_full", 15}}}}}));
}

TEST(Series, LeavesOutWhatTheCallerKnowsToBeUnchanged) {
  Written series{{}};
  size_t ports = 0;
  for (const SwitchSnapshot& node : small_fabric().switches) ports += node.ports.size();
  std::vector<PortChanges> changes(ports, {.port = false, .priorities = 0, .groups = 0, .queues = 0});
  changes[1].queues = 1 << 3;
  const auto lines = series.sample(small_fabric(), changes);
  for (const Json& line : lines) {
    const std::string port = line["port"];
    EXPECT_TRUE(port == "tor1:Ethernet4" || port.starts_with("h")) << line;  // of hosts nothing is known
  }
  EXPECT_FALSE(lines.empty());
}

TEST(Series, ReadsOfAPortOnlyTheNumbersThatHaveChangedOfHostsToo) {
  Written series{{}};
  series.sample(small_fabric());
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
  EXPECT_EQ(series.sample(next, changes),
            (std::vector<Json>{
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
  Written series{{}};
  series.sample(small_fabric());
  EXPECT_EQ(series.check(small_fabric()), std::vector<std::string>{});
  for (const WrongSum& slip : slips) {
    const auto wrong = series.check(later(slip.change));
    ASSERT_EQ(wrong.size(), 1u) << slip.place;
    EXPECT_NE(wrong[0].find(slip.place), std::string::npos) << wrong[0];
  }
}

TEST(Series, FindsASampleThatWasLost) {
  Written series{{}};
  series.sample(small_fabric());
  std::vector<PortChanges> none(20, {.port = false, .priorities = 0, .groups = 0, .queues = 0});
  const FabricSnapshot end = later([](FabricSnapshot& f) { ++f.switches[1].ports[0].counters.tx_packets; });
  series.sample(end, none);  // says that nothing has changed
  EXPECT_EQ(series.check(end).size(), 1u);
}

// A sink of another form: it adds up what it is handed.
TEST(Series, HandsOutCellsThatAddUpWithoutAnyText) {
  Series series{empty_fabric(), {"rx_packets", "drops"}};
  const SeriesShape shape = series.shape("it", Duration::us(10));
  std::map<std::string, uint64_t> sums;
  const auto add = [&](const SeriesSample& sample) {
    size_t cell = 0;
    for (const ChangedRow& row : sample.rows) {
      ASSERT_GT(row.cells, 0U);
      for (uint32_t i = 0; i < row.cells; ++i, ++cell) {
        const SeriesCell& at = sample.cells[cell];
        sums[shape.places[row.place].name + " " + shape.columns[at.column].name] += at.value;
      }
    }
    EXPECT_EQ(cell, sample.cells.size());
  };
  add(series.sample(small_fabric(), {}));
  const FabricSnapshot next = later([](FabricSnapshot& f) { f.switches[0].ports[0].counters.rx_packets += 3; });
  add(series.sample(next, {}));
  add(series.sample(next, {}));
  EXPECT_EQ(sums["tor1:Ethernet0 rx_packets"], next.switches[0].ports[0].counters.rx_packets);
  EXPECT_EQ(sums["tor1:Ethernet0 queue_full"], 15U);
}

TEST(Series, NamesItsCountersInTheHeadAndKnowsTheirPatterns) {
  const Written series{{"pfc_*", "watermark_bytes"}};
  const Json head = series.head();
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
