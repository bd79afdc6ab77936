// SPDX-License-Identifier: Apache-2.0
// What every table does: keys known and unknown, missing, of the wrong type, out of range; everything at once.
#include "control/format/table.hpp"

#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::with_fabric;

TEST(Table, GuessesWhatAnUnknownKeyMeant) {
  EXPECT_EQ(complaints_about(with_fabric("run: {sede: 1}\nworklaod: []\nfrobnicate: 1\n")),
            (Complaints{"4 run.sede: unknown key 'sede': did you mean 'seed'?",
                        "5 worklaod: unknown key 'worklaod': did you mean 'workload'?",
                        "6 frobnicate: unknown key 'frobnicate'"}));
}

TEST(Table, NamesEveryMissingKeyAtItsMap) {
  EXPECT_EQ(complaints_about("name: t\nfabric:\n  kind: fat-tree\n  host_link: {length: 5m}\n"),
            (Complaints{"3 fabric: the key 'fabric_link' is missing: ToR to aggregation",
                        "3 fabric: the key 'k' is missing: ports of a switch, pods of the tree: even",
                        "4 fabric.host_link: the key 'rate' is missing: of each direction"}));
}

TEST(Table, NamesMissingNameAndFabric) {
  EXPECT_EQ(complaints_about("run: {seed: 1}\n"),
            (Complaints{"1 : nothing to build: 'fabric', 'fabrics' or 'topology' is missing",
                        "1 : the key 'name' is missing: what reports call it"}));
}

TEST(Table, SaysWhatItFoundWhereAnotherTypeIsDue) {
  EXPECT_EQ(complaints_about(with_fabric("run: [1]\nworkload: {}\nroles: {tor: [a]}\nprofiles: 5\nexpect:\n")),
            (Complaints{"4 run: expected a map (run), found a list", "5 workload: expected a list, found a map",
                        "6 roles.tor: expected a text, found a list", "7 profiles: expected a map of names, found '5'",
                        "8 expect: expected a list, found nothing"}));
}

TEST(Table, HoldsNumbersWithinTheirLimits) {
  EXPECT_EQ(complaints_about(with_fabric("run: {seed: -1, workers: 0, dilation: 1000001}\n")),
            (Complaints{"4 run.seed: expected a whole number, not negative, found '-1'",
                        "4 run.workers: must be at least 1, not '0'",
                        "4 run.dilation: must be at most 1000000, not '1000001'"}));
  EXPECT_EQ(complaints_about(with_fabric("run: {seed: 18446744073709551616, workers: 2.5}\n")),
            (Complaints{"4 run.seed: '18446744073709551616' is too large: at most 18446744073709551615",
                        "4 run.workers: expected a whole number, not negative, found '2.5'"}));
  EXPECT_EQ(tests::read_well(with_fabric("run: {seed: 18446744073709551615}\n")).run.seed, UINT64_MAX);
}

TEST(Table, HoldsQuantitiesWithinTheirLimits) {
  EXPECT_EQ(complaints_about("name: t\n"
                             "fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2,\n"
                             "  host_link: {rate: 2Tbps, length: 0m},\n"
                             "  fabric_link: {rate: 0bps}}\n")
                .size(),
            3u);
}

TEST(Table, GuessesAWordOfAList) {
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: permutatoin}]\n")),
            (Complaints{"4 workload[0].pattern: 'permutatoin' is not one of permutation, incast, pairs, all_to_all, "
                        "ring, list, poisson: did you mean 'permutation'?"}));
}

TEST(Table, AKindChoosesTheTable) {
  EXPECT_EQ(complaints_about("name: t\nfabric: {tors: 2}\n"),
            (Complaints{"2 fabric: the key 'kind' is missing (leaf-spine, fat-tree, hpn, ai-zone, dcn-plus, front-end, "
                        "star, 2-ary-fat-tree, clos, crossbar)"}));
  EXPECT_EQ(complaints_about("name: t\nfabric: {kind: leafspine}\n"),
            (Complaints{"2 fabric.kind: 'leafspine' is not one of leaf-spine, fat-tree, hpn, ai-zone, dcn-plus, "
                        "front-end, star, 2-ary-fat-tree, clos, crossbar: "
                        "did you mean 'leaf-spine'?"}));
}

TEST(Table, NamesAreWords) {
  EXPECT_EQ(complaints_about("name: a b\ntopology: {nodes: {-h: {kind: host}, x.y: {kind: host}}}\n").size(), 5u);
  EXPECT_TRUE(is_name(std::string(63, 'a')));
  EXPECT_FALSE(is_name(std::string(64, 'a')));
}

TEST(Table, NamesAllMistakesInTheOrderOfTheFile) {
  const Complaints found = complaints_about(
      "name: t\n"
      "expect: [{value: a, equal: 1, at_most: 2}]\n"             // 2
      "faults: [{at: 1ms, link: tor1:Ethernet999, set: up}]\n"   // 3: found after the fabric is built
      "workload: [{name: w, pattern: ring, hosts: [h1, h9]}]\n"  // 4: likewise
      "profiles: {a: {base: b}, b: {base: a}}\n"                 // 5
      "roles: {tor: nowhere}\n"                                  // 6
      "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2,\n"
      "  host_link: {rate: 100Gbps}, fabric_link: {rate: 400Gbps}}\n"
      "topology: {nodes: {h1: {address: 9.9.9.9}}}\n"  // 9
      "extra: 1\n"                                     // 10
      "extra: 2\n");                                   // 11, and once more as unknown
  std::vector<int> lines;
  for (const std::string& line : found) lines.push_back(std::stoi(line));
  EXPECT_EQ(lines, (std::vector{2, 3, 4, 5, 6, 9, 10, 11, 11}));
}

TEST(Table, AMistakeDoesNotBringOthersThatFollowFromIt) {
  // The duration could not be read: nothing is known about what lies behind the end.
  EXPECT_EQ(complaints_about(with_fabric("run: {duration: 20}\n"
                                         "faults: [{at: 15ms, node: spine1, set: down}]\n"
                                         "workload: [{name: w, pattern: ring, start: 15ms}]\n"))
                .size(),
            1u);
  // The pattern could not be read: nobody knows which keys it takes.
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: incats, from: [h1], to: h2}]\n")).size(), 1u);
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: paris, hosts: [h1, h2]}]\n")).size(), 1u);
  // The clock could not be read: it may have been the wall's.
  EXPECT_EQ(complaints_about(with_fabric("run: {clock: wal}\ntopology: {nodes: {h1: {guest: {}}}}\n")).size(), 1u);
  // The fabric could not be read: any name may be one of its nodes.
  EXPECT_EQ(
      complaints_about("name: t\nfabric: {kind: fat-tree, k: four, host_link: {rate: 1Gbps}, fabric_link: "
                       "{rate: 1Gbps}}\nworkload: [{name: w, pattern: ring, hosts: [h1, h2]}]\n"
                       "faults: [{at: 1ms, link: p1-tor1:Ethernet0, set: down}]\n"
                       "topology: {nodes: {h1: {address: 10.0.1.7}}, links: [{endpoints: [h1, x], rate: 1Gbps}]}\n")
          .size(),
      1u);
  // A link's mtu could not be read: it is not too small for a workload.
  EXPECT_EQ(complaints_about("name: t\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2,\n"
                             "  host_link: {rate: 1Gbps, mtu: big}, fabric_link: {rate: 1Gbps}}\n"
                             "workload: [{name: w, pattern: ring}]\n")
                .size(),
            1u);
  EXPECT_EQ(
      complaints_about(with_fabric("profiles: {default: {mtu: big}}\nworkload: [{name: w, pattern: ring}]\n")).size(),
      1u);
  // A name that could not be read is not another missing one.
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: [w], pattern: ring}, {pattern: ring}]\n")).size(), 2u);
  EXPECT_EQ(complaints_about(with_fabric("roles: {tor: {}}\n")).size(), 1u);
  EXPECT_EQ(complaints_about(with_fabric("expect: [{value: [], equal: 1}]\n")).size(), 1u);
  EXPECT_EQ(complaints_about(with_fabric("faults: [{at: 1ms, set: up, link: []}]\n")).size(), 1u);
  EXPECT_EQ(complaints_about(with_fabric("faults: [{at: 1ms, set: up, node: []}]\n")).size(), 1u);
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {server: [], edge: {tap: {name: []}}}}}\n")).size(),
            2u);
}

}  // namespace
}  // namespace softspine::control
