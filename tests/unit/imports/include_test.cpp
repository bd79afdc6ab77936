// SPDX-License-Identifier: Apache-2.0
// Testbeds that name other files: parts of themselves, and other systems' topologies.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "control/compile/review.hpp"
#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Files : public testing::Test {
 protected:
  Files()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("softspine-include-") + std::to_string(getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  // With the folder left out.
  std::vector<std::string> complaints(const std::string& path) const {
    const auto testbed = load_testbed(path);
    std::vector<std::string> out = testbed ? std::vector<std::string>{} : texts_of(testbed.error());
    for (std::string& text : out) {
      for (size_t at = text.find(prefix()); at != std::string::npos; at = text.find(prefix()))
        text.erase(at, prefix().size());
    }
    return out;
  }
  std::string prefix() const { return folder_.string() + "/"; }

 private:
  std::filesystem::path folder_;
};

constexpr const char* kRack =
    "topology:\n"
    "  nodes: {tor1: {kind: switch}, a: {kind: host}, b: {kind: host}}\n"
    "  links:\n"
    "    - {endpoints: [a, tor1], rate: 100Gbps}\n"
    "    - {endpoints: [b, tor1], rate: 100Gbps}\n";

TEST_F(Files, AnIncludedFileIsPartOfTheTestbed) {
  write("parts/rack.yaml", kRack);
  write("parts/load.yaml", "workload: [{name: w, pattern: permutation}]\ninclude: rack.yaml\n");
  const auto testbed =
      load_testbed(write("t.yaml",
                         "name: t\ninclude: [parts/load.yaml]\n"
                         "topology: {nodes: {c: {kind: host}}, links: [{endpoints: [c, tor1], rate: 25Gbps}]}\n"));
  ASSERT_TRUE(testbed) << to_string(testbed.error()[0]);
  EXPECT_EQ(testbed->fabric.nodes.size(), 4u);
  EXPECT_EQ(testbed->fabric.links.size(), 3u);
  ASSERT_EQ(testbed->workloads.size(), 1u);
  EXPECT_EQ(testbed->workloads[0].hosts.size(), 3u);
}

TEST_F(Files, LagsOfSeveralFilesAreAllJoined) {
  const auto pair = [](const std::string& name, const std::string& lag) {
    const std::string cable = "{endpoints: [" + name + "1, " + name + "2], rate: 100Gbps}";
    return "topology:\n  nodes: {" + name + "1: {kind: switch}, " + name + "2: {kind: switch}}\n  links: [" + cable +
           ", " + cable + "]\n  lags: [{name: " + lag + ", between: [" + name + "1, " + name + "2]}]\n";
  };
  const std::string all = "name: t\ninclude: [x.yaml, y.yaml]\n" + pair("z", "po3");
  write("x.yaml", pair("x", "po1"));
  write("y.yaml", pair("y", "po2"));
  const auto testbed = load_testbed(write("t.yaml", all));
  ASSERT_TRUE(testbed) << to_string(testbed.error()[0]);
  std::vector<std::string> names;
  for (const Lag& lag : testbed->fabric.lags) names.push_back(lag.name);
  EXPECT_THAT(names, UnorderedElementsAre("po1", "po2", "po3"));
  write("y.yaml", pair("y", "po1"));
  EXPECT_THAT(complaints(write("t.yaml", all)),
              ElementsAre("y.yaml:4:17: topology.lags[0].name: there is another LAG 'po1'"));
}

TEST_F(Files, StacksAndServersOfAnIncludedFileAreRead) {
  write("more.yaml", "topology:\n  stacks: {s: {switches: [x, tor1]}}\n  servers: [{file: none.xml}]\n");
  EXPECT_THAT(complaints(write("t.yaml", "name: t\ninclude: more.yaml\n" + std::string(kRack))),
              UnorderedElementsAre(HasSubstr("more.yaml:2:"), HasSubstr("more.yaml:3:")));
}

TEST_F(Files, EachFabricOfSeveralMayStandInAFileOfItsOwn) {
  write("back.yaml", "fabrics: {back: {kind: star, hosts: 3, host_link: {rate: 400Gbps}}}\n");
  const std::string front =
      "name: t\ninclude: back.yaml\nfabrics: {front: {kind: star, hosts: 2, host_link: {rate: 100Gbps}}}\n";
  const auto testbed = load_testbed(write("t.yaml", front));
  ASSERT_TRUE(testbed) << to_string(testbed.error()[0]);
  EXPECT_EQ(testbed->fabric.nodes.size(), 7u);
  EXPECT_EQ(testbed->fabric.links.size(), 5u);
  write("back.yaml", "fabrics: {front: {kind: star, hosts: 3, host_link: {rate: 400Gbps}}}\n");
  EXPECT_THAT(complaints(write("t.yaml", front)), ElementsAre(HasSubstr("the fabric front stands in t.yaml:3")));
  write("back.yaml", "fabric: {kind: star, hosts: 3, host_link: {rate: 400Gbps}}\n");
  EXPECT_THAT(complaints(write("t.yaml", front)), ElementsAre(HasSubstr("stands beside 'fabric'")));
}

TEST_F(Files, MistakesOfAnIncludedFileHaveItsPlaces) {
  write("rack.yaml", std::string(kRack) + "    - {endpoints: [stranger, tor1], rate: 100Gbps}\nname: no\n");
  EXPECT_THAT(complaints(write("t.yaml", "name: t\ninclude: rack.yaml\n")),
              ElementsAre("rack.yaml:6:20: topology.links[2].endpoints[0]: there is no node 'stranger'",
                          AllOf(HasSubstr("rack.yaml:7:1: "), HasSubstr("unknown key 'name'"))));
}

TEST_F(Files, AFileWithoutRolesTakesNoneAway) {
  write("rack.yaml", kRack);
  write("roles.yaml", "roles: {tor: q}\n");
  const std::string rest = "profiles: {p: {mtu: 1500}, q: {mtu: 4200}}\n";
  const auto mtu_of_tor = [&](const std::string& head) {
    const auto testbed = load_testbed(write("t.yaml", "name: t\n" + head + rest));
    if (!testbed) return to_string(testbed.error()[0]);
    return testbed->profiles[testbed->fabric.nodes[0].profile].name;
  };
  EXPECT_EQ(mtu_of_tor("include: rack.yaml\nroles: {tor: p}\n"), "p");
  EXPECT_EQ(mtu_of_tor("include: [rack.yaml, roles.yaml]\n"), "q");
}

TEST_F(Files, NamesStandInOneFileOnly) {
  write("rack.yaml", std::string(kRack) + "profiles: {p: {mtu: 1500}}\nroles: {tor: p}\n");
  EXPECT_THAT(
      complaints(write("t.yaml",
                       "name: t\ninclude: rack.yaml\nprofiles: {p: {mtu: 9100}}\nroles: {tor: p}\n"
                       "topology: {nodes: {a: {kind: host}}}\n")),
      UnorderedElementsAre(HasSubstr("the profile p stands in t.yaml:3"), HasSubstr("the node a stands in t.yaml:5"),
                           HasSubstr("another file of this testbed has this role's profile")));
}

TEST_F(Files, WhatCannotRunIsToldFileByFile) {
  const auto apart = [](std::string name) {
    return "workload: [{name: " + std::move(name) + ", pattern: pairs, from: [a], to: [c]}]\n";
  };
  write("rack.yaml", std::string(kRack) + apart("v"));
  const auto testbed =
      load_testbed(write("t.yaml",
                         "name: t\ninclude: rack.yaml\ntopology: {nodes: {c: {kind: host}, d: {kind: host}}, "
                         "links: [{endpoints: [c, d], rate: 1Gbps}]}\n" +
                             apart("w")));
  ASSERT_TRUE(testbed) << to_string(testbed.error()[0]);
  std::vector<std::string> files;
  for (const Error& error : review(*testbed).errors)
    files.push_back(std::filesystem::path(error.file).filename().string() + ": " + error.path);
  EXPECT_THAT(files, ElementsAre("rack.yaml: workload[0]", "t.yaml: workload[0]"));
}

TEST_F(Files, CirclesDepthAndRepeatsAreRefused) {
  write("a.yaml", "include: b.yaml\n");
  write("b.yaml", "include: [a.yaml, t.yaml]\n" + std::string(kRack));
  EXPECT_THAT(complaints(write("t.yaml", "name: t\ninclude: a.yaml\n")),
              ElementsAre("b.yaml:1:11: include[0]: 'a.yaml' is included in t.yaml:2",
                          "b.yaml:1:19: include[1]: 't.yaml' is the testbed itself"));
  for (int i = 0; i < 9; ++i) write(std::to_string(i) + ".yaml", "include: " + std::to_string(i + 1) + ".yaml\n");
  EXPECT_THAT(complaints(write("deep.yaml", "name: t\ninclude: 0.yaml\n" + std::string(kRack))),
              ElementsAre("7.yaml:1:10: include: is more than 8 files deep"));
  EXPECT_THAT(complaints(write("none.yaml", "name: t\ninclude: nowhere.yaml\n" + std::string(kRack))),
              ElementsAre(HasSubstr("none.yaml:2:10: include: 'nowhere.yaml' cannot be opened")));
}

TEST_F(Files, ATestbedImportsATopologyAndSaysMoreOfItsNodes) {
  write("net/t.txt", "4 2 3\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0.001\n2 3 400Gbps 2us 0\n");
  const auto testbed = load_testbed(write("t.yaml",
                                          "name: t\n"
                                          "topology:\n"
                                          "  import: {file: net/t.txt, format: hpcc, as: [\"3=aggregation\"]}\n"
                                          "  nodes: {h0: {address: 10.9.0.7}, tor2: {subnet: 10.9.0.0/24}}\n"
                                          "workload: [{name: w, pattern: pairs, from: [h0], to: h1}]\n"));
  ASSERT_TRUE(testbed) << to_string(testbed.error()[0]);
  std::vector<std::string> names;
  for (const FabricNode& node : testbed->fabric.nodes) names.push_back(node.name + "=" + name_of(node.role));
  EXPECT_THAT(names, ElementsAre("tor2=tor", "h0=host", "agg3=aggregation", "h1=host"));
  EXPECT_EQ(to_string(testbed->fabric.nodes[1].ipv4), "10.9.0.7");
  ASSERT_EQ(testbed->port_faults.size(), 1u);
  EXPECT_EQ(testbed->port_faults[0].damaged_millionths, 1'000u);
}

TEST_F(Files, MistakesOfAnImportedFileHaveItsPlaces) {
  write("t.txt", "2 1 1\n1\n0 2 100Gbps 1us 0\n");
  EXPECT_THAT(complaints(write("t.yaml",
                               "name: t\ntopology: {import: {file: t.txt, format: hpcc}}\n"
                               "workload: [{name: w, pattern: pairs, from: [h0], to: h1}]\n")),
              ElementsAre("t.txt:3:3: a node must be a number of 0 to 1, not '2'"));
  write("u.txt", "2 1 1\n1\n0 1 100Gbps 1us 0\n");
  EXPECT_THAT(complaints(write("u.yaml", "name: t\ntopology: {import: {file: u.txt, format: hpcc, as: [9=host]}}\n")),
              ElementsAre("u.yaml:2:27: topology.import.file: no node has the name or kind '9', which a rule names"));
  EXPECT_THAT(complaints(write("v.yaml", "name: t\ntopology: {import: {file: [u.txt, t.txt], format: hpcc}}\n")),
              ElementsAre(HasSubstr("HPCC's ns-3 topology is one file, not 2")));
}

}  // namespace
}  // namespace softspine::control
