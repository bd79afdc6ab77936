// SPDX-License-Identifier: Apache-2.0
// Mistakes of a plan, by line.
#include "control/collectives/msccl_plan.hpp"

#include <gtest/gtest.h>

#include "control/collectives/plan_check.hpp"

namespace softspine::control {
namespace {

using Said = std::vector<std::string>;

Said said_of(const std::string& text) {
  Said out;
  const auto plan = read_msccl_plan(text, "p");
  if (plan) return out;
  for (const Error& error : plan.error()) out.push_back(std::to_string(error.line) + ": " + error.message);
  return out;
}

std::string algo(const std::string& inside, const std::string& head = "coll=\"allreduce\"") {
  return "<algo proto=\"LL\" nchannels=\"2\" nchunksperloop=\"4\" ngpus=\"2\" " + head + ">\n" + inside + "</algo>\n";
}
// Lines 2 to 4 and 5 to 7 at first.
std::string two(const std::string& first, const std::string& second) {
  return algo("<gpu id=\"0\" s_chunks=\"1\">\n" + first + "</gpu>\n<gpu id=\"1\" s_chunks=\"1\">\n" + second +
              "</gpu>\n");
}
std::string tb(int id, int send, int recv, const std::string& steps) {
  return "<tb id=\"" + std::to_string(id) + "\" send=\"" + std::to_string(send) + "\" recv=\"" + std::to_string(recv) +
         "\" chan=\"0\">\n" + steps + "</tb>\n";
}
std::string step(int s, const std::string& type, const std::string& more = "cnt=\"1\"") {
  return "<step s=\"" + std::to_string(s) + "\" type=\"" + type +
         "\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" " + more + "/>\n";
}
const std::string kSender = tb(0, 1, -1, step(0, "s"));
const std::string kReceiver = tb(0, -1, 0, step(0, "r"));

TEST(MscclPlan, IsReadWhole) {
  const auto plan = read_msccl_plan(
      algo("<gpu id=\"1\" s_chunks=\"0\">\n" + kReceiver + "</gpu><!-- any order -->\n<gpu id=\"0\" s_chunks=\"3\">\n" +
               tb(7, 1, -1, step(0, "s", "cnt=\"2\"")) +
               tb(9, -1, -1, step(0, "re", "cnt=\"1\" depid=\"7\" deps=\"0\"")) + "</gpu>\n",
           "coll=\"allreduce\" name=\"n\" inplace=\"1\" outofplace=\"0\" minBytes=\"8\" maxBytes=\"64\""),
      "p");
  ASSERT_FALSE(plan) << "two chunks are sent, and one is received";
  EXPECT_EQ(said_of(two(kSender, kReceiver)), Said{});
  const auto good = read_msccl_plan(
      algo("<gpu id=\"1\" s_chunks=\"0\">\n" + kReceiver + "</gpu>\n<gpu id=\"0\" s_chunks=\"3\">\n" +
               tb(7, 1, -1, step(0, "s")) + tb(9, -1, -1, step(0, "re", "cnt=\"1\" depid=\"7\" deps=\"0\"")) +
               "</gpu>\n",
           "coll=\"allreduce\" name=\"n\" inplace=\"1\" outofplace=\"0\" minBytes=\"8\" maxBytes=\"64\""),
      "p");
  ASSERT_TRUE(good);
  EXPECT_EQ((*good)->name, "n");
  EXPECT_TRUE((*good)->in_place);
  EXPECT_EQ((*good)->min_bytes, 8u);
  EXPECT_EQ((*good)->max_bytes, 64u);
  const PlanRank& rank = (*good)->ranks[0];
  EXPECT_EQ(rank.scratch_chunks, 3u);
  EXPECT_EQ(rank.blocks[1].steps[0].after, rank.blocks[0].steps[0].mark);
  EXPECT_TRUE(rank.blocks[1].steps[0].adds);
  EXPECT_EQ(rank.order, (std::vector<uint32_t>{0, 1}));
}

TEST(MscclPlan, MistakesHaveTheirLine) {
  EXPECT_EQ(said_of("<algo"), (Said{"1: is no XML: Error parsing start element tag"}));
  EXPECT_EQ(said_of("<a/>"), (Said{"1: expected <algo>, and here stands 'a'"}));
  EXPECT_EQ(said_of(algo("", "coll=\"gossip\"")),
            (Said{"1: coll is one of allreduce, allgather, reducescatter, reduce_scatter, alltoall, and here stands "
                  "'gossip'"}));
  EXPECT_EQ(said_of(algo("")), (Said{"1: ngpus is 2, and here are 0"}));
  EXPECT_EQ(said_of(two(tb(0, 1, -1, step(0, "x")), kReceiver)),
            (Said{"4: type is one of s, r, cpy, rcs, rrc, rrs, rrcs, re, nop, and here stands 'x'"}));
  EXPECT_EQ(said_of(two(tb(0, 1, -1, step(1, "s")), kReceiver)), (Said{"4: expected step 0, and here stands 1"}));
  EXPECT_EQ(said_of(two(tb(0, 1, -1, step(0, "s", "cnt=\"5\"")), kReceiver)),
            (Said{"4: srcoff and cnt go to chunk 5, and buffer i has 4"}));
  EXPECT_EQ(said_of(two(tb(0, 1, -1, step(0, "s", "cnt=\"-1\"")), kReceiver)),
            (Said{"4: cnt is a number from 0 to 1024, and here stands '-1'"}));
  EXPECT_EQ(said_of(two(tb(0, 0, -1, ""), kReceiver)), (Said{"3: a gpu sends nothing to itself"}));
  EXPECT_EQ(said_of(two(tb(0, -1, -1, step(0, "s")), kReceiver)), (Said{"4: sends, and its tb has send=\"-1\""}));
  EXPECT_EQ(said_of(two(tb(0, -1, -1, step(0, "r")), kReceiver)), (Said{"4: receives, and its tb has recv=\"-1\""}));
  EXPECT_EQ(said_of(two(kSender + tb(1, 1, -1, ""), kReceiver)), (Said{"6: another tb sends to gpu 1 on channel 0"}));
  EXPECT_EQ(said_of(two(kSender + tb(0, -1, -1, ""), kReceiver)), (Said{"6: tb 0 stands here twice"}));
  EXPECT_EQ(said_of(two(kSender + "<block/>\n", kReceiver)), (Said{"6: 'block' is not known here, where tb stands"}));
}

TEST(MscclPlan, GpusAndConnectionsAreThereOnce) {
  const std::string gpu = "<gpu id=\"0\" s_chunks=\"0\"></gpu>\n";
  EXPECT_EQ(said_of(algo(gpu + gpu)), (Said{"3: gpu 0 stands here twice"}));
  EXPECT_EQ(said_of(two(kSender, kReceiver + tb(1, -1, 0, ""))), (Said{"11: another tb hears gpu 0 on channel 0"}));
}

// Of one block of two chunks, and of scratch that is one chunk long.
TEST(MscclPlan, BuffersAreAsLongAsTheCollectiveHasThem) {
  const auto copies = [](const std::string& coll, const std::string& from, const std::string& to) {
    std::string text =
        two(kSender + tb(1, -1, -1, "<step s=\"0\" type=\"cpy\" " + from + " " + to + " cnt=\"1\"/>\n"), kReceiver);
    return said_of(text.replace(text.find("allreduce"), 9, coll));
  };
  const std::string from = "srcbuf=\"i\" srcoff=\"2\"";
  const std::string to = "dstbuf=\"o\" dstoff=\"2\"";
  EXPECT_EQ(copies("allreduce", from, to), Said{});
  EXPECT_EQ(copies("alltoall", from, to), Said{});
  EXPECT_EQ(copies("allgather", from, to), (Said{"7: srcoff and cnt go to chunk 3, and buffer i has 2"}));
  EXPECT_EQ(copies("reducescatter", from, to), (Said{"7: dstoff and cnt go to chunk 3, and buffer o has 2"}));
  EXPECT_EQ(copies("allreduce", from, "dstbuf=\"s\" dstoff=\"0\""), Said{});
  EXPECT_EQ(copies("allreduce", from, "dstbuf=\"s\" dstoff=\"1\""),
            (Said{"7: dstoff and cnt go to chunk 2, and buffer s has 1"}));
}

TEST(MscclPlan, HeadsFitTogether) {
  const std::string all =
      "<gpu id=\"0\" s_chunks=\"0\">\n" + kSender + "</gpu><gpu id=\"1\" s_chunks=\"0\">\n" + kReceiver + "</gpu>\n";
  EXPECT_EQ(said_of(algo(all, "coll=\"allreduce\" minBytes=\"9\" maxBytes=\"8\"")),
            (Said{"1: minBytes is more than maxBytes"}));
  std::string three = algo(all, "coll=\"alltoall\"");
  three.replace(three.find("nchunksperloop=\"4\""), 18, "nchunksperloop=\"3\"");
  EXPECT_EQ(said_of(three), (Said{"1: nchunksperloop is a multiple of ngpus for alltoall"}));
  for (const std::string both : {"inplace=\"1\" outofplace=\"1\"", "inplace=\"0\" outofplace=\"1\"", ""}) {
    const auto plan = read_msccl_plan(algo(all, "coll=\"allreduce\" " + both), "p");
    ASSERT_TRUE(plan);
    EXPECT_FALSE((*plan)->in_place) << both;
  }
}

// As msccl-tools writes them: a nop has no chunk, and a tb that only copies has no channel.
TEST(MscclPlan, NopsAndCopiersNeedNoChunkAndNoChannel) {
  const std::string copier =
      "<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"-1\">\n" + step(0, "nop", "cnt=\"0\"") + step(1, "cpy") + "</tb>\n";
  EXPECT_EQ(said_of(two(kSender + copier, kReceiver)), Said{});
  EXPECT_EQ(said_of(two(tb(0, 1, -1, step(0, "s", "cnt=\"0\"")), kReceiver)), (Said{"4: cnt is one chunk at least"}));
}

TEST(MscclPlan, WaitsNameAStepThatIsThere) {
  const auto waits = [](const std::string& for_what) {
    return said_of(two(kSender + tb(1, -1, -1, step(0, "cpy", "cnt=\"1\" " + for_what)), kReceiver));
  };
  EXPECT_EQ(waits("depid=\"0\" deps=\"0\""), Said{});
  EXPECT_EQ(waits("depid=\"2\" deps=\"0\""), (Said{"7: waits for tb 2, which gpu 0 does not have"}));
  EXPECT_EQ(waits("depid=\"0\" deps=\"1\""), (Said{"7: waits for step 1 of tb 0, which has 1"}));
  EXPECT_EQ(waits("depid=\"0\" deps=\"-1\""), (Said{"7: has a depid, and no deps"}));
}

TEST(MscclPlan, EachSendHasItsReceive) {
  EXPECT_EQ(said_of(two(kSender, "")), (Said{"4: nobody receives what it sends from gpu 0 to gpu 1 on channel 0"}));
  EXPECT_EQ(said_of(two("", kReceiver)), (Said{"6: nobody sends what it receives from gpu 0 to gpu 1 on channel 0"}));
  EXPECT_EQ(said_of(two(tb(0, 1, -1, step(0, "s", "cnt=\"2\"")), kReceiver)),
            (Said{"4: sends 2 chunks from gpu 0 to gpu 1 on channel 0, and line 9 receives 1"}));
}

TEST(MscclPlan, StepsThatWaitForEachOtherAreNamed) {
  // Each sends when it has received.
  EXPECT_EQ(said_of(two(tb(0, 1, 1, step(0, "r") + step(1, "s")), tb(0, 0, 0, step(0, "r") + step(1, "s")))),
            (Said{"1: gpu 0, tb 0, step 0 (line 4) waits for ever for a message from gpu 1"}));
  // Two tbs of one gpu.
  const std::string circle = tb(1, -1, -1, step(0, "cpy", "cnt=\"1\" depid=\"2\" deps=\"0\"")) +
                             tb(2, -1, -1, step(0, "cpy", "cnt=\"1\" depid=\"1\" deps=\"0\""));
  EXPECT_EQ(said_of(two(kSender + circle, kReceiver)),
            (Said{"1: gpu 0, tb 1, step 0 (line 7) waits for ever for another tb's step"}));
}

// Both send three times before they receive: with two messages under way they wait for ever.
TEST(MscclPlan, MayNeedMoreMessagesUnderWayThanThereAre) {
  std::string steps;
  for (int s = 0; s < 6; ++s) steps += step(s, s < 3 ? "s" : "r");
  const auto plan = read_msccl_plan(two(tb(0, 1, 1, steps), tb(0, 0, 0, steps)), "p");
  ASSERT_TRUE(plan);
  EXPECT_EQ(where_it_stops(**plan, {.slots = 3}), "");
  EXPECT_EQ(where_it_stops(**plan, {.slots = 2}),
            "gpu 0, tb 0, step 2 (line 6) waits for ever for room for a message to gpu 1");
}

}  // namespace
}  // namespace softspine::control
