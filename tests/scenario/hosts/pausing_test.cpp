// SPDX-License-Identifier: Apache-2.0
// What a pause does to a host: which packets begin when, to the picosecond.
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/scenario/hosts/puppet.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint8_t kLossy = 26;  // priority 1

FlowConfig endless(uint32_t id, uint8_t dscp) {
  FlowConfig flow = flow_config(id);
  flow.verb = Verb::kSend;
  flow.mtu = 1024;
  flow.messages = 0;
  flow.dscp = dscp;
  return flow;
}

// The instants at which packets of a DSCP began, in order.
std::vector<Instant> starts_of(const Puppet& puppet, uint8_t dscp) {
  std::vector<Instant> starts;
  for (const Heard& heard : puppet.heard()) {
    if (heard.type() == ethernet::kTypeIpv4 && heard.dscp() == dscp) starts.push_back(heard.started);
  }
  return starts;
}
// The first that is not before.
Instant first_from(const std::vector<Instant>& starts, Instant from) {
  const auto found = std::ranges::lower_bound(starts, from);
  return found == starts.end() ? Instant::never() : *found;
}
Instant last_before(const std::vector<Instant>& starts, Instant before) {
  const auto found = std::ranges::lower_bound(starts, before);
  return found == starts.begin() ? Instant{} : *(found - 1);
}

TEST(HostPausing, BeginsNoPausedPacketFromTheResponseTimeUntilTheQuantaHaveRunOut) {
  for (const Rate rate : {Rate::gbps(10), Rate::gbps(25), Rate::gbps(100), Rate::gbps(400)}) {
    HostAndPuppet pair{host_config(1), rate};
    pair.host().add_flow(endless(0, kLossless));
    pair.puppet().say(us(20), pfc_frame(0x08, 8000));
    pair.run(us(1000));
    const PauseTiming timing = PauseTiming::of(rate);
    const Instant told = pair.arrival(us(20), mac_control::kFrameBytes);
    const Instant stop = told + timing.response;
    const Instant resume = told + timing.quantum * 8000;
    const Duration frame = rate.time_of_frame(1082);
    const auto starts = starts_of(pair.puppet(), kLossless);
    const Instant last = last_before(starts, resume);
    EXPECT_LT(last, stop);
    EXPECT_GE(last + frame, stop) << "it could have begun another";
    EXPECT_EQ(first_from(starts, resume), resume);
    EXPECT_EQ(pair.host().flow_control(PortNo{0}).pauses().paused_time(Priority{kLossless}, us(1000)), resume - stop);
    EXPECT_EQ(pair.host().flow_control(PortNo{0}).pauses().stopped_time(Priority{kLossless}, us(1000)),
              resume - (last + frame))
        << "its last frame was still leaving";
    EXPECT_EQ(pair.host().counters().dropped[static_cast<size_t>(DropReason::kPfcConsumed)], 1u);
  }
}

TEST(HostPausing, OtherPrioritiesGoOnAndHaveTheWholeLink) {
  HostAndPuppet pair;
  pair.host().add_flow(endless(0, kLossless));
  pair.host().add_flow(endless(1, kLossy));
  pair.puppet().say(us(0), pfc_frame(0x08, 0xffff));
  pair.run(us(300));
  const Duration frame = Rate::gbps(100).time_of_frame(1082);
  const auto lossy = starts_of(pair.puppet(), kLossy);
  const auto from = std::ranges::lower_bound(lossy, us(10));
  for (auto i = from; i + 1 < lossy.end(); ++i) ASSERT_EQ(*(i + 1) - *i, frame);
  EXPECT_GE(first_from(starts_of(pair.puppet(), kLossless), us(10)), us(300));
}

TEST(HostPausing, GoesOnWithTheFrameThatSaysSo) {
  HostAndPuppet pair;
  pair.host().add_flow(endless(0, kLossless));
  pair.puppet().say(us(0), pfc_frame(0x08, 0xffff));
  pair.puppet().say(us(50), pfc_frame(0x08, 0));
  pair.run(us(100));
  EXPECT_EQ(first_from(starts_of(pair.puppet(), kLossless), us(10)), pair.arrival(us(50), mac_control::kFrameBytes));
}

TEST(HostPausing, RefreshesKeepItPausedWithoutAGap) {
  HostAndPuppet pair;
  pair.host().add_flow(endless(0, kLossless));
  for (int i = 0; i < 20; ++i) pair.puppet().say(us(10 * i), pfc_frame(0x08, 2000));  // 10.24 us each
  pair.run(us(300));
  const auto starts = starts_of(pair.puppet(), kLossless);
  EXPECT_EQ(first_from(starts, us(5)), pair.arrival(us(190), mac_control::kFrameBytes) + Duration::ps(5120) * 2000);
  EXPECT_EQ(pair.host().flow_control(PortNo{0}).pauses().on_to_off(Priority{kLossless}), 1u);
  EXPECT_EQ(pair.host().flow_control(PortNo{0}).pauses().rx_frames(Priority{kLossless}), 20u);
}

TEST(HostPausing, AClassicPauseStopsEverythingAndAnswersToo) {
  HostAndPuppet pair;
  pair.host().add_flow(endless(0, kLossy));
  Bytes pause = pfc_frame(0, 0);
  store16(pause.data() + 14, pfc::kOpcodePause);
  store16(pause.data() + 16, 10'000);
  Bytes request(60);
  store_mac(request.data(), kBroadcastMac);
  request[11] = 2;
  request[6] = 2;
  store16(request.data() + ethernet::kType, ethernet::kTypeArp);
  store48(request.data() + ethernet::kBytes, arp::kEthernetIpv4);
  store16(request.data() + ethernet::kBytes + arp::kOperation, arp::kRequest);
  store32(request.data() + ethernet::kBytes + arp::kTargetIp, host_config(1).ipv4);
  pair.puppet().say(us(0), pause);
  pair.puppet().say(us(20), request);
  pair.run(us(100));
  const Instant resume = pair.arrival(us(0), mac_control::kFrameBytes) + Duration::ps(5120) * 10'000;
  uint32_t replies = 0;
  for (const Heard& heard : pair.puppet().heard()) {
    EXPECT_FALSE(heard.started > us(10) && heard.started < resume);
    if (heard.type() != ethernet::kTypeArp) continue;
    ++replies;
    EXPECT_EQ(heard.started, resume) << "answers go before data";
  }
  EXPECT_EQ(replies, 1u);
}

TEST(HostPausing, AConfiguredResponseReplacesTheStandards) {
  HostConfig config = host_config(1);
  config.links[0].parameters.pfc_response = Duration{};
  HostAndPuppet pair{config};
  pair.host().add_flow(endless(0, kLossless));
  pair.puppet().say(us(20), pfc_frame(0x08, 8000));
  pair.run(us(50));
  EXPECT_LT(last_before(starts_of(pair.puppet(), kLossless), us(45)), pair.arrival(us(20), mac_control::kFrameBytes));
}

TEST(HostPausing, AHostThatDoesNotObeyCountsAndGoesOn) {
  HostConfig config = host_config(1);
  config.obeys_pause = false;
  HostAndPuppet pair{config};
  pair.host().add_flow(endless(0, kLossless));
  pair.puppet().say(us(1), pfc_frame(0x08, 0xffff));
  pair.run(us(100));
  const auto starts = starts_of(pair.puppet(), kLossless);
  for (size_t i = 1; i < starts.size(); ++i) ASSERT_EQ(starts[i] - starts[i - 1], Rate::gbps(100).time_of_frame(1082));
  EXPECT_EQ(pair.host().flow_control(PortNo{0}).pauses().rx_frames(Priority{kLossless}), 1u);
}

TEST(HostPausing, MalformedPausesCostThemselvesAndNothingElse) {
  HostAndPuppet pair;
  pair.host().add_flow(endless(0, kLossless));
  Bytes truncated = pfc_frame(0x08, 0xffff);
  truncated.resize(33);
  Bytes unknown = pfc_frame(0x08, 0xffff);
  unknown[14] = 2;
  pair.puppet().say(us(1), truncated);
  pair.puppet().say(us(2), unknown);
  pair.puppet().say(us(3), pfc_frame(0, 0xffff));  // names nobody
  pair.run(us(50));
  const auto& dropped = pair.host().counters().dropped;
  EXPECT_EQ(dropped[static_cast<size_t>(DropReason::kTruncated)], 1u);
  EXPECT_EQ(dropped[static_cast<size_t>(DropReason::kUnknownMacControl)], 1u);
  EXPECT_EQ(dropped[static_cast<size_t>(DropReason::kPfcConsumed)], 1u);
  const auto starts = starts_of(pair.puppet(), kLossless);
  for (size_t i = 1; i < starts.size(); ++i) ASSERT_EQ(starts[i] - starts[i - 1], Rate::gbps(100).time_of_frame(1082));
}

TEST(HostPausing, ALinkThatComesBackIsNotPaused) {
  HostAndPuppet pair;
  pair.host().add_flow(endless(0, kLossless));
  pair.puppet().say(us(1), pfc_frame(0x08, 0xffff));
  const PortRef port{pair.host().id(), PortNo{0}};
  pair.engine().at(us(20), [&](Instant now) { pair.engine().set_link(port, false, now); });
  pair.engine().at(us(30), [&](Instant now) { pair.engine().set_link(port, true, now); });
  pair.run(us(50));
  EXPECT_EQ(first_from(starts_of(pair.puppet(), kLossless), us(10)), us(30));
}

}  // namespace
}  // namespace softspine::testbeds
