// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/prometheus.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "control/telemetry/exposition.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using tests::small_fabric;

// A reader of the format as its description has it, stricter than Prometheus: HELP, then TYPE, then the family's
// samples in one piece, at least one; no sample twice.
class StrictReader {
 public:
  explicit StrictReader(const std::string& text) {
    EXPECT_TRUE(text.ends_with('\n'));
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) read(line);
    EXPECT_GT(of_family_, 0) << family_ << " is empty";
  }
  std::map<std::string, std::string> values;  // by name and labels as written
  std::map<std::string, std::string> types;

 private:
  void read(const std::string& line) {
    static const std::regex kHelp{"# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) .+"};
    static const std::regex kType{"# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|summary)"};
    static const std::string kLabel = R"re([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*")re";
    static const std::regex kSample{"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{" + kLabel + "(," + kLabel +
                                    ")*\\})?) (-?[0-9.]+(e[+-]?[0-9]+)?)"};
    std::smatch match;
    if (std::regex_match(line, match, kHelp)) {
      EXPECT_FALSE(types.contains(match[1])) << "twice: " << line;
      EXPECT_NE(of_family_, 0) << family_ << " is empty";
      family_ = match[1];
      of_family_ = 0;
    } else if (std::regex_match(line, match, kType)) {
      EXPECT_EQ(match[1], family_) << line;
      EXPECT_TRUE(types.emplace(family_, match[2]).second) << line;
    } else if (std::regex_match(line, match, kSample)) {
      EXPECT_TRUE(belongs(match[2])) << line;
      EXPECT_TRUE(values.emplace(match[1], match[7]).second) << "twice: " << line;
      ++of_family_;
    } else {
      ADD_FAILURE() << "neither HELP, TYPE nor a sample: " << line;
    }
  }
  bool belongs(const std::string& name) const {
    const bool summary = types.contains(family_) && types.at(family_) == "summary";
    return name == family_ || (summary && (name == family_ + "_sum" || name == family_ + "_count"));
  }
  std::string family_;
  int of_family_ = -1;
};

TEST(PrometheusText, IsValidAndNamesItsUnits) {
  const StrictReader read{prometheus_text(small_fabric())};
  EXPECT_GT(read.values.size(), 300u);
  for (const auto& [name, type] : read.types) {
    EXPECT_TRUE(name.starts_with("softspine_")) << name;
    EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
    EXPECT_FALSE(name.ends_with("_ps")) << name << ": base units";
  }
}

TEST(PrometheusText, HoldsWhatWasCounted) {
  auto values = StrictReader{prometheus_text(small_fabric())}.values;
  EXPECT_EQ(values[R"(softspine_port_tx_bytes_total{switch="tor1",port="Ethernet4"})"], "60000");
  EXPECT_EQ(values[R"(softspine_port_rx_packets_total{switch="core2",port="Ethernet0"})"], "20");
  EXPECT_EQ(values[R"(softspine_port_dropped_packets_total{switch="tor1",port="Ethernet0",reason="queue_full"})"],
            "15");
  EXPECT_EQ(values[R"(softspine_port_pfc_rx_packets_total{switch="tor1",port="Ethernet0",priority="3"})"], "1");
  EXPECT_EQ(values[R"(softspine_port_up{switch="tor1",port="Ethernet0"})"], "1");
  EXPECT_EQ(values[R"(softspine_port_speed_bytes{switch="tor1",port="Ethernet0"})"], "12500000000");
  EXPECT_EQ(values[R"(softspine_queue_occupancy_bytes{switch="tor1",port="Ethernet4",queue="3"})"], "4000");
  EXPECT_EQ(values[R"(softspine_queue_watermark_bytes{switch="tor1",port="Ethernet4",queue="3"})"], "9000");
  EXPECT_EQ(values[R"(softspine_link_up{a="tor1:Ethernet8",b="core2:Ethernet0"})"], "0");
  EXPECT_EQ(values[R"(softspine_link_lost_packets_total{from="h2:eth0",to="tor2:Ethernet0"})"], "3");
  EXPECT_EQ(values[R"(softspine_host_delivered_packets_total{host="h2"})"], "79");
  EXPECT_EQ(values[R"(softspine_host_dropped_packets_total{host="h2",reason="bad_icrc"})"], "1");
  EXPECT_EQ(values[R"(softspine_workload_rx_bytes_total{workload="perm"})"], "72000");
  EXPECT_EQ(values[R"(softspine_workload_completed_flows{workload="perm"})"], "1");
  EXPECT_EQ(values[R"(softspine_workload_missing_packets_total{workload="perm"})"], "17");
  EXPECT_EQ(values[R"(softspine_edge_in_packets_total{edge="vm1",kind="vhost-user"})"], "7");
  EXPECT_EQ(
      values
          [R"(softspine_edge_dropped_packets_total{edge="vm1",kind="vhost-user",direction="out",reason="edge_full"})"],
      "2");
}

TEST(PrometheusText, TellsTheEdgesOfOneHostApart) {
  auto values = StrictReader{prometheus_text(tests::two_edged_fabric())}.values;
  EXPECT_EQ(values[R"(softspine_edge_in_packets_total{edge="vm1:eth0",kind="vhost-user"})"], "7");
  EXPECT_EQ(values[R"(softspine_edge_in_packets_total{edge="vm1:eth1",kind="vhost-user"})"], "9");
}

TEST(PrometheusText, TellsTimesInSeconds) {
  auto values = StrictReader{prometheus_text(small_fabric())}.values;
  EXPECT_DOUBLE_EQ(std::stod(values["softspine_emulated_seconds"]), 10e-6);
  EXPECT_DOUBLE_EQ(std::stod(values[R"(softspine_host_packet_latency_seconds{host="h2",quantile="0.99"})"]), 2.9e-6);
  EXPECT_DOUBLE_EQ(std::stod(values[R"(softspine_host_packet_latency_seconds_sum{host="h2"})"]), 79 * 2e-6);
  EXPECT_EQ(values[R"(softspine_host_packet_latency_seconds_count{host="h2"})"], "79");
}

// small_fabric() with a switch that has done nothing.
FabricSnapshot fabric_of_ports(size_t idle) {
  FabricSnapshot out = small_fabric();
  for (const SwitchSnapshot& node : out.switches) idle -= node.ports.size();
  SwitchSnapshot& node = out.switches.emplace_back(SwitchSnapshot{.name = "idle", .role = "core"});
  for (size_t i = 0; i < idle; ++i) {
    node.ports.push_back({.name = "Ethernet" + std::to_string(i), .up = i != 7, .rate = dataplane::Rate::gbps(100)});
  }
  return out;
}

TEST(PrometheusText, OfALargeFabricHasNoZerosOfWhatHasCountedNothing) {
  const auto small = StrictReader{prometheus_text(small_fabric())}.values;
  const auto full = StrictReader{prometheus_text(fabric_of_ports(kPortsWithZeros))}.values;
  auto large = StrictReader{prometheus_text(fabric_of_ports(kPortsWithZeros + 1))}.values;
  EXPECT_EQ(full.at(R"(softspine_port_tx_bytes_total{switch="idle",port="Ethernet7"})"), "0");
  EXPECT_LT(large.size(), full.size() / 20);
  // The idle switch's ports have what they are, also one that is down.
  EXPECT_EQ(large[R"(softspine_port_up{switch="idle",port="Ethernet7"})"], "0");
  EXPECT_EQ(large[R"(softspine_port_speed_bytes{switch="idle",port="Ethernet8"})"], "12500000000");
  EXPECT_FALSE(large.contains(R"(softspine_port_tx_bytes_total{switch="idle",port="Ethernet7"})"));
  // What has counted anything has its zeros, too; whatever is not zero is there.
  EXPECT_EQ(large[R"(softspine_port_pfc_tx_packets_total{switch="tor1",port="Ethernet0",priority="3"})"], "0");
  EXPECT_FALSE(large.contains(R"(softspine_port_pfc_tx_packets_total{switch="tor1",port="Ethernet0",priority="4"})"));
  EXPECT_EQ(large[R"(softspine_port_rx_bytes_total{switch="tor1",port="Ethernet4"})"], "0");
  EXPECT_EQ(large[R"(softspine_host_packet_latency_seconds_count{host="h2"})"], "79");
  EXPECT_FALSE(large.contains(R"(softspine_host_packet_latency_seconds_count{host="h1"})"));
  for (const auto& [name, value] : small) {
    if (std::stod(value) != 0) {
      EXPECT_EQ(large[name], value) << name;
    }
  }
  size_t others = 0;
  for (const auto& [name, value] : large) others += full.contains(name) && full.at(name) == value ? 0 : 1;
  EXPECT_EQ(others, 2U) << "of the port that it has more: up, its speed";
}

TEST(PrometheusText, OfAnEmptyFabricIsValidToo) {
  const StrictReader read{prometheus_text({})};
  EXPECT_EQ(read.values.at("softspine_emulated_seconds"), "0");
  EXPECT_FALSE(read.types.contains("softspine_port_up")) << "a family without samples is left out";
}

TEST(Exposition, EscapesLabelsAndHelp) {
  Exposition out;
  out.family("a_total", Exposition::Type::kCounter, "back\\slash \"and\"\nnewline");
  out.sample({{"l", "back\\slash \"and\"\nnewline"}}, uint64_t{18446744073709551615u});
  EXPECT_EQ(out.take(),
            "# HELP a_total back\\\\slash \"and\"\\nnewline\n# TYPE a_total counter\n"
            "a_total{l=\"back\\\\slash \\\"and\\\"\\nnewline\"} 18446744073709551615\n");
}

}  // namespace
}  // namespace softspine::control
