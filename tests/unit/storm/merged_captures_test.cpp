// SPDX-License-Identifier: Apache-2.0
// Names and times of several captures that are read as one.
#include "analysis/storm/merged_captures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using testing::ElementsAre;

CaptureOutline outline(const std::string& label, const std::string& place, const std::vector<std::string>& names) {
  CaptureOutline out{.label = label, .place = place, .interfaces = {}, .clock = {}};
  for (const std::string& name : names) out.interfaces.push_back({.name = name, .link_type = 1});
  return out;
}

std::vector<std::string> names_of(const std::vector<CaptureOutline>& captures) {
  const MergedCaptures merged{captures, one_group(captures.size(), {}).groups[0]};
  std::vector<std::string> out;
  for (const CapturedInterface& it : merged.interfaces()) out.push_back(it.name);
  return out;
}

TEST(MergedCaptures, TellPortsApartByTheirFiles) {
  EXPECT_THAT(names_of({outline("a.pcap", "", {"tor1:Ethernet4", "eth3", ""}), outline("b.pcap", "", {"eth3"})}),
              ElementsAre("tor1:Ethernet4", "a.pcap/eth3", "a.pcap/interface 2", "b.pcap/eth3"));
}

TEST(MergedCaptures, WithAPortInTwoFilesSayWhichFile) {
  EXPECT_THAT(names_of({outline("a.pcap", "", {"tor1:Ethernet4"}), outline("b.pcap", "", {"tor1:Ethernet4"})}),
              ElementsAre("a.pcap/tor1:Ethernet4", "b.pcap/tor1:Ethernet4"));
}

TEST(MergedCaptures, HaveThePlaceThatTheUserSays) {
  EXPECT_THAT(names_of({outline("a.pcap", "tor1", {"eth3", "tor1:eth4", ""})}),
              ElementsAre("tor1:eth3", "tor1:eth4", "tor1:interface 2"));
  EXPECT_THAT(names_of({outline("a.pcap", "tor1:Ethernet4", {"eth3"})}), ElementsAre("tor1:Ethernet4"));
  EXPECT_THAT(names_of({outline("a.pcap", "tor1:Ethernet4", {"eth3", "eth4"})}), ElementsAre("tor1:eth3", "tor1:eth4"))
      << "which of both it is nobody knows";
}

// Two clocks may be wrong in opposite ways: the two that are known worst.
TEST(MergedCaptures, AreAsUncertainAsTheTwoWorstClocksTogether) {
  for (const auto& order : {std::vector{0, 3, 5}, {0, 5, 3}, {5, 3, 0}, {3, 0, 5}}) {
    std::vector<CaptureOutline> captures;
    CaptureGroup group;
    for (const int us : order) {
      group.captures.push_back(
          {.capture = static_cast<uint32_t>(captures.size()), .map = {}, .uncertainty = Duration::us(us), .fit = {}});
      captures.push_back(outline(std::to_string(us), "", {"eth0"}));
    }
    EXPECT_EQ((MergedCaptures{captures, group}.uncertainty()), Duration::us(8));
  }
}

TEST(MergedCaptures, PutAFrameIntoItsPlaceAndTime) {
  const std::vector<CaptureOutline> captures{outline("a", "", {"x", "y"}), outline("b", "", {"z"})};
  CaptureGroup group = one_group(2, {}).groups[0];
  group.captures[1].map.begin = Instant::at_ps(700);
  const MergedCaptures merged{captures, group};
  CapturedFrame frame{.interface = 0, .at = Instant::at_ps(5), .bytes = {}};
  ASSERT_TRUE(merged.place(1, frame));
  EXPECT_EQ(frame.interface, 2u);
  EXPECT_EQ(frame.at, Instant::at_ps(705));
  CapturedFrame late{.interface = 1, .bytes = {}};
  EXPECT_FALSE(merged.place(1, late)) << "it was not there when the file was read for the first time";
}

TEST(MergedCaptures, AreLabelledByNameOrPath) {
  EXPECT_THAT(labels_of({"x/a.pcap", "y/b.pcap", "z/b.pcap"}), ElementsAre("a.pcap", "y/b.pcap", "z/b.pcap"));
  EXPECT_THAT(labels_of({"x/a:b.pcap"}), ElementsAre("a_b.pcap"));
}

}  // namespace
}  // namespace softspine::analysis::storm
