// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/picture.hpp"

#include <gtest/gtest.h>

#include <stack>

#include "control/telemetry/json.hpp"
#include "tests/unit/storm/made_log.hpp"

namespace softspine::analysis::storm {
namespace {

using tests::MadeLog;

const CaptureFacts kFacts{
    .file = "it <&>\" \xff\x01.pcapng", .tally = {}, .ports = 4, .began_unix_seconds = {}, .notes = {}};

// What is wrong with it as XML, as far as our files use XML: tags that close, entities, no stray brackets.
std::string wrong_in_xml(const std::string& xml) {
  std::stack<std::string> open;
  for (size_t at = 0; at < xml.size();) {
    if (static_cast<unsigned char>(xml[at]) < ' ' && xml[at] != '\n') return "a control character";
    if (xml[at] == '&') {
      const std::string entity = xml.substr(at, xml.find(';', at) + 1 - at);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") return "entity " + entity;
    }
    if (xml[at] != '<') {
      if (xml[at] == '>') return "a stray >";
      ++at;
      continue;
    }
    const size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag without end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "a < in a tag";
    const std::string name = tag.substr(0, tag.find_first_of(" /", tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.top() != tag) return "closes " + tag;
      open.pop();
    } else if (tag.back() != '/') {
      open.push(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "not closed: " + open.top();
}

MadeLog storm() {
  MadeLog it;
  it.link("h1", "tor1");
  it.link("tor1", "spine1");
  it.link("h<2>", "tor1");
  it.stop("h1", "tor1", 1'000);
  it.stop("tor1", "spine1", 1'010);
  it.stop("tor1", "h<2>", 1'020);
  return it;
}

TEST(Picture, IsWellFormedAndSaysWhoTheRootIs) {
  MadeLog it = storm();
  const Analysis found = it.analysis();
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_EQ(wrong_in_xml(svg), "");
  for (const char* words :
       {"its root is h1", ">ROOT<", "h&lt;2&gt;", ">spine1<", "+20us", "h1 pauses tor1", "prio 3"}) {
    EXPECT_NE(svg.find(words), std::string::npos) << words;
  }
}

TEST(Picture, MarksADeadlock) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) {
    it.link(a, b);
    it.stop(a, b, 1'000);
  }
  const Analysis found = it.analysis();
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_NE(svg.find(">LOCKED<"), std::string::npos);
  EXPECT_EQ(svg.find(">ROOT<"), std::string::npos);
}

// s1 stops h1 and, over tor1, h4; h2 is paused now and then, and h3 for less than a twentieth.
TEST(StormAnalysis, AVictimOfADeadlockIsWhomItsNodesStop) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) it.link(a, b);
  for (const auto& [host, at] : {std::pair{"h1", "s1"}, {"tor1", "s1"}, {"h2", "s2"}, {"h3", "s3"}}) it.link(host, at);
  for (const char* host : {"h4", "h5"}) it.link(host, "tor1");
  it.stop("s1", "s2", 1'000);
  it.stop("s2", "s3", 1'010);
  it.stop("s3", "s1", 1'020);
  it.stop("s1", "h1", 1'050);
  it.stop("s1", "tor1", 1'060);
  it.stop("tor1", "h4", 1'100);
  it.flicker("s2", "h2", 20, 200);
  it.pause("s3", "h3", 2'000, 2'900, PauseEnd::kLapsed);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.deadlocks.size(), 1u);
  std::vector<std::string> victims;
  for (const uint32_t node : found.deadlocks[0].victims) victims.push_back(it.log.nodes[node].name);
  EXPECT_EQ(victims, (std::vector<std::string>{"h1", "h4", "tor1"}));
}

TEST(Picture, MarksWhomADeadlockStops) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) {
    it.link(a, b);
    it.stop(a, b, 1'000);
  }
  it.link("h1", "s1");
  it.link("h2", "s2");
  it.stop("s1", "h1", 1'010);
  it.flicker("s2", "h2", 20, 200);
  const Analysis found = it.analysis();
  const std::vector<Part> parts = parts_of(it.log, found);
  EXPECT_EQ(parts, (std::vector<Part>{Part::kLocked, Part::kLocked, Part::kLocked, Part::kVictim, Part::kCongested}));
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_NE(svg.find("victim: paused by what is caught in it"), std::string::npos);
  EXPECT_NE(svg.find(">by what is caught in it<"), std::string::npos);
  EXPECT_NE(text_report(kFacts, it.log, found, 10).find("Victims: 1 node, 1 of them hosts: h1"), std::string::npos);
}

TEST(Picture, IsNoLargerForAMillionPausesAndAThousandNodes) {
  MadeLog it;
  for (int i = 1; i <= 1'000; ++i) it.link("h" + std::to_string(i), "tor1");
  it.link("tor1", "spine1");
  for (int i = 1; i <= 100; ++i) it.stop("tor1", "h" + std::to_string(i), 1'000 + i);
  for (int64_t i = 0; i < 200'000; ++i) {
    it.log.pauses.push_back({.from = 1,
                             .to = 0,
                             .priority = 2,
                             .span = {.begin = dataplane::Instant::at_ps(i * 90'000),
                                      .end = dataplane::Instant::at_ps(i * 90'000 + 50'000),
                                      .frames = 1,
                                      .how = PauseEnd::kXon}});
  }
  const Analysis found = it.analysis();
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_LT(svg.size(), 400'000u);
  EXPECT_NE(svg.find("+980 as squares"), std::string::npos);
  EXPECT_NE(svg.find("more</text>"), std::string::npos) << "rows that are left out are said";
}

size_t times(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// As of a pod: twenty boxes in a row are too narrow for names, whose ends tell them apart.
TEST(Picture, NamesNodesOfAPodOnTwoLines) {
  MadeLog it;
  for (int i = 1; i <= 40; ++i) it.link("s12-h" + std::to_string(i) + "-nic3", "s12-r3-tor1");
  for (int i = 1; i <= 40; ++i) it.stop("s12-r3-tor1", "s12-h" + std::to_string(i) + "-nic3", 1'000 + i);
  const Analysis found = it.analysis();
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_EQ(times(svg, ">nic3<"), 20u);
  EXPECT_EQ(times(svg, ">s12-h7-<"), 1u);
  EXPECT_EQ(svg.find("…<"), std::string::npos) << "none is cut";
  EXPECT_NE(svg.find(">ToRs<"), std::string::npos) << "r3 says where, tor1 what it is";
}

// 128 hosts, as of a fat tree with k = 8: 100 are stopped, 20 have a box.
TEST(Picture, DrawsEveryVictim) {
  MadeLog it;
  for (int i = 1; i <= 128; ++i) it.link("h" + std::to_string(i), "tor1");
  it.link("tor1", "spine1");
  it.stop("spine1", "tor1", 1'000);
  for (int i = 1; i <= 100; ++i) it.stop("tor1", "h" + std::to_string(i), 1'010 + i);
  const Analysis found = it.analysis();
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_NE(svg.find("+108 as squares"), std::string::npos);
  EXPECT_EQ(svg.find("not drawn"), std::string::npos);
  const std::string edge = "stroke=\"" + std::string{colours::kVictimEdge} + "\"";
  EXPECT_EQ(times(svg, edge), 100u + 1u + 1u) << "the hosts, tor1, the legend";
  for (int i = 1; i <= 128; ++i)
    EXPECT_NE(svg.find("<title>h" + std::to_string(i) + "</title>"), std::string::npos) << i;
}

// Whoever is caught in it has a box, whatever else pauses longer.
TEST(Picture, HasABoxForEachMemberOfADeadlock) {
  MadeLog it;
  const auto name = [](int i) { return "s" + std::to_string(i); };
  for (int i = 1; i < 60; ++i) it.link(name(i), name(i + 1));
  it.link(name(60), name(58));
  for (int i = 1; i < 57; ++i) it.stop(name(i), name(i + 1), 10);
  it.stop(name(58), name(59), 15'000);
  it.stop(name(59), name(60), 15'000);
  it.stop(name(60), name(58), 15'000);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.deadlocks.size(), 1u);
  for (LogNode& node : it.log.nodes) node.tier = 1;
  EXPECT_EQ(times(picture(kFacts, it.log, found), ">LOCKED<"), 3u);
}

// h1 stops tor40 alone, whose four spines stop 39 other ToRs each: these are paused more.
MadeLog large_storm() {
  MadeLog it;
  const auto tor = [](int i) { return "tor" + std::to_string(i); };
  it.link("h1", tor(40));
  for (int i = 1; i <= 40; ++i) {
    for (const char* spine : {"spine1", "spine2", "spine3", "spine4"}) it.link(spine, tor(i));
  }
  it.stop("h1", tor(40), 1'000);
  int64_t at = 1'010;
  for (const char* spine : {"spine1", "spine2", "spine3", "spine4"}) it.stop(tor(40), spine, at++);
  for (const char* spine : {"spine1", "spine2", "spine3", "spine4"}) {
    for (int i = 1; i < 40; ++i) it.stop(spine, tor(i), ++at);
  }
  return it;
}

TEST(Picture, HasABoxForWhomTheRootPauses) {
  MadeLog it = large_storm();
  const Analysis found = it.analysis();
  ASSERT_EQ(it.root(found), "h1");
  const std::string svg = picture(kFacts, it.log, found);
  EXPECT_NE(svg.find(">tor40<"), std::string::npos);
  EXPECT_NE(svg.find("+20 as squares"), std::string::npos) << "others have none";
}

// 20 of 40 ToRs have a box, tor40 among them: 1 + 4 + 19 × 4 arrows, of which spine1's came first to each ToR.
TEST(Picture, OfArrowsThatAreTooManyKeepsThoseThatBroughtTheStorm) {
  MadeLog it = large_storm();
  const std::string svg = picture(kFacts, it.log, it.analysis());
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_EQ(times(svg, "<g><path"), 1u + 4u + 19u + 1u) << "and the legend's";
  EXPECT_NE(svg.find("faint: 57 pauses of nodes that another one had reached before"), std::string::npos);
  MadeLog small;
  for (int i = 1; i <= 19; ++i) small.link("tor" + std::to_string(i), "spine1");
  small.link("h1", "spine1");
  small.stop("h1", "spine1", 1'000);
  for (int i = 1; i <= 19; ++i) small.stop("spine1", "tor" + std::to_string(i), 1'001);
  const std::string all = picture(kFacts, small.log, small.analysis());
  EXPECT_EQ(times(all, "<g><path"), 20u + 1u);
  EXPECT_EQ(all.find("faint:"), std::string::npos);
}

// 4 spines × 20 ToRs and a host, congested: the longest keep their arrows.
TEST(Picture, OfArrowsThatAreTooManyWithoutAStormKeepsTheLongest) {
  MadeLog it;
  for (const char* spine : {"spine1", "spine2", "spine3", "spine4"}) {
    for (int i = 1; i <= 20; ++i) {
      const std::string tor = "tor" + std::to_string(i);
      it.link(spine, tor);
      it.pause(spine, tor, 100, 300);
    }
  }
  it.link("tor1", "h1");
  it.pause("tor1", "h1", 100, 150);
  const std::string svg = picture(kFacts, it.log, it.analysis());
  EXPECT_EQ(times(svg, "<g><path"), 80u + 1u);
  EXPECT_NE(svg.find(">faint: 1 shorter pause<"), std::string::npos);
  EXPECT_EQ(svg.find("tor1:to-h1 pauses"), std::string::npos);
}

// Of 700 pixels for 20 ms: what tor1 asked for before the storm reached it, or after it, is by others.
TEST(Picture, PausesBeforeAndAfterAStormHaveAnothersColour) {
  MadeLog it;
  it.link("h1", "tor1");
  it.link("tor1", "spine1");
  it.pause("h1", "tor1", 1'000, 10'000);
  it.pause("tor1", "spine1", 200, 400);
  it.pause("tor1", "spine1", 500, 10'001);
  it.pause("tor1", "spine1", 12'000, 12'400);
  const std::string svg = picture(kFacts, it.log, it.analysis());
  const auto widths = [&svg](std::string_view colour) {
    std::vector<double> out;
    for (size_t at = svg.find("height=\"13.0\""); at != std::string::npos; at = svg.find("height=\"13.0\"", at + 1)) {
      const std::string tag = svg.substr(svg.rfind('<', at), svg.find('>', at) - svg.rfind('<', at));
      if (tag.find(colour) != std::string::npos) out.push_back(std::stod(tag.substr(tag.find("width=") + 7)));
    }
    return out;
  };
  const double per_ms = (kPictureWidth - kMargin - kMargin - 260) / 20;
  const auto expect_widths = [&](std::string_view colour, const std::vector<double>& ms) {
    const auto found = widths(colour);
    ASSERT_EQ(found.size(), ms.size()) << colour;
    for (size_t i = 0; i < ms.size(); ++i) EXPECT_NEAR(found[i], ms[i] * per_ms, 0.6) << colour << " " << i;
  };
  expect_widths(colours::kRoot, {9});
  expect_widths(colours::kSpread, {9.001});
  expect_widths(colours::kCongestion, {0.2, 0.5, 0.4});
}

TEST(Picture, SaysWhatEvenSquaresHaveNoRoomFor) {
  MadeLog it;
  for (int i = 1; i <= 1'500; ++i) it.link("h" + std::to_string(i), "tor1");
  for (int i = 1; i <= 1'200; ++i) it.stop("tor1", "h" + std::to_string(i), 1'000);
  const std::string svg = picture(kFacts, it.log, it.analysis());
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_NE(svg.find(">490 not drawn<"), std::string::npos);
  EXPECT_NE(svg.find(">190 of them victims<"), std::string::npos);
}

TEST(Picture, DrawsACaptureWithoutPauses) {
  MadeLog it;
  it.link("h1", "tor1");
  const Analysis found = it.analysis();
  EXPECT_EQ(wrong_in_xml(picture(kFacts, it.log, found)), "");
  const MadeLog nothing;
  EXPECT_EQ(wrong_in_xml(picture(kFacts, nothing.log, Analysis{})), "");
}

TEST(Escaped, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(control::xml_escaped("a<b>&\"c"), "a&lt;b&gt;&amp;&quot;c");
  EXPECT_EQ(control::xml_escaped("\x01"), "\xEF\xBF\xBD");
  EXPECT_EQ(control::xml_escaped("é → 𝄞"), "é → 𝄞");
  EXPECT_EQ(control::xml_escaped("\xc3"), "\xEF\xBF\xBD") << "cut";
  EXPECT_EQ(control::xml_escaped("\xc0\xaf"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(control::xml_escaped("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
}

TEST(Reports, SayTheSameInTextAndJson) {
  MadeLog it = storm();
  const Analysis found = it.analysis();
  const std::string text = text_report(kFacts, it.log, found, 10);
  for (const char* words : {"STORM: root h1", "h1:to-tor1 pauses tor1:to-h1", "from 1 ms on for 19 ms",
                            "Victims: 3 nodes, 1 of them hosts: h<2>, spine1, tor1", "100 % of all paused time"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " is missing from\n" << text;
  }
  const control::Json json = json_report(kFacts, it.log, found);
  EXPECT_EQ(json["verdict"], "storm");
  EXPECT_EQ(json["storms"][0]["root"], "h1");
  EXPECT_EQ(json["storms"][0]["begin_ps"], 1'000'000'000);
  EXPECT_EQ(json["storms"][0]["spread"].size(), 3u);
  EXPECT_EQ(json["links"].size(), 3u);
  EXPECT_EQ(json["pauses"].size(), 3u);
  EXPECT_EQ(text_report(kFacts, it.log, found, 1).find("… and 2 more (--all)") == std::string::npos, false);
}

TEST(Reports, TellAsManyStormsAsTheyHaveRows) {
  MadeLog it;
  for (int i = 1; i <= 7; ++i) {
    it.link("h" + std::to_string(i), "tor" + std::to_string(i));
    it.stop("h" + std::to_string(i), "tor" + std::to_string(i), 1'000);
  }
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 7u);
  const std::string some = text_report(kFacts, it.log, found, 5);
  EXPECT_EQ(times(some, "STORM: root"), 5u);
  EXPECT_NE(some.find("… and 2 more (--all)"), std::string::npos);
  EXPECT_EQ(times(text_report(kFacts, it.log, found, 7), "STORM: root"), 7u);
}

TEST(Words, WriteTimesWithFourDigits) {
  using dataplane::Duration;
  EXPECT_EQ(time_text(Duration::ps(12'345'678)), "12.35 us");
  EXPECT_EQ(time_text(Duration::ps(999'999'999)), "1 ms");
  EXPECT_EQ(time_text(Duration::ps(500)), "500 ps");
  EXPECT_EQ(time_text(Duration::s(100)), "100 s");
  EXPECT_EQ(time_text(Duration{}), "0");
  EXPECT_EQ(time_text(Duration::us(-5)), "-5 us");
  EXPECT_EQ(priorities_text(0x38), "priorities 3, 4 and 5");
}

}  // namespace
}  // namespace softspine::analysis::storm
