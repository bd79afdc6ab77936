// SPDX-License-Identifier: Apache-2.0
#include "control/document/document.hpp"

#include <gtest/gtest.h>

#include "control/format/quantity.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::with_fabric;

TEST(Document, NamesLineAndColumnOfASyntaxError) {
  const auto testbed = parse_testbed("name: t\nfabric: {kind: [\n", "t.yaml");
  ASSERT_FALSE(testbed);
  ASSERT_EQ(testbed.error().size(), 1u);
  EXPECT_EQ(to_string(testbed.error()[0]), "t.yaml:3:1: not YAML: end of sequence flow not found");
}

TEST(Document, RefusesAKeyThatStandsTwiceAtBothDepths) {
  EXPECT_EQ(complaints_about(with_fabric("run: {seed: 1, seed: 2}\nname: other\n")),
            (Complaints{"4 run.seed: the key 'seed' stands in this map already",
                        "5 name: the key 'name' stands in this map already"}));
}

// The first is read, so mistakes in it are told with its place: the other may have fewer items.
TEST(Document, ReadsTheFirstOfAKeyThatStandsTwiceAndTellsItsPlace) {
  EXPECT_EQ(complaints_about("name: t\ntopology:\n  nodes: {s: {kind: switch}}\n"
                             "  links: [{endpoints: [s, nobody],\n    endpoints: other, rate: 1Gbps}]\n"),
            (Complaints{"4 topology.links[0].endpoints[1]: there is no node 'nobody'",
                        "5 topology.links[0].endpoints: the key 'endpoints' stands in this map already"}));
}

TEST(Document, TheFirstOfTwoKindsAndSizesSaysWhatTheRestMeans) {
  const auto of_fabric = [](std::string_view fabric) {
    return complaints_about("name: t\nfabric: {" + std::string(fabric) + "}\n");
  };
  EXPECT_EQ(of_fabric("kind: hpn, size: published-segment, kind: leaf-spine"),
            (Complaints{"2 fabric.kind: the key 'kind' stands in this map already"}));
  EXPECT_EQ(of_fabric("kind: hpn, size: published-segment, size: none"),
            (Complaints{"2 fabric.size: the key 'size' stands in this map already"}));
}

TEST(Document, RefusesKeysThatAreNoWords) {
  EXPECT_EQ(complaints_about(with_fabric("[a, b]: 1\n? {c: d}\n: 2\n")).size(), 2u);
}

TEST(Document, RefusesTagsAndMergeKeys) {
  EXPECT_EQ(complaints_about(with_fabric("run: {seed: !!int 1}\nprofiles:\n  a: &a {mtu: 9000}\n  b: {<<: *a}\n")),
            (Complaints{"4 run.seed: the tag 'tag:yaml.org,2002:int' means nothing here",
                        "7 profiles.b.'<<': merge keys ('<<') are not read: name the base of a profile with 'base'"}));
}

TEST(Document, RefusesASecondDocument) {
  EXPECT_EQ(complaints_about(with_fabric("---\nname: two\n")),
            (Complaints{"4 : a second YAML document: one file is one testbed"}));
}

TEST(Document, RefusesAnEmptyText) {
  for (const std::string_view text : {"", "\n\n", "# only words\n"}) {
    EXPECT_EQ(complaints_about(text), (Complaints{"0 : empty: a testbed needs a name, and a fabric or a topology"}))
        << text;
  }
}

TEST(Document, RefusesATextThatIsNoMap) {
  EXPECT_EQ(complaints_about("- name: t\n"), (Complaints{"1 : expected a map (testbed), found a list"}));
  EXPECT_EQ(complaints_about("just words\n"), (Complaints{"1 : expected a map (testbed), found 'just words'"}));
}

TEST(Document, ReadsAnchorsAndAliasesAsIfWrittenOut) {
  const Testbed testbed = tests::read_well(
      "name: t\n"
      "fabric:\n"
      "  kind: leaf-spine\n"
      "  tors: &two 2\n"
      "  spines: *two\n"
      "  hosts_per_tor: 1\n"
      "  host_link: &link {rate: 100Gbps, length: 7m}\n"
      "  fabric_link: *link\n");
  ASSERT_EQ(testbed.fabric.links.size(), 6u);
  for (const FabricLink& link : testbed.fabric.links) {
    EXPECT_EQ(link.rate, dataplane::Rate::gbps(100));
    EXPECT_EQ(link.propagation, propagation_of(Length::metres(7)));
  }
}

TEST(Document, NamesAMistakeBehindAnAliasOnceAndWhereItStands) {
  EXPECT_EQ(complaints_about("name: t\n"
                             "fabric:\n"
                             "  kind: leaf-spine\n"
                             "  tors: 2\n"
                             "  spines: 1\n"
                             "  hosts_per_tor: 1\n"
                             "  host_link: &link {rate: 100}\n"
                             "  fabric_link: *link\n"),
            (Complaints{"7 fabric.host_link.rate: '100' has no unit: expected a rate such as 100Gbps "
                        "(bps, kbps, Mbps, Gbps, Tbps)"}));
}

TEST(Document, RefusesAnAliasOfNothingAndOfItself) {
  EXPECT_EQ(complaints_about("name: *nobody\n"), (Complaints{"1 : not YAML: the referenced anchor is not defined"}));
  EXPECT_EQ(complaints_about("name: t\nrun: &run {seed: *run}\n"),
            (Complaints{"2 : an alias inside what it stands for"}));
}

TEST(Document, RefusesBytesThatAreNoText) {
  using std::literals::operator""sv;
  EXPECT_EQ(complaints_about("name: t\nrun: \0{}"sv), (Complaints{"2 : not a text file: control character 0x00"}));
  EXPECT_EQ(complaints_about("name: \x1b[31m\n"), (Complaints{"1 : not a text file: control character 0x1b"}));
  EXPECT_EQ(complaints_about("\x7f"
                             "ELF"),
            (Complaints{"1 : not a text file: control character 0x7f"}));
  for (const std::string_view bad :
       {"\xff", "\xc0\x80", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\x80"}) {
    const Complaints found = complaints_about("name: t\n" + std::string(bad));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].starts_with("2 : not UTF-8: byte 0x")) << found[0];
  }
}

TEST(Document, RefusesAZeroByteWrittenAsAnEscape) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {address: \"10.0.1.9\\0junk\"}}}\n")),
            (Complaints{"4 topology.nodes.h1.address: holds a zero byte"}));
}

TEST(Document, TakesWindowsLineEndsAndAByteOrderMark) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : tests::kSmallFabric) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(tests::read_well(text).name, "small");
}

}  // namespace
}  // namespace softspine::control
