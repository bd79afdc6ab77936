// SPDX-License-Identifier: Apache-2.0
// Collectives that go by a plan.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "control/model/collective_plan.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

// Two gpus, each of which sends the other one a chunk and adds what comes to its own; then the sums.
const std::string kPlan =
    "<algo proto=\"LL\" nchannels=\"3\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allreduce\" minBytes=\"64\" "
    "maxBytes=\"4096\">\n"
    "<gpu id=\"0\" s_chunks=\"0\"><tb id=\"0\" send=\"1\" recv=\"1\" chan=\"2\">\n"
    "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\"/>\n"
    "<step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"/>\n"
    "<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\"/></tb></gpu>\n"
    "<gpu id=\"1\" s_chunks=\"0\"><tb id=\"0\" send=\"0\" recv=\"0\" chan=\"2\">\n"
    "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\"/>\n"
    "<step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\"/>\n"
    "<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"/></tb></gpu></algo>\n";

class Plans : public testing::Test {
 protected:
  explicit Plans() : path_(testing::TempDir() + "plan_test.xml") {}
  ~Plans() override { std::filesystem::remove(path_); }
  std::string row(const std::string& keys, const std::string& text = kPlan) const {
    std::ofstream(path_) << text;
    return with_fabric("collectives:\n  - {name: g, op: all_reduce, plan: " + path_ + ", " + keys + "}\n");
  }

  std::string path_;
};

TEST_F(Plans, GiveAlgorithmChannelsAndProtocol) {
  const Testbed testbed = read_well(row("size: [64B, 4096B], ranks: [h2, h3]"));
  const CollectiveRun& run = testbed.collectives.at(0);
  ASSERT_EQ(run.shapes.size(), 2u);
  EXPECT_EQ(run.shapes[1].algorithm, CollectiveAlgorithm::kPlan);
  EXPECT_EQ(run.shapes[1].protocol, CollectiveProtocol::kLl);
  EXPECT_EQ(run.shapes[1].channels, 3u);
  ASSERT_NE(run.shapes[1].plan, nullptr);
  // Two messages each way of each size, on the channel that the plan says.
  EXPECT_EQ(run.traffic.channel, (std::vector<uint32_t>{2, 2}));
  EXPECT_EQ(testbed.workloads.at(0).posted, (std::vector<uint64_t>{4, 4}));
}

TEST_F(Plans, MayGoByAnotherProtocol) {
  const Testbed testbed = read_well(row("size: 64B, protocol: simple, ranks: [h2, h3]"));
  EXPECT_EQ(testbed.collectives.at(0).shapes.at(0).protocol, CollectiveProtocol::kSimple);
}

TEST_F(Plans, AreRefusedWithPlaceAndReason) {
  const std::string where = "5 collectives[0]";
  EXPECT_EQ(complaints_about(row("size: 64B")),
            (Complaints{where + ".plan: the plan has 2 gpus, and here are 4 ranks: each needs one"}));
  EXPECT_EQ(complaints_about(row("size: [64B, 65B], ranks: [h1, h2]")),
            (Complaints{where + ".size[1]: must be a multiple of 2, the plan's chunks"}));
  EXPECT_EQ(complaints_about(row("size: 62B, ranks: [h1, h2]")),
            (Complaints{where + ".size: must be 64 to 4096 bytes, which the plan is for"}));
  EXPECT_EQ(complaints_about(row("size: 4098B, ranks: [h1, h2]")),
            (Complaints{where + ".size: must be 64 to 4096 bytes, which the plan is for"}));
  EXPECT_EQ(complaints_about(row("size: 64B, ranks: [h1, h2], algorithm: ring")),
            (Complaints{where + ".algorithm: is the plan's, if there is a 'plan'"}));
  EXPECT_EQ(complaints_about(row("size: 64B, ranks: [h1, h2], channels: 2")),
            (Complaints{where + ".channels: are the plan's, if there is a 'plan'"}));
  std::string gathers = kPlan;
  gathers.replace(gathers.find("allreduce"), 9, "alltoall");
  EXPECT_EQ(complaints_about(row("size: 64B, ranks: [h1, h2]", gathers)),
            (Complaints{where + ".plan: is a plan of all_to_all, not of all_reduce"}));
}

// Its messages go where it says: there is nobody to pass them on.
TEST_F(Plans, GoByNoLocalGpu) {
  std::string exchanges = kPlan;
  exchanges.replace(exchanges.find("allreduce"), 9, "alltoall");
  const std::string servers =
      "topology: {nodes: {h1: {server: a}, h2: {server: a}, h3: {server: b}, h4: {server: b}}}\n";
  std::string text = row("size: 128B, ranks: [h1, h2], pxn: true", exchanges) + servers;
  text.replace(text.find("all_reduce"), 10, "all_to_all");
  EXPECT_EQ(complaints_about(text),
            (Complaints{"5 collectives[0].pxn: is for 'direct' between servers of several GPUs, as many in each"}));
}

// Each gpu sends `ahead` messages before it receives the first one.
std::string plan_that_sends_first(int ahead) {
  const auto block = [&](const std::string& peer) {
    std::string out = "<tb id=\"0\" send=\"" + peer + "\" recv=\"" + peer + "\" chan=\"0\">\n";
    for (int s = 0; s < 2 * ahead; ++s)
      out += "<step s=\"" + std::to_string(s) + "\" type=\"" + (s < ahead ? "s" : "r") +
             "\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"/>\n";
    return out + "</tb>";
  };
  return "<algo proto=\"LL\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allreduce\">\n<gpu id=\"0\" "
         "s_chunks=\"0\">" +
         block("1") + "</gpu><gpu id=\"1\" s_chunks=\"0\">" + block("0") + "</gpu></algo>\n";
}

// LL has slots for eight, and Simple for four: of a step's two slices the second one may be empty, and is a message.
TEST_F(Plans, ThatComeToAStopAreRefused) {
  const std::string keys = "size: 64B, ranks: [h1, h2]";
  read_well(row(keys, plan_that_sends_first(8)));
  EXPECT_EQ(complaints_about(row(keys, plan_that_sends_first(9))),
            (Complaints{"5 collectives[0].size: the plan comes to a stop, with 8 messages under way on a connection: "
                        "gpu 0, tb 0, step 8 (line 11) waits for ever for room for a message to gpu 1"}));
  read_well(row(keys + ", protocol: simple", plan_that_sends_first(2)));
  EXPECT_EQ(complaints_about(row(keys + ", protocol: simple", plan_that_sends_first(3))),
            (Complaints{"5 collectives[0].size: the plan comes to a stop, with 4 messages under way on a connection: "
                        "gpu 0, tb 0, step 2 (line 5) waits for ever for room for a message to gpu 1"}));
}

TEST_F(Plans, MistakesAreSaidByTheirLine) {
  std::string wrong = kPlan;
  wrong.replace(wrong.find("\"rrcs\""), 6, "\"rrcx\"");
  const auto testbed = parse_testbed(row("size: 64B, ranks: [h1, h2]", wrong), "t.yaml");
  ASSERT_FALSE(testbed);
  ASSERT_EQ(testbed.error().size(), 2u);
  const auto& of_plan = testbed.error()[0].file == path_ ? testbed.error()[0] : testbed.error()[1];
  EXPECT_EQ(of_plan.line, 4);
  EXPECT_TRUE(of_plan.message.starts_with("type is one of")) << of_plan.message;
}

TEST_F(Plans, OfNoFileAreRefused) {
  const Complaints said = complaints_about(
      with_fabric("collectives:\n  - {name: g, op: all_reduce, plan: nowhere.xml, size: 64B, ranks: [h1, h2]}\n"));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("5 collectives[0].plan: 'nowhere.xml': ")) << said[0];
}

}  // namespace
}  // namespace softspine::control
