// SPDX-License-Identifier: Apache-2.0
// What a host, a flow and a sink may be: the last value that is taken and the first that is not, one by one.
#include <gtest/gtest.h>

#include <functional>

#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

// A change that leaves it right, or breaks it in the one way that `said` names.
template <typename Config>
struct Change {
  std::function<void(Config&)> make;
  std::string said;  // empty: it is right
};

template <typename Config, typename Judge>
void expect_limits(const Config& good, const std::vector<Change<Config>>& changes, Judge judge) {
  ASSERT_EQ(judge(good), std::vector<std::string>{});
  for (size_t i = 0; i < changes.size(); ++i) {
    Config config = good;
    changes[i].make(config);
    const std::vector<std::string> wrong = judge(config);
    if (changes[i].said.empty()) {
      EXPECT_EQ(wrong, std::vector<std::string>{}) << "change " << i;
    } else {
      ASSERT_EQ(wrong.size(), 1u) << "change " << i << " should be: " << changes[i].said;
      EXPECT_EQ(wrong[0].substr(0, changes[i].said.size()), changes[i].said) << "change " << i;
    }
  }
}

TEST(HostLimits, OfAHost) {
  const std::vector<Change<HostConfig>> changes{
      {[](HostConfig& h) { h.mac[0] = 3; }, "mac: not a unicast address"},
      {[](HostConfig& h) { h.gateway = {}; }, "gateway: not a unicast address"},
      {[](HostConfig& h) { h.ipv4 = 0; }, ""},
      {[](HostConfig& h) { h.ipv6 = {}; }, ""},
      {[](HostConfig& h) { h.ipv4 = 0, h.ipv6 = {}; }, "neither an IPv4 nor an IPv6 address"},
      {[](HostConfig& h) { h.ports = 2; }, ""},
      {[](HostConfig& h) { h.ports = 3; }, "ports: 3, but a host has 1 to 2"},
      {[](HostConfig& h) { h.ports = 0; }, "ports: 0"},
      {[](HostConfig& h) { h.priority_of_dscp[63] = 7; }, ""},
      {[](HostConfig& h) { h.priority_of_dscp[63] = 8; }, "priority_of_dscp: above 7"},
      {[](HostConfig& h) { h.tag.pcp_of_dscp[63] = 7; }, ""},
      {[](HostConfig& h) { h.tag.pcp_of_dscp[63] = 8; }, "pcp_of_dscp: above 7"}};
  expect_limits(host_config(1), changes, [](const HostConfig& host) { return validate(host); });
}

// SONiC's AZURE map: the priority that a pause has to name to stop a DSCP.
TEST(HostLimits, PrioritiesOfDscpsAreThoseOfTheAzureMap) {
  const PriorityMap map = HostConfig{}.priority_of_dscp;
  for (size_t dscp = 0; dscp < map.size(); ++dscp) {
    const int wanted = dscp == 3    ? 3
                       : dscp == 4  ? 4
                       : dscp == 5  ? 2
                       : dscp == 46 ? 5
                       : dscp == 48 ? 6
                       : dscp == 8  ? 0
                                    : 1;
    EXPECT_EQ(map[dscp], wanted) << "DSCP " << dscp;
  }
}

TEST(HostLimits, OfAFlow) {
  const std::vector<Change<FlowConfig>> changes{
      {[](FlowConfig& f) { f.source_qp = 2; }, ""},
      {[](FlowConfig& f) { f.source_qp = 1; }, "source_qp: 1 is not"},
      {[](FlowConfig& f) { f.destination_qp = 0xfffffe; }, ""},
      {[](FlowConfig& f) { f.destination_qp = 0xffffff; }, "destination_qp: 16777215 is not"},
      {[](FlowConfig& f) { f.dscp = 63; }, ""},
      {[](FlowConfig& f) { f.dscp = 64; }, "dscp: 64"},
      {[](FlowConfig& f) { f.ecn = 3; }, ""},
      {[](FlowConfig& f) { f.ecn = 4; }, "ecn: 4"},
      {[](FlowConfig& f) { f.ttl = 1; }, ""},
      {[](FlowConfig& f) { f.ttl = 0; }, "ttl: 0"},
      {[](FlowConfig& f) { f.flow_label = 0xfffff; }, ""},
      {[](FlowConfig& f) { f.flow_label = 0x100000; }, "flow_label: 0x100000 is above 20 bits"},
      {[](FlowConfig& f) { f.message_bytes = uint64_t{1} << 31; }, ""},
      {[](FlowConfig& f) { f.message_bytes = (uint64_t{1} << 31) + 1; }, "message_bytes"},
      {[](FlowConfig& f) { f.first_psn = 0xffffff; }, ""},
      {[](FlowConfig& f) { f.first_psn = 0x1000000; }, "first_psn"},
      {[](FlowConfig& f) { f.port = PortNo{1}; }, "port: 1, but the host has 1"},
      {[](FlowConfig& f) { f.start = Instant::at_ps(-1); }, "start"},
      {[](FlowConfig& f) { f.gap = Duration::ps(-1); }, "gap"},
      {[](FlowConfig& f) { f.mtu = 256; }, ""},
      {[](FlowConfig& f) { f.mtu = 4095; }, "mtu: 4095"},
      {[](FlowConfig& f) { f.rate = Rate::min(); }, ""},
      {[](FlowConfig& f) { f.rate = Rate::bps(999'999); }, "rate"},
      {[](FlowConfig& f) { f.reliable.window = f.reliable.ack_every = 1; }, ""},
      {[](FlowConfig& f) { f.reliable.window = 1 << 20; }, ""},
      {[](FlowConfig& f) { f.reliable.window = (1 << 20) + 1; }, "window"},
      {[](FlowConfig& f) { f.reliable.ack_every = 0; }, "ack_every: 0"},
      {[](FlowConfig& f) { f.reliable.ack_every = f.reliable.window; }, ""},
      {[](FlowConfig& f) { f.reliable.ack_every = f.reliable.window + 1; }, "ack_every"},
      {[](FlowConfig& f) { f.reliable.ack_timeout = 31; }, ""},
      {[](FlowConfig& f) { f.reliable.ack_timeout = 32; }, "ack_timeout"},
      {[](FlowConfig& f) { f.reliable.retries = 7; }, ""},
      {[](FlowConfig& f) { f.reliable.retries = 8; }, "retries"}};
  expect_limits(flow_config(), changes, [](const FlowConfig& flow) { return validate(host_config(1), flow); });
}

TEST(HostLimits, OfASink) {
  SinkConfig quiet;
  quiet.qp = 200;
  SinkConfig answering = quiet;
  answering.transport = TransportKind::kReliable;
  answering.source = host_config(2).ipv4;
  answering.source_qp = 300;
  const auto judge = [](const SinkConfig& sink) {
    HostConfig host = host_config(1);
    host.ipv6 = {};
    return validate(host, sink);
  };
  expect_limits<SinkConfig>(
      quiet,
      {{[](SinkConfig& s) { s.source_qp = 0; }, ""},
       {[](SinkConfig& s) { s.cnp_interval = Duration::ps(1), s.source = 1U; }, "source_qp: it has nobody to answer"},
       {[](SinkConfig& s) { s.transport = TransportKind::kReliable, s.source = 1U; },
        "source_qp: it has nobody to answer"},
       {[](SinkConfig& s) { s.source = Ipv6Address{1}; }, ""}},
      judge);
  expect_limits<SinkConfig>(answering,
                            {{[](SinkConfig& s) { s.source = Ipv6Address{1}; }, "source: the host has no address"},
                             {[](SinkConfig& s) { s.ack_dscp = s.cnp_dscp = 63; }, ""},
                             {[](SinkConfig& s) { s.ack_dscp = 64; }, "dscp: above 63"},
                             {[](SinkConfig& s) { s.cnp_dscp = 64; }, "dscp: above 63"},
                             {[](SinkConfig& s) { s.cnp_interval = Duration::ps(-1); }, "cnp_interval: negative"},
                             {[](SinkConfig& s) { s.nic_delay = Duration::ps(-1); }, "nic_delay: negative"}},
                            judge);
}

}  // namespace
}  // namespace softspine::testbeds
