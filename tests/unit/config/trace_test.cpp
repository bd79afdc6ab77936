// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "control/traces/recorded_work.hpp"
#include "tests/unit/config/complaints.hpp"
#include "tests/unit/traces/chakra_text.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

// Three ranks, of which the last two send the first one messages of several lengths.
class Traces : public testing::Test {
 protected:
  Traces() {
    std::ofstream(path_) << "num_ranks 3\nrank 0 { recv 8b from -1 recv 100b from -1 recv 300b from 2 tag 1 }\n"
                            "rank 1 { send 8b to 0 }\nrank 2 { send 100b to 0 send 300b to 0 tag 1 }\n";
  }
  ~Traces() override { std::filesystem::remove(path_); }
  std::string with_trace(const std::string& keys, const std::string& more = "") const {
    return with_fabric(more + "traces:\n  - {name: t, file: " + path_ + keys + "}\n");
  }

  const std::string path_ = testing::TempDir() + "config.goal";
};

TEST_F(Traces, AreAWorkloadWhoseFlowsArePostedAndCarryImmediates) {
  const Testbed testbed = read_well(with_trace(", ranks: [h4, h1, h2]", "workload: [{name: w, pattern: ring}]\n"));
  const TraceRun& run = testbed.traces.at(0);
  EXPECT_EQ(run.work->totals.operations(), 6u);
  EXPECT_EQ(testbed.inputs, std::vector<std::string>{path_});
  const Workload& connections = testbed.workloads.at(run.workload);
  EXPECT_EQ(connections.name, "t");
  EXPECT_EQ(connections.transport.kind, TransportKind::kReliable);
  EXPECT_EQ(connections.transport.verb, Verb::kSend);
  EXPECT_TRUE(connections.has_immediates);
  EXPECT_EQ(connections.posted, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(connections.message_bytes, 8u);
  std::vector<std::string> names;
  for (size_t i = 0; i < connections.from.size(); ++i) {
    names.push_back(testbed.fabric.nodes[connections.from[i]].name + testbed.fabric.nodes[connections.to[i]].name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"h1h4", "h2h4"}));
}

TEST_F(Traces, TakeTheFirstBuiltInHostsIfNoneAreNamed) {
  const Testbed testbed = read_well(with_trace(""));
  ASSERT_EQ(testbed.traces.at(0).ranks.size(), 3u);
  EXPECT_EQ(testbed.fabric.nodes[testbed.traces[0].ranks[2]].name, "h3");
}

TEST_F(Traces, AreRefusedWithPlaceAndReason) {
  EXPECT_EQ(complaints_about(with_trace(", ranks: [h1, h2]")),
            Complaints{"5 traces[0].ranks: the trace has 3 ranks, and here are 2 hosts: each rank needs one"});
}

TEST_F(Traces, ShareHostsWithCollectivesAndOtherTraces) {
  const Testbed testbed = read_well(
      with_trace("}\n  - {name: u, file: " + path_, "collectives: [{name: c, op: all_reduce, size: 1MiB}]\n"));
  EXPECT_EQ(testbed.traces.at(0).ranks, testbed.traces.at(1).ranks);
  EXPECT_EQ(testbed.collectives.at(0).traffic.hosts[0], testbed.traces[0].ranks[0]);
}

TEST_F(Traces, MayBeAConnectionMatrix) {
  std::ofstream(path_) << "Nodes 2\nConnections 1\n0->1 start 40 size 9\n";
  const auto delay_of = [](const Testbed& testbed) {
    RecordedStream stream(*testbed.traces.at(0).work, 0);
    TraceOperation op;
    return stream.next(op) ? op.time : dataplane::Duration{};
  };
  EXPECT_EQ(delay_of(read_well(with_trace(", format: htsim"))), dataplane::Duration::us(40));
  EXPECT_EQ(delay_of(read_well(with_trace(", format: htsim, start_unit: ps"))), dataplane::Duration::ps(40));
  EXPECT_EQ(complaints_about(with_trace(", start_unit: ps")).back(), "5 traces[0].start_unit: is for format: htsim");
}

TEST_F(Traces, OfChakraAreAFileARank) {
  const auto testbed = parse_testbed(with_trace(", format: chakra"), "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_TRUE(std::ranges::any_of(
      testbed.error(), [&](const Error& error) { return error.message == "there is no " + path_ + ".0.et"; }));
  std::vector<std::string> files;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    files.push_back(path_ + "." + std::to_string(rank) + ".et");
    std::ofstream(files.back(), std::ios::binary) << tests::head() << tests::collective(1, 0, 4'096).str();
  }
  const Testbed good = read_well(with_trace(", format: chakra, ranks: [h1, h2]"));
  EXPECT_EQ(good.inputs, files);
  EXPECT_EQ(good.traces.at(0).work->pairs.size(), 2u);
  for (const std::string& file : files) std::filesystem::remove(file);
}

}  // namespace
}  // namespace softspine::control
