// SPDX-License-Identifier: Apache-2.0
// One ring AllReduce of eight ranks, three ways: built in, as a plan in MSCCL's XML, and as a Chakra trace of sends and
// receives. Each link carries the same packets in the same order.
//
// By nature differ: opcodes (a collective's messages are WRITEs, a trace's SENDs with their tag as immediate data), so
// that the first packet of a WRITE is 16 bytes longer, and the last one of a SEND 4; where messages end, since NCCL
// sends a chunk as two slices, and the trace as one message; and so when, since a slice is sent on sooner. A plan that
// receives and sends by two steps sends no slice before both have come.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/harness/samples.hpp"
#include "tests/model/collectives/plan_text.hpp"
#include "tests/scenario/random/captured_frames.hpp"
#include "tests/scenario/run/running_testbed.hpp"
#include "tests/unit/traces/chakra_text.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kRanks = 8;
constexpr uint32_t kPackets = 14 * 32;  // a rank's, of 4,096 bytes

struct DataPacket {
  uint32_t source = 0;
  uint32_t destination = 0;
  uint32_t psn = 0;
  uint32_t bytes = 0;
  int64_t at_ps = 0;
  friend bool operator==(const DataPacket&, const DataPacket&) = default;
};

// By link and direction.
using Carried = std::map<std::string, std::vector<DataPacket>>;

Carried carried_by(const std::string& work) {
  const Outcome out =
      run_text(fmt::format("name: c\nrun: {{duration: 20ms, seed: 3}}\nfabric: {{kind: leaf-spine, tors: 1, spines: 1, "
                           "hosts_per_tor: {}, host_link: {{rate: 100Gbps, length: 3m}}, "
                           "fabric_link: {{rate: 100Gbps, length: 3m}}}}\nroles: {{tor: lossless}}\n{}",
                           kRanks, work),
               {}, true);
  const tests::Captured captured = tests::read_capture(out.capture);
  Carried carried;
  for (const tests::CapturedFrame& frame : captured.frames) {
    if (!frame.roce) continue;
    carried[captured.interfaces[frame.interface]].push_back(
        {frame.roce->source, frame.roce->destination, frame.roce->psn, frame.bytes, frame.at_ps});
  }
  return carried;
}

std::string collective(const std::string& keys) {
  return "collectives: [{name: g, op: all_reduce, protocol: simple, size: 1MiB, admission: open, " + keys + "}]\n";
}

class Folder {
 public:
  Folder() : path_(testing::TempDir() + "same_ring") { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string in(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// As MSCCL's steps: receive and reduce, then send.
std::string ring_trace(uint32_t rank) {
  std::string out = tests::head();
  uint64_t id = 0;
  for (uint32_t step = 0; step < 2 * (kRanks - 1); ++step) {
    const uint64_t bytes = (1U << 20U) / kRanks;
    auto sends = tests::send(id + 1, (rank + 1) % kRanks, bytes);
    if (step > 0) sends.needs({id});
    out += sends.str() + tests::receive(id + 2, (rank + kRanks - 1) % kRanks, bytes).needs({id + 1}).str() +
           tests::compute(id + 3, 0).needs({id + 2}).str();
    id += 3;
  }
  return out;
}

// The first packet of a WRITE is longer, and the last one of a SEND.
bool is_of_one_payload(uint32_t a, uint32_t b) {
  return std::max(a, b) - std::min(a, b) <= 16;
}

void expect_same_packets(const Carried& carried, const Carried& ring) {
  ASSERT_EQ(carried.size(), ring.size());
  for (const auto& [link, packets] : carried) {
    const std::vector<DataPacket>& others = ring.at(link);
    ASSERT_EQ(packets.size(), others.size()) << link;
    for (size_t i = 0; i < packets.size(); ++i) {
      EXPECT_EQ(packets[i].source, others[i].source) << link << ", packet " << i;
      EXPECT_EQ(packets[i].destination, others[i].destination) << link << ", packet " << i;
      EXPECT_EQ(packets[i].psn, others[i].psn) << link << ", packet " << i;
      EXPECT_TRUE(is_of_one_payload(packets[i].bytes, others[i].bytes)) << link << ", packet " << i;
    }
  }
}

// Each rank's link, both ways.
void expect_ring(const Carried& carried) {
  EXPECT_EQ(carried.size(), 2 * kRanks);
  for (const auto& [link, packets] : carried) EXPECT_EQ(packets.size(), kPackets) << link;
}

TEST(SameRing, ThreeWaysAreTheSamePackets) {
  const Carried ring = carried_by(collective("algorithm: ring"));
  expect_ring(ring);
  const Folder folder;
  EXPECT_TRUE(carried_by(collective("plan: " + folder.put("fused.xml", tests::ring_plan(kRanks, true)))) == ring)
      << "to the tick";
  expect_same_packets(carried_by(collective("plan: " + folder.put("ring.xml", tests::ring_plan(kRanks)))), ring);
  for (uint32_t rank = 0; rank < kRanks; ++rank) folder.put(fmt::format("ring.{}.et", rank), ring_trace(rank));
  expect_same_packets(carried_by(fmt::format("traces: [{{name: g, format: chakra, file: {}}}]\n", folder.in("ring"))),
                      ring);
}

// ASTRA-sim's own, where they are.
TEST(SameRing, AstraSimsPlanAndTraceAreThisRing) {
  const tests::Samples samples = tests::samples_of("SOFTSPINE_ASTRA_SIM", "astra-sim", "ASTRA-sim's traces");
  if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
  const auto name = (samples.folder / "custom_ring_allreduce_8npus_1MB" / "custom_allreduce").string();
  const Carried ring = carried_by(collective("algorithm: ring"));
  expect_same_packets(carried_by(collective("plan: " + name + ".xml")), ring);
  expect_same_packets(carried_by(fmt::format("traces: [{{name: g, format: chakra, file: {}}}]\n", name)), ring);
}

}  // namespace
}  // namespace softspine::testbeds
