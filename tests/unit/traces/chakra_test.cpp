// SPDX-License-Identifier: Apache-2.0
#include "control/traces/chakra.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "control/collectives/collective_work.hpp"
#include "control/document/text_file.hpp"
#include "tests/harness/samples.hpp"
#include "tests/unit/traces/chakra_text.hpp"

namespace softspine::control {
namespace {

using namespace tests;

std::expected<SharedWork, Errors> read(const std::vector<std::string>& ranks) {
  std::vector<std::string_view> views(ranks.begin(), ranks.end());
  return read_chakra(views);
}
std::vector<std::string> said_of(const std::vector<std::string>& ranks) {
  std::vector<std::string> out;
  const auto work = read(ranks);
  if (work) return out;
  for (const Error& error : work.error()) out.push_back(error.file + ": " + error.message);
  return out;
}
using Said = std::vector<std::string>;

// "compute 7 [0 2]": kind, amount, peer and tag of messages, needs.
std::vector<std::string> operations_of(const RecordedWork& work, uint32_t rank) {
  std::vector<std::string> out;
  RecordedStream stream(work, rank);
  TraceOperation op;
  while (stream.next(op)) {
    std::string text;
    if (op.kind == OperationKind::kCompute) {
      text = "compute " + std::to_string(op.time.count_ps() / 1'000'000);
    } else {
      text = std::string(op.kind == OperationKind::kSend ? "send " : "receive ") + std::to_string(op.bytes) + " " +
             std::to_string(op.peer) + " " + std::to_string(op.tag);
    }
    text += " [";
    for (const uint64_t need : op.needs) text += (text.back() == '[' ? "" : " ") + std::to_string(need);
    out.push_back(text + "]");
  }
  return out;
}

TEST(Chakra, NodesBecomeOperations) {
  const auto work = read({head() + compute(5, 7).str() + send(0, 1, 900, 3).needs({5}).str() +
                              NodeText(9, 1).need_unpacked(0).need_unpacked(5).str() +
                              NodeText(2, 2).micros(4).attribute("is_cpu_op", 1, 27).str(),
                          head("1.0.0") + receive(1, 0, 900, 3).str()});
  ASSERT_TRUE(work);
  EXPECT_EQ(operations_of(**work, 0),
            (std::vector<std::string>{"compute 7 []", "send 900 1 3 [0]", "compute 0 [0 1]", "compute 4 []"}));
  EXPECT_EQ(operations_of(**work, 1), (std::vector<std::string>{"receive 900 0 3 []"}));
  EXPECT_EQ((*work)->totals.sends, 1u);
  EXPECT_EQ((*work)->totals.compute_ns, 11'000u);
  ASSERT_EQ((*work)->pairs.size(), 1u);
  EXPECT_EQ((*work)->pairs[0].bytes, 900u);
}

// Those of a CPU are done one after the other, those of a GPU likewise, and messages beside both.
TEST(Chakra, CpuGpuAndMessagesAreBesideEachOther) {
  const auto work = read({head() + compute(1, 7).attribute("is_cpu_op", 1, 27).str() + compute(2, 7).str() +
                              NodeText(3, 2).micros(1).str() + NodeText(4, 1).str() + send(5, 1, 8).str(),
                          head() + receive(1, 0, 8).str()});
  ASSERT_TRUE(work);
  std::vector<uint32_t> cpus;
  RecordedStream stream(**work, 0);
  for (TraceOperation op; stream.next(op);) cpus.push_back(op.cpu);
  EXPECT_EQ(cpus, (std::vector<uint32_t>{0, 1, 1, 0, 2}));
}

// Writers choose among protobuf's types of integers.
TEST(Chakra, NumbersMayBeOfAnyTypeOfInteger) {
  const auto comm_size = [](const std::string& value) {
    return NodeText(1, 5).attribute("comm_dst", 1).add(bytes_field(10, bytes_field(1, "comm_size") + value)).str();
  };
  const std::string fixed32 = std::string("\x90\x03\0\0", 4);
  for (const std::string& value :
       {number_field(7, 912), number_field(9, 912), number_field(11, 912), number_field(13, 912),
        number_field(15, 1824), number_field(17, 1824), varint(19U << 3U | 5U) + fixed32,
        varint(23U << 3U | 5U) + fixed32, varint(21U << 3U | 1U) + fixed32 + std::string(4, '\0'),
        varint(25U << 3U | 1U) + fixed32 + std::string(4, '\0')}) {
    const auto work = read({head() + comm_size(value), head() + receive(1, 0, 912).str()});
    ASSERT_TRUE(work) << to_string(work.error()[0]);
    EXPECT_EQ((*work)->totals.sent_bytes, 912u);
  }
}

// An operation that is needed may stand behind the one that needs it.
TEST(Chakra, NodesMayStandInAnyOrder) {
  const auto work = read({head() + compute(1, 7).needs({2}, false).str() + compute(2, 3).str()});
  ASSERT_TRUE(work);
  EXPECT_EQ(operations_of(**work, 0), (std::vector<std::string>{"compute 3 []", "compute 7 [0]"}));
}

// A group's ranks send each other what the collective's algorithm says.
TEST(Chakra, CollectivesAreExpandedInTheirGroup) {
  const std::string alone = head() + compute(1, 1).str();
  const std::string member =
      head() + compute(1, 1).str() + collective(2, 0, 9'000, "pair").needs({1}).str() + compute(3, 1).needs({2}).str();
  const auto work = read({alone, member, alone, member});
  ASSERT_TRUE(work);
  ASSERT_EQ((*work)->pairs.size(), 2u);
  EXPECT_EQ((*work)->pairs[0].from, 1u);
  EXPECT_EQ((*work)->pairs[0].to, 3u);
  uint64_t bytes = 0;
  uint64_t messages = 0;
  for (const auto& each : connections_of({.ranks = 2, .bytes = 9'000}, 0)) {
    bytes += each.bytes;
    messages += each.messages;
  }
  EXPECT_EQ((*work)->pairs[0].bytes, bytes);
  EXPECT_EQ((*work)->pairs[0].messages, messages);
  const auto operations = operations_of(**work, 1);
  EXPECT_EQ(operations[1], "compute 0 [0]") << "the collective begins behind what it needs";
  EXPECT_EQ(operations.back(), "compute 1 [" + std::to_string(operations.size() - 2) + "]")
      << "and others wait for its end";
  std::set<uint64_t> needed;
  RecordedStream stream(**work, 1);
  TraceOperation op;
  for (size_t number = 0; stream.next(op); ++number) {
    EXPECT_EQ(op.needs.empty(), number == 0) << "nothing of it is done before it begins";
    needed.insert(op.needs.begin(), op.needs.end());
  }
  EXPECT_EQ(needed.size(), operations.size() - 1) << "its end waits for all of it";
}

// Bytes of a rank's input, and what leaves each rank: closed formulas.
TEST(Chakra, EachCollectiveSendsWhatItsNameSays) {
  constexpr uint64_t kInput = 12'000;
  struct Case {
    uint64_t comm_type;
    uint64_t sent;
    size_t pairs;
  };
  for (const Case& it :
       {Case{0, 2 * 3 * kInput, 4}, Case{1, 3 * kInput, 3}, Case{2, 4 * 3 * kInput, 4}, Case{5, 3 * kInput, 3},
        Case{6, 3 * kInput, 12}, Case{7, 3 * kInput, 4}, Case{8, 3 * kInput, 4}, Case{9, 2 * 3 * 8, 4}}) {
    const std::string rank = head() + collective(1, it.comm_type, it.comm_type == 9 ? 0 : kInput).str();
    const auto work = read({rank, rank, rank, rank});
    ASSERT_TRUE(work) << to_string(work.error()[0]);
    EXPECT_EQ((*work)->totals.sent_bytes, it.sent) << it.comm_type;
    EXPECT_EQ((*work)->pairs.size(), it.pairs) << it.comm_type;
  }
}

// ET names no root.
TEST(Chakra, AGroupsFirstRankIsTheRoot) {
  const std::string member = head() + collective(1, 5, 900, "g").str();
  const auto work = read({head(), member, head(), member});
  ASSERT_TRUE(work);
  ASSERT_EQ((*work)->pairs.size(), 1u);
  EXPECT_EQ((*work)->pairs[0].from, 1u);
  EXPECT_EQ((*work)->pairs[0].to, 3u);
}

// The second one of a group has other messages than the first: another tag.
TEST(Chakra, CollectivesOfAGroupAreToldApart) {
  const std::string rank = head() + collective(1, 6, 64).str() + collective(2, 6, 64).str() +
                           collective(3, 9, 0).str() + collective(4, 6, 64, "other").str();
  const auto work = read({rank, rank});
  ASSERT_TRUE(work);
  std::set<uint32_t> tags;
  RecordedStream stream(**work, 0);
  TraceOperation op;
  while (stream.next(op)) {
    if (op.kind == OperationKind::kSend) tags.insert(op.tag);
  }
  EXPECT_EQ(tags.size(), 4u);
  EXPECT_GE(*tags.begin(), 1U << 31U);
}

// The node by which PyTorch's host side launches a collective has no comm_type; its kernel has.
TEST(Chakra, ACpusCollectiveIsItsTimeAlone) {
  const auto work = read({head() + NodeText(1, 7).micros(85).attribute("is_cpu_op", 1, 27).str()});
  ASSERT_TRUE(work);
  EXPECT_EQ(operations_of(**work, 0), (std::vector<std::string>{"compute 85 []"}));
}

TEST(Chakra, MistakesNameTheirNode) {
  const std::string h = head();
  EXPECT_EQ(said_of({h + compute(1, 1).needs({7}).str()}), (Said{"rank 0: node 1 needs node 7, which is not there"}));
  EXPECT_EQ(
      said_of({h + compute(1, 1).needs({2}).str() + compute(2, 1).needs({3}).str() + compute(3, 1).needs({1}).str()}),
      (Said{"rank 0: nodes need each other: 1 → 2 → 3 → 1"}));
  EXPECT_EQ(said_of({h + compute(1, 1).str() + compute(1, 1).name("again").str()}),
            (Said{"rank 0: node 1 'again' has an id that another one has (byte 15)"}));
  EXPECT_EQ(said_of({h + send(4, 1, 8).str()}),
            (Said{"rank 0: node 4 has the comm_dst 1, and there are 1 ranks (byte 8)"}));
  EXPECT_EQ(said_of({h + NodeText(4, 6).attribute("comm_size", 8).str()}),
            (Said{"rank 0: node 4 has no comm_src (byte 8)"}));
  EXPECT_EQ(said_of({h + NodeText(4, 4).attribute("num_ops", 8).str()}),
            (Said{"rank 0: node 4 counts its work in num_ops, and has no duration_micros: how long it takes is not "
                  "known (byte 8)"}));
  EXPECT_EQ(said_of({h + collective(4, 3, 8).str()}),
            (Said{"rank 0: node 4 has the comm_type 3: Gather, Scatter and what ET 1.0 does not name are not known "
                  "(byte 8)"}));
  EXPECT_EQ(said_of({h + collective(4, 0, 8)
                             .add(bytes_field(10, bytes_field(1, "involved_dim") +
                                                      bytes_field(28, bytes_field(1, "\x01" + std::string(1, '\0')))))
                             .str()}),
            (Said{"rank 0: node 4 is a collective of some dimensions of a topology (involved_dim): whose ranks these "
                  "are is not known (byte 8)"}));
  EXPECT_EQ(said_of({h + collective(4, 0, 0).str()}),
            (Said{"rank 0: node 4 has no comm_size from 1 byte to 16GiB (byte 8)"}));
  EXPECT_EQ(said_of({h + send(4, 0, (2ULL << 30U) + 1).str()}),
            (Said{"rank 0: node 4 has a comm_size of more than 2GiB (byte 8)"}));
  EXPECT_EQ(said_of({h + send(4, 0, 8, 1ULL << 31U).str()}),
            (Said{"rank 0: node 4 has a comm_tag of 2^31 or more (byte 8)"}));
  EXPECT_EQ(said_of({h + compute(4, 1'000'000'000'001).str()}),
            (Said{"rank 0: node 4 lasts longer than 10^12 µs (byte 8)"}));
  EXPECT_EQ(said_of({h + NodeText(4, 7).attribute("comm_size", 8).str()}),
            (Said{"rank 0: node 4 is a collective without a comm_type (byte 8)"}));
  EXPECT_EQ(said_of({h + NodeText(4, 8).str()}), (Said{"rank 0: a node's type is 1 to 7, and here stands 8 (byte 8)"}));
  EXPECT_EQ(said_of({h + compute(4, 1).add(number_field(11, 1)).str()}),
            (Said{"rank 0: a node has the field 11, which ET 1.0 does not know (byte 8)"}));
}

TEST(Chakra, RanksThatDisagreeAreNamed) {
  const std::string h = head();
  EXPECT_EQ(
      said_of({h + collective(1, 0, 64).str(), h + collective(1, 2, 64).str()}),
      (Said{"rank 1: node 1 is collective 1 of all ranks, AllGather of 64 bytes; on rank 0 that is AllReduce of 64 "
            "bytes (byte 8)"}));
  EXPECT_EQ(
      said_of({h + collective(1, 0, 64).str(), h + collective(1, 0, 65).str()}),
      (Said{"rank 1: node 1 is collective 1 of all ranks, AllReduce of 65 bytes; on rank 0 that is AllReduce of 64 "
            "bytes (byte 8)"}));
  EXPECT_EQ(said_of({h + collective(1, 0, 64, "g").str() + collective(2, 0, 64, "g").str(),
                     h + collective(1, 0, 64, "g").str()}),
            (Said{"trace: rank 1 has 1 collectives of group 'g', and rank 0 has 2"}));
  EXPECT_EQ(said_of({h + collective(1, 0, 64).str(), h}),
            (Said{"trace: rank 1 has no collective of all ranks, and rank 0 has 1"}));
  EXPECT_EQ(said_of({h + send(6, 1, 8).str(), h}),
            (Said{"trace: 1 send from rank 0 to rank 1 with tag 0, and 0 receives: nobody receives the rest; the last "
                  "is node 6"}));
  const std::string lost = "trace: 1 send from rank 0 to rank 1 with tag 0, and 0 receives: nobody receives the rest";
  EXPECT_EQ(said_of({h + send(0, 1, 8).str(), h}), (Said{lost + "; the last is node 0"}));
  EXPECT_EQ(said_of({h + send((1ULL << 32U) + 6, 1, 8).str(), h}), (Said{lost}));
  EXPECT_EQ(read({h + send(0, 1, 8).str(), h}).error()[0].column, 0);
}

TEST(Chakra, AFileThatIsCutOffHasItsByte) {
  const std::string whole = head() + compute(1, 1).name("work").str() + compute(2, 1).str();
  ASSERT_EQ(said_of({whole}), Said{});
  for (size_t size = 0; size < whole.size(); ++size) {
    const Said said = said_of({whole.substr(0, size)});
    const bool is_between = size == head().size() || size == (head() + compute(1, 1).name("work").str()).size();
    EXPECT_EQ(said.empty(), is_between) << size;
    if (size <= 8 || is_between) continue;
    EXPECT_NE(said.at(0).find("it is cut off (byte "), std::string::npos) << said.at(0);
  }
  EXPECT_EQ(said_of({whole.substr(0, whole.size() - 1)}),
            (Said{"rank 0: ends within a message of 6 bytes: it is cut off (byte 21)"}));
}

std::string gzipped(const std::string& text) {
  constexpr int kGzip = 15 + 16;
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in = text;
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Longer than what is unpacked at once, with parts that are passed over; and two files of gzip behind each other.
TEST(Chakra, ALongGzippedFileIsRead) {
  std::string first = head();
  for (uint64_t id = 0; id < 4'000; ++id)
    first += compute(id, 2).name(std::string(100, 'n')).add(bytes_field(8, std::string(id % 100, 'i'))).str();
  first += compute(4'000, 2).add(bytes_field(8, std::string(200'000, 'i'))).str();
  const std::string second = compute(4'001, 2).needs({4'000}).str();
  const auto work = read({gzipped(first) + gzipped(second)});
  ASSERT_TRUE(work) << to_string(work.error()[0]);
  EXPECT_EQ((*work)->totals.computes, 4'002u);
  EXPECT_EQ((*work)->totals.compute_ns, 2'000u * 4'002);
  EXPECT_EQ(said_of({gzipped(first) + gzipped(second).substr(0, 12)}).size(), 1u);
}

// Rank by rank, packed or not, until one is missing.
TEST(Chakra, ATracesFilesAreFound) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "chakra_files";
  std::filesystem::create_directories(folder);
  for (const auto* const name : {"t.0.et", "t.1.et.gz", "t.3.et"}) std::ofstream(folder / name) << head();
  const std::string trace = (folder / "t").string();
  EXPECT_EQ(chakra_files(trace), (std::vector<std::string>{trace + ".0.et", trace + ".1.et.gz"}));
  const auto work = load_chakra(trace + "s", chakra_files(trace + "s"));
  ASSERT_FALSE(work);
  EXPECT_EQ(work.error()[0].message, "there is no " + trace + "s.0.et");
  std::filesystem::remove_all(folder);
}

// Offsets are those of what it holds.
TEST(Chakra, AGzippedFileIsRead) {
  const std::string whole = head() + compute(1, 1).str() + compute(2, 1).str();
  EXPECT_EQ(said_of({gzipped(whole)}), Said{});
  EXPECT_EQ(said_of({gzipped(whole.substr(0, whole.size() - 1))}),
            (Said{"rank 0: ends within a message of 6 bytes: it is cut off (byte 15)"}));
  const std::string cut = gzipped(whole).substr(0, gzipped(whole).size() - 9);
  ASSERT_EQ(said_of({cut}).size(), 1u);
  EXPECT_NE(said_of({cut})[0].find("cut off"), std::string::npos) << said_of({cut})[0];
}

TEST(Chakra, OtherVersionsAreRefused) {
  EXPECT_EQ(said_of({head("0.0.1")}),
            (Said{"rank 0: has the version '0.0.1'; known are 0.0.4, 1.0.0, 1.0.1, 1.0.2 (byte 0)"}));
  const std::string older = delimited(bytes_field(2, bytes_field(1, "schema") + bytes_field(29, "1.0.2-chakra.0.0.4")));
  EXPECT_EQ(said_of({older}), Said{});
  EXPECT_EQ(said_of({""}), (Said{"rank 0: is empty (byte 0)"}));
  EXPECT_EQ(said_of({"{\"schema\": \"1.0.2-chakra.0.0.4\", \"pid\": 1}"}).size(), 1u);
}

// Traces that ASTRA-sim ships, where they are: a collective a file, and a ring of sends and receives.
TEST(Chakra, AstraSimsTracesAreRead) {
  const Samples samples = samples_of("SOFTSPINE_ASTRA_SIM", "astra-sim", "ASTRA-sim's traces");
  if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
  for (const auto* const coll : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    for (const uint32_t ranks : {4U, 8U, 16U}) {
      const std::string name =
          (samples.folder / "workload" / coll / (std::to_string(ranks) + "npus_1MB") / coll).string();
      const std::vector<std::string> files = chakra_files(name);
      EXPECT_EQ(files.size(), ranks) << name;
      const auto work = load_chakra(name, files);
      ASSERT_TRUE(work) << to_string(work.error().front());
      const bool is_ring = std::string(coll) != "all_to_all";
      EXPECT_EQ((*work)->pairs.size(), is_ring ? ranks : ranks * (ranks - 1));
      const uint64_t input = 1U << 20U;
      const uint64_t of_rank = std::string(coll) == "all_reduce"   ? 2 * (ranks - 1) * input / ranks
                               : std::string(coll) == "all_gather" ? (ranks - 1) * input
                                                                   : (ranks - 1) * input / ranks;
      EXPECT_EQ((*work)->totals.sent_bytes, ranks * of_rank) << name;
    }
  }
  const std::string ring = (samples.folder / "custom_ring_allreduce_8npus_1MB" / "custom_allreduce").string();
  const auto work = load_chakra(ring, chakra_files(ring));
  ASSERT_TRUE(work) << to_string(work.error().front());
  EXPECT_EQ((*work)->totals.sends, 8u * 14);
  EXPECT_EQ((*work)->totals.sent_bytes, 8u * 14 * 131'072);
}

}  // namespace
}  // namespace softspine::control
