// SPDX-License-Identifier: Apache-2.0
// How many bytes a job's ranks say to each other, by workloads whose pairs of NICs can be counted by hand.
#include "control/load/job_traffic.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

// Three servers of job j and one of job k, each with two NICs, one on each rail.
class Traffic : public testing::Test {
 protected:
  using Parts = std::vector<std::vector<uint32_t>>;  // by rank and NIC

  static WorkloadRow row(Pattern pattern, std::vector<std::string> hosts) {
    WorkloadRow out;
    out.pattern = pattern;
    out.message.count = 1000;
    out.hosts = std::move(hosts);
    return out;
  }
  static WorkloadRow between(Pattern pattern, std::vector<std::string> from, std::vector<std::string> to) {
    WorkloadRow out = row(pattern, {});
    out.hosts.reset();
    out.from.emplace().names = std::move(from);
    out.to.emplace().items = std::move(to);
    return out;
  }
  JobTraffic of(const std::vector<WorkloadRow>& rows) {
    TestbedRow row;
    row.workload = rows;
    return of(row);
  }
  JobTraffic of(const TestbedRow& row) {
    return {testbed_.jobs.at(0), testbed_.jobs, row, sets_, testbed_.fabric, files_};
  }
  // What two ranks say to each other, both ways.
  static std::map<std::pair<size_t, uint32_t>, double> talks(const JobTraffic& traffic, std::vector<uint32_t> rail_of) {
    std::map<std::pair<size_t, uint32_t>, double> out;
    const JobTraffic::ByRank by_rank = traffic.by_rank(rail_of);
    EXPECT_FALSE(by_rank.over);
    EXPECT_EQ(by_rank.talks.size(), 3u);
    for (size_t rank = 0; rank < by_rank.talks.size(); ++rank) {
      for (const Talk& talk : by_rank.talks[rank]) out[{rank, talk.peer}] = talk.bytes;
    }
    return out;
  }

  const Testbed testbed_ = tests::read_well(
      "name: t\n"
      "fabric: {kind: ai-zone, zones: 2, racks: 2, nics_per_server: 2, uplinks: 1:1, zone_uplinks: 2:1,\n"
      "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
      "jobs: [{name: j, servers: 3}, {name: k, servers: 1}]\n");
  NodeSets sets_{testbed_.fabric};
  Reader reader_{"t"};
  TraceFiles files_{reader_};
};
const std::vector<uint32_t> kTwoRails{0, 1};
const std::vector<uint32_t> kOneRail{0, 0};

// Six ways between three servers, each of 2 × 2 NICs, of which two stay on their rail.
TEST_F(Traffic, OfAllToAllIsThatOfEveryNicWithEveryOtherServers) {
  const JobTraffic traffic = of({row(Pattern::kAllToAll, {"job j"})});
  EXPECT_EQ(traffic.bytes(), 6 * 4 * 1000);
  EXPECT_EQ(traffic.across(Parts{{0, 0}, {0, 0}, {0, 0}}), 0);
  EXPECT_EQ(traffic.across(Parts{{0, 0}, {0, 0}, {1, 1}}), 4 * 4 * 1000) << "between the third and the others";
  EXPECT_EQ(traffic.across(Parts{{0, 1}, {0, 1}, {0, 1}}), 6 * 2 * 1000) << "between the rails";
  for (const auto& [pair, bytes] : talks(traffic, kTwoRails)) EXPECT_EQ(bytes, 2 * 2 * 1000) << pair.first;
  EXPECT_EQ(talks(traffic, kTwoRails).size(), 6u);
  for (const auto& [pair, bytes] : talks(traffic, kOneRail)) EXPECT_EQ(bytes, 2 * 4 * 1000) << pair.first;
}

TEST_F(Traffic, OfARingIsThatOfNeighbours) {
  const JobTraffic traffic = of({row(Pattern::kRing, {"job j 0..1 rail 1", "job j 2 rail 2"})});
  EXPECT_EQ(traffic.bytes(), 3000);
  EXPECT_EQ(traffic.across(Parts{{0, 0}, {0, 0}, {0, 1}}), 2000) << "to the last, and back from it";
  EXPECT_EQ(talks(traffic, kTwoRails), (std::map<std::pair<size_t, uint32_t>, double>{{{0, 1}, 1000}, {{1, 0}, 1000}}));
  EXPECT_EQ(talks(traffic, kOneRail).size(), 6u);
}

// Of six NICs each sends to one of five others, as likely to any: to four of other servers.
TEST_F(Traffic, OfAPermutationIsSharedByAllPossibleReceivers) {
  EXPECT_DOUBLE_EQ(of({row(Pattern::kPermutation, {"job j"})}).bytes(), 6 * 4 * 1000 / 5.0);
}

// NICs of the job by their place in it: 0 and 1 are of one server.
TEST_F(Traffic, OfAListIsThatOfItsPairsOfServers) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("softspine-listed-" + std::to_string(getpid()));
  std::ofstream(path) << "3\n0 2 3 100 1000 0\n0 2 3 100 500 0.1\n0 1 3 100 7 0\n";
  WorkloadRow list = row(Pattern::kList, {"job j"});
  list.file = path.string();
  const JobTraffic traffic = of({list});
  EXPECT_EQ(traffic.bytes(), 1500);
  EXPECT_EQ(traffic.across(Parts{{0, 0}, {1, 1}, {1, 1}}), 1500);
  EXPECT_EQ(traffic.across(Parts{{0, 0}, {0, 0}, {1, 1}}), 0);
  std::filesystem::remove(path);
}

// Each of six NICs sends to one of five others, as likely to any: to four of other servers.
TEST_F(Traffic, OfArrivalsIsWhatIsToBeExpected) {
  WorkloadRow arrivals = row(Pattern::kPoisson, {"job j"});
  arrivals.load = Share{500'000};
  arrivals.sizes = "alistorage";
  arrivals.until = dataplane::Duration::ms(1);
  const double sent = 6 * 100e9 / 8 * 0.5 * 1e-3;
  EXPECT_NEAR(of({arrivals}).bytes(), sent * 4 / 5, 1);
  arrivals.until.reset();
  arrivals.flows = 30;
  EXPECT_NEAR(of({arrivals}).bytes(), 30 * 40'869.8 * 4 / 5, 1);
}

TEST_F(Traffic, OfPairsAndAnIncastIsThatOfEachWithItsReceiver) {
  const JobTraffic pairs = of({between(Pattern::kPairs, {"job j 0..1 rail 1", "job k rail 1"},
                                       {"job j 2 rail 1", "job j 1 rail 2", "job j 0 rail 1"})});
  EXPECT_EQ(pairs.bytes(), 1000) << "the second stays in its server, the third is another job's";
  const JobTraffic incast = of({between(Pattern::kIncast, {"job j 1..2", "job k rail 1"}, {"job j 0 rail 2"})});
  EXPECT_EQ(incast.bytes(), 4000);
  EXPECT_EQ(talks(incast, kTwoRails), (std::map<std::pair<size_t, uint32_t>, double>{
                                          {{0, 1}, 1000}, {{1, 0}, 1000}, {{0, 2}, 1000}, {{2, 0}, 1000}}))
      << "of two NICs the one on the receiver's rail";
  EXPECT_EQ(of({between(Pattern::kIncast, {"job k"}, {"job j 0 rail 2"})}).bytes(), 0);
  EXPECT_EQ(of({row(Pattern::kRing, {"job k"})}).bytes(), 0);
}

// Ranks are NICs of the job in their order: 0 and 1 are of one server, 2 and 3 of the next one. The last is job k's.
TEST_F(Traffic, OfATraceIsThatOfItsMessages) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("softspine-traced-" + std::to_string(getpid()));
  std::ofstream(path) << "num_ranks 5\nrank 0 { send 700b to 2 send 300b to 2 send 7b to 1 send 5b to 4 }\n"
                         "rank 1 { recv 7b from 0 send 90b to 3 }\nrank 2 { recv 700b from 0 recv 300b from 0 }\n"
                         "rank 3 { recv 90b from 1 }\nrank 4 { recv 5b from 0 }\n";
  TestbedRow row;
  TraceRow& trace = row.traces.emplace_back();
  trace.file = path.string();
  EXPECT_EQ(of(row).bytes(), 0) << "who has no ranks has the fabric's first hosts";
  trace.ranks.emplace().items = {"job k"};
  EXPECT_EQ(of(row).bytes(), 0);
  EXPECT_TRUE(reader_.inputs().empty()) << "a trace of others is not read for a job";
  trace.ranks->items = {"job j 0..1", "job k rail 1"};
  const JobTraffic traffic = of(row);
  EXPECT_EQ(traffic.bytes(), 1090);
  EXPECT_EQ(traffic.across(Parts{{0, 1}, {1, 1}, {0, 0}}), 1000);
  EXPECT_EQ(talks(traffic, kTwoRails), (std::map<std::pair<size_t, uint32_t>, double>{{{0, 1}, 1090}, {{1, 0}, 1090}}));
  trace.ranks->items = {"job j 0..1"};
  EXPECT_EQ(of(row).bytes(), 0) << "four hosts for five ranks: refused where the trace is resolved";
  EXPECT_EQ(reader_.inputs().size(), 1u) << "read once";
  std::filesystem::remove(path);
}

// Three ranks of each rail sum 6,000 bytes in a ring, twice a step: four thirds of that from each to its neighbour. The
// two of a server do so, too, inside it.
TEST_F(Traffic, OfATrainingIsThatOfItsGroups) {
  TrainingRow training;
  training.ranks.emplace().items = {"job j"};
  training.algorithm = CollectiveAlgorithm::kRing;
  training.protocol = CollectiveProtocol::kSimple;
  training.tensor_parallel = 2;
  training.iterations = 5;
  TrainingLayerRow layer;
  layer.times = 2;
  layer.forward.op = Collective::kAllReduce;
  layer.forward.size = Bytes{500};
  layer.weight_gradient.op = Collective::kAllReduce;
  layer.weight_gradient.size = Bytes{6000};
  training.layers.push_back(layer);
  TestbedRow row;
  row.training.push_back(training);
  const JobTraffic traffic = of(row);
  EXPECT_EQ(traffic.bytes(), 2 * 3 * 8000 * 2 * 5);
  EXPECT_EQ(traffic.across(Parts{{0, 1}, {0, 1}, {0, 1}}), 0) << "each group is on its rail";
  EXPECT_EQ(traffic.across(Parts{{0, 0}, {0, 0}, {1, 1}}), 2 * 2 * 8000 * 2 * 5) << "to the third, and from it";
  row.training[0].layers.clear();
  EXPECT_EQ(of(row).bytes(), 0) << "it is wrong, and somebody else says so";
}

TEST_F(Traffic, OfSeveralWorkloadsIsTheirSumByMessagesAndQueuePairs) {
  WorkloadRow many = row(Pattern::kRing, {"job j rail 1"});
  many.messages = 7;
  many.qps = 2;
  EXPECT_EQ(of({many}).bytes(), 3 * 7 * 2 * 1000);
  EXPECT_EQ(of({many, row(Pattern::kRing, {"job j rail 2"})}).bytes(), 3 * 7 * 2 * 1000 + 3000);
  many.scaling = Scaling::kSplit;
  EXPECT_EQ(of({many}).bytes(), 3 * 7 * 1000);
}

}  // namespace
}  // namespace softspine::control
