// SPDX-License-Identifier: Apache-2.0
// Jobs of testbed files: which servers they get, what workloads mean by them, and what is wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/harness/seed.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Names = std::vector<std::string>;

// Two zones of two racks with two servers, which have two NICs each: z1-h1 … z1-h4, z2-h1 … z2-h4.
const std::string kZones =
    "name: t\n"
    "fabric: {kind: ai-zone, zones: 2, racks: 2, nics_per_server: 2, uplinks: 1:1, zone_uplinks: 2:1,\n"
    "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n";

Names names(const Testbed& testbed, const std::vector<uint32_t>& nodes) {
  Names out;
  for (const uint32_t node : nodes) out.push_back(testbed.fabric.nodes[node].name);
  return out;
}

Names hosts_of(const std::string& jobs, const std::string& set) {
  const Testbed testbed =
      tests::read_well(kZones + jobs + "workload: [{name: w, pattern: ring, hosts: [\"" + set + "\"]}]\n");
  return testbed.workloads.empty() ? Names{} : names(testbed, testbed.workloads[0].hosts);
}

std::string zone_of(const std::string& server) {
  return server.substr(0, server.find('-'));
}

TEST(Jobs, ArePackedInTheFabricsOrderOneAfterTheOther) {
  const Testbed testbed = tests::read_well(kZones +
                                           "jobs:\n  - {name: a, servers: 3}\n  - {name: b, servers: [z1-h2, z2-h4]}\n "
                                           " - {name: c, servers: 2, of: z2-*}\n");
  ASSERT_EQ(testbed.jobs.size(), 3u);
  EXPECT_EQ(testbed.jobs[0].servers, (Names{"z1-h1", "z1-h3", "z1-h4"}));
  EXPECT_EQ(testbed.jobs[1].servers, (Names{"z1-h2", "z2-h4"}));
  EXPECT_EQ(testbed.jobs[2].servers, (Names{"z2-h1", "z2-h2"}));
  EXPECT_EQ(names(testbed, testbed.jobs[1].nics[1]), (Names{"z2-h4-nic1", "z2-h4-nic2"}));
}

TEST(Jobs, AreNamedByRankAndRail) {
  const std::string jobs = "jobs: [{name: j, servers: [z2-h1, z1-h3, z1-h1]}]\n";
  EXPECT_EQ(hosts_of(jobs, "job j"),
            (Names{"z2-h1-nic1", "z2-h1-nic2", "z1-h3-nic1", "z1-h3-nic2", "z1-h1-nic1", "z1-h1-nic2"}));
  EXPECT_EQ(hosts_of(jobs, "job j rail 2"), (Names{"z2-h1-nic2", "z1-h3-nic2", "z1-h1-nic2"}));
  EXPECT_EQ(hosts_of(jobs, "job j 1"), (Names{"z1-h3-nic1", "z1-h3-nic2"}));
  EXPECT_EQ(hosts_of(jobs, "job j 2..1 rail 1"), (Names{"z1-h1-nic1", "z1-h3-nic1"}));
}

TEST(Jobs, ThatAreDrawnAreOthersBySeedAndNameButOnlyFreeServersAndAlwaysTheSame) {
  const auto drawn = [](const std::string& name, int seed) {
    const Testbed testbed = tests::read_well(kZones + "run: {seed: " + std::to_string(seed) +
                                             "}\njobs: [{name: x, servers: [z1-h1]}, {name: " + name +
                                             ", servers: 5, placement: random}]\n");
    EXPECT_EQ(testbed.jobs.size(), 2u);
    return testbed.jobs.at(1).servers;
  };
  std::set<Names> seen;
  for (int seed = 1; seed <= 40; ++seed) {
    const Names servers = drawn("j", seed);
    EXPECT_EQ(std::set(servers.begin(), servers.end()).size(), 5u);
    EXPECT_EQ(std::ranges::count(servers, "z1-h1"), 0);
    EXPECT_EQ(drawn("j", seed), servers);
    seen.insert(servers);
  }
  EXPECT_GT(seen.size(), 35u);
  EXPECT_NE(drawn("j", 1), drawn("k", 1));
}

// Two groups of which the ranks take turns. Packed: each zone has two of each. Cut: each has one of them.
TEST(Jobs, ThatAreCutKeepWhatTalksInAZone) {
  const auto placed = [](const std::string& placement) {
    return tests::read_well(
        kZones + "jobs: [{name: j, servers: 8, placement: " + placement +
        "}]\nworkload:\n"
        "  - {name: even, pattern: all_to_all, hosts: [job j 0, job j 2, job j 4, job j 6], message: 1MiB}\n"
        "  - {name: odd, pattern: all_to_all, hosts: [job j 1, job j 3, job j 5, job j 7], message: 1MiB}\n"
        "  - {name: thin, pattern: pairs, from: [job j 0 rail 1], to: [job j 1 rail 1], message: 1MiB}\n");
  };
  const Job packed = placed("packed").jobs.at(0);
  const Job cut = placed("min-cut").jobs.at(0);
  // A pair of ranks says 2 × 2 × 2 MiB; a group has 6 pairs, of which packed parts 4 and the cut none.
  constexpr double kMiB = 1 << 20;
  EXPECT_EQ(packed.bytes, (2 * 6 * 8 + 1) * kMiB);
  EXPECT_EQ(packed.tiers.at(0).bytes, 2 * 4 * 8 * kMiB);
  EXPECT_EQ(packed.tiers.at(0).oversubscription, 2);
  EXPECT_EQ(cut.bytes, packed.bytes);
  EXPECT_EQ(cut.tiers.at(0).bytes, kMiB);
  for (size_t rank = 2; rank < 8; ++rank) EXPECT_EQ(zone_of(cut.servers[rank]), zone_of(cut.servers[rank % 2]));
  EXPECT_NE(zone_of(cut.servers[0]), zone_of(cut.servers[1]));
  EXPECT_EQ(std::set(cut.servers.begin(), cut.servers.end()).size(), 8u);
  // Within a zone all racks are filled: 4 ranks of which each talks to each, over 2 racks.
  EXPECT_EQ(cut.tiers.at(1).bytes, (2 * 4 * 8 + 1) * kMiB);
}

TEST(Jobs, CountWhatTheirWorkloadsSendWhereverTheyAre) {
  const auto bytes = [](const std::string& workload) {
    return tests::read_well(
               kZones + "jobs: [{name: j, servers: 3}, {name: k, servers: 2}]\nworkload: [{name: w, message: 1000B, " +
               workload + "}]\n")
        .jobs.at(0)
        .bytes;
  };
  EXPECT_EQ(bytes("pattern: ring, hosts: [job j rail 1]"), 3000);
  EXPECT_EQ(bytes("pattern: ring, hosts: [job j]"), 3000);  // within a server nothing counts
  EXPECT_EQ(bytes("pattern: ring, hosts: [job j rail 1], messages: 7, qps: 2"), 42000);
  EXPECT_EQ(bytes("pattern: ring, hosts: [job j rail 1], messages: 7, qps: 2, scaling: split"), 21000);
  EXPECT_EQ(bytes("pattern: all_to_all, hosts: [job j]"), 6 * 4 * 1000);
  EXPECT_EQ(bytes("pattern: permutation, hosts: [job j rail 2]"), 3000);
  EXPECT_EQ(bytes("pattern: incast, from: [job j 1..2 rail 1], to: [job j 0 rail 1]"), 2000);
  EXPECT_EQ(bytes("pattern: pairs, from: [job j 0..1 rail 1], to: [job j 1 rail 1, job k 0 rail 1]"), 1000);
  EXPECT_EQ(bytes("pattern: ring, hosts: [job k rail 1]"), 0);
  EXPECT_EQ(bytes("pattern: ring"), 0);
}

// Two segments of two servers, each with a NIC on each of two rails, which only aggregation switches join.
const std::string kRails =
    "name: t\n"
    "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 2, aggregations_per_plane: 2,\n"
    "  host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}}\n";

// Of the four ways between two servers' NICs two are between rails.
TEST(Jobs, CrossATierWhereRailsDoThoughTheirServersAreBelowIt) {
  const auto crossing = [](const std::string& servers, const std::string& hosts) {
    const Job job =
        tests::read_well(kRails + "jobs: [{name: j, servers: " + servers +
                         "}]\nworkload: [{name: w, pattern: all_to_all, hosts: [" + hosts + "], message: 1000B}]\n")
            .jobs.at(0);
    return job.tiers.at(0).share_of(job.bytes);
  };
  EXPECT_DOUBLE_EQ(crossing("[s1-h1, s1-h2]", "job j"), 0.5);
  EXPECT_DOUBLE_EQ(crossing("[s1-h1, s1-h2]", "job j rail 1"), 0);
  EXPECT_DOUBLE_EQ(crossing("[s1-h1, s2-h1]", "job j"), 1);
  // What a server's rails say to each other stays in it, and is no part of the job's traffic.
  const Job within =
      tests::read_well(kRails +
                       "jobs: [{name: j, servers: [s1-h1, s2-h1]}]\nworkload:\n"
                       "  - {name: w, pattern: pairs, from: [job j rail 1], to: [job j rail 2], message: 1000B}\n"
                       "  - {name: x, pattern: pairs, from: [job j 0 rail 1], to: [job j 1 rail 1], message: 500B}\n")
          .jobs.at(0);
  EXPECT_EQ(within.bytes, 500);
  EXPECT_EQ(within.tiers.at(0).bytes, 500);
  // Of 6 pairs of servers 2 share a segment, and half of what these say stays there.
  EXPECT_DOUBLE_EQ(crossing("4", "job j"), 5.0 / 6);
}

// Which servers get which ranks, of all ways there are: NIC to NIC, by segment and rail alone.
TEST(Jobs, ThatAreCutOverRailsCrossAsLittleAsAnyPlacement) {
  std::mt19937_64 random(tests::seed());
  for (int round = 0; round < 60; ++round) {
    struct Flow {
      uint64_t from, rail, to, other, bytes;
    };
    std::vector<Flow> flows;
    std::string rows;
    for (int i = 0; i < 6; ++i) {
      const Flow flow{random() % 4, random() % 2, random() % 4, random() % 2, 1 + random() % 9};
      if (flow.from == flow.to) continue;
      flows.push_back(flow);
      rows += "  - {name: w" + std::to_string(i) + ", pattern: pairs, from: [job j " + std::to_string(flow.from) +
              " rail " + std::to_string(flow.rail + 1) + "], to: [job j " + std::to_string(flow.to) + " rail " +
              std::to_string(flow.other + 1) + "], message: " + std::to_string(flow.bytes) + "KiB}\n";
    }
    if (flows.empty()) continue;
    const Job job =
        tests::read_well(kRails + "jobs: [{name: j, servers: 4, placement: min-cut}]\nworkload:\n" + rows).jobs.at(0);
    const auto crossed = [&](const std::vector<uint64_t>& segment_of) {
      double out = 0;
      for (const Flow& flow : flows) {
        const bool stays = segment_of[flow.from] == segment_of[flow.to] && flow.rail == flow.other;
        out += stays ? 0 : static_cast<double>(flow.bytes * 1024);
      }
      return out;
    };
    double least = HUGE_VAL;
    std::vector<uint64_t> segments{0, 0, 1, 1};
    do least = std::min(least, crossed(segments));
    while (std::ranges::next_permutation(segments).found);
    std::vector<uint64_t> placed;
    for (const std::string& server : job.servers) placed.push_back(server.starts_with("s1") ? 0 : 1);
    EXPECT_EQ(job.tiers.at(0).bytes, crossed(placed)) << rows;
    EXPECT_EQ(job.tiers.at(0).bytes, least) << rows;
  }
}

TEST(Jobs, MistakesAreToldWithTheirPlaces) {
  const auto about = [](const std::string& rest) { return tests::complaints_about(kZones + rest); };
  EXPECT_THAT(about("jobs: [{name: a, servers: 9}]\n"), ElementsAre("4 jobs[0].servers: there are 8 servers for it"));
  EXPECT_THAT(about("jobs: [{name: a, servers: 6}, {name: b, servers: 3}]\n"),
              ElementsAre(HasSubstr("jobs[1].servers: the jobs before it leave it 2 servers")));
  EXPECT_THAT(about("jobs: [{name: a, servers: 5, of: z1-*}]\n"), ElementsAre(HasSubstr("there are 4 such servers")));
  EXPECT_THAT(about("jobs: [{name: a, servers: 1, of: z3-*}]\n"),
              ElementsAre(HasSubstr("jobs[0].of: there is no server 'z3-*': did you mean 'z1-*'?")));
  EXPECT_THAT(about("jobs: [{name: a, servers: [z1-h1, z1-h9]}]\n"),
              ElementsAre(HasSubstr("jobs[0].servers[1]: there is no server 'z1-h9'")));
  EXPECT_THAT(about("jobs: [{name: a, servers: [z1-h1]}, {name: b, servers: [z1-h1]}]\n"),
              ElementsAre(HasSubstr("z1-h1 is in job a")));
  EXPECT_THAT(about("jobs: [{name: a, servers: [z1-h1, z1-h1]}]\n"),
              ElementsAre(HasSubstr("z1-h1 is in job a already")));
  EXPECT_THAT(about("jobs: [{name: a, servers: 1}, {name: a, servers: 1}]\n"),
              ElementsAre(HasSubstr("a job 'a' stands here already")));
  EXPECT_THAT(about("jobs: [{name: a, servers: [z1-h1], placement: packed}]\n"),
              ElementsAre(HasSubstr("is for a number of servers")));
  const std::string job = "jobs: [{name: train, servers: 2}]\nworkload: [{name: w, pattern: ring, hosts: [";
  EXPECT_THAT(about(job + "job trian]}]\n"), ElementsAre(HasSubstr("there is no job 'trian': did you mean 'train'?")));
  const std::string refused = "jobs: [{name: train, servers: 20}]\nworkload: [{name: w, pattern: ring, hosts: [";
  EXPECT_THAT(about(refused + "job train]}]\n"), ElementsAre(HasSubstr("there are 8 servers for it")));
  EXPECT_THAT(about(refused + "job trian]}]\n"),
              ElementsAre(HasSubstr("there are 8 servers for it"), HasSubstr("did you mean 'train'?")));
  EXPECT_THAT(about(job + "job train 2]}]\n"), ElementsAre(HasSubstr("the ranks of job train are 0 to 1")));
  for (const char* ranks : {"0..2", "2..0", "1..2", "2..1", "2..2"}) {
    EXPECT_THAT(about(job + "job train " + ranks + "]}]\n"),
                ElementsAre(HasSubstr("the ranks of job train are 0 to 1")))
        << ranks;
  }
  for (const char* ranks : {"..1", "0..", "x..1", "0..x", "0 1", "-1", "rail", "rail x", "0 rail", "1..0 rail 1 2"})
    EXPECT_THAT(about(job + "job train " + ranks + "]}]\n"), ElementsAre(HasSubstr("is no set of a job's NICs")))
        << ranks;
  EXPECT_THAT(about(job + "job train rail 3]}]\n"), ElementsAre(HasSubstr("have no rail 3")));
  EXPECT_THAT(about(job + "job train all]}]\n"), ElementsAre(HasSubstr("is no set of a job's NICs")));
}

TEST(Jobs, AWorkloadOfTheirsThatLacksAnEndIsToldOnce) {
  const auto about = [](const std::string& workload) {
    return tests::complaints_about(kZones + "jobs: [{name: j, servers: 2}]\nworkload:\n  - {name: w, " + workload +
                                   "}\n");
  };
  EXPECT_THAT(about("pattern: pairs, from: [job j rail 1]"),
              ElementsAre("6 workload[0]: the key 'to' is missing: who receives"));
  EXPECT_THAT(about("pattern: incast, from: [job j rail 1]"),
              ElementsAre("6 workload[0]: the key 'to' is missing: who receives"));
  EXPECT_THAT(about("pattern: pairs, to: [job j rail 1]"),
              ElementsAre("6 workload[0]: the key 'from' is missing: who sends"));
  EXPECT_THAT(about("pattern: permutation, hosts: [job j 0 rail 1]"),
              ElementsAre("6 workload[0].hosts: needs two built-in hosts, has 1"));
}

TEST(Jobs, ServersThatDifferAreNotTakenForEachOther) {
  EXPECT_THAT(tests::complaints_about(
                  kZones + "topology: {nodes: {x: {kind: host}}, links: [{endpoints: [x, z1-rtsw1], rate: 100Gbps}]}\n"
                           "jobs: [{name: a, servers: 2}]\n"),
              ElementsAre(HasSubstr("its servers would differ: z1-h1 has 2 NICs, x 1")));
}

// Each rank of a ring sends 2(n − 1) parts of 1/n, all of them 2(n − 1) times the bytes; of an AllToAll each pair a
// part.
TEST(Jobs, CollectivesCountAsTheirRanksSend) {
  const auto job = [](const std::string& collective, const std::string& placement) {
    const Testbed testbed = tests::read_well(kZones + "jobs: [{name: j, servers: 4, placement: " + placement +
                                             "}]\ncollectives:\n  - {name: c, ranks: job j rail 1, protocol: simple, " +
                                             collective + "}\n");
    EXPECT_TRUE(testbed.warnings.empty());
    return testbed.jobs.at(0);
  };
  constexpr double kBytes = 4 << 20;
  EXPECT_EQ(job("op: all_reduce, algorithm: ring, size: 4MiB", "packed").bytes, 2 * 3 * kBytes);
  EXPECT_EQ(job("op: all_reduce, algorithm: ring, size: 4MiB, iterations: 5", "packed").bytes, 5 * 2 * 3 * kBytes);
  EXPECT_EQ(job("op: all_to_all, size: [4MiB, 2MiB]", "packed").bytes, 3 * kBytes * 3 / 2);
  // One zone holds all four, so nothing has to leave it.
  const Job cut = job("op: all_to_all, size: 4MiB", "min-cut");
  EXPECT_EQ(cut.bytes, 3 * kBytes);
  EXPECT_EQ(cut.tiers.at(0).bytes, 0);
}

// The ranks of a server come together, so a ring leaves each of the four once, whatever the order in the file.
TEST(Jobs, CollectivesCountAsTheirServersSend) {
  const Testbed testbed =
      tests::read_well(kZones +
                       "jobs: [{name: j, servers: 4}]\ncollectives: [{name: c, ranks: [job j rail 2, job j rail 1], "
                       "protocol: simple, op: all_reduce, algorithm: ring, size: 4MiB}]\n");
  EXPECT_EQ(testbed.jobs.at(0).bytes, 4 * 2 * 7.0 / 8 * (4 << 20));
}

TEST(Jobs, MinCutWithoutTrafficIsWarnedOf) {
  const Testbed testbed = tests::read_well(kZones + "jobs: [{name: a, servers: 2, placement: min-cut}]\n");
  ASSERT_EQ(testbed.warnings.size(), 1u);
  EXPECT_THAT(to_string(testbed.warnings[0]), HasSubstr("has nothing to cut"));
}

}  // namespace
}  // namespace softspine::control
